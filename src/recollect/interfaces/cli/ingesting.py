"""Taking in what was said and written elsewhere: documents, conversations, exports, folders of notes."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.domain.item import Visibility
from recollect.errors import Invalid, NotFound, checked
from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json
from recollect.interfaces.cli.following import bar, follow
from recollect.interfaces.cli.paper import line, say, styled

if TYPE_CHECKING:
    from recollect.domain.job import Pending
    from recollect.write.formats import Reading, Thread
    from recollect.write.message import Bulk

commands = Commands()

Wait = Annotated[
    bool, typer.Option("--wait", help="End when all of it has been read, also where the server does that.")
]
ENDINGS = (".md", ".markdown", ".txt")
_TOLD = 5  # of what was left out, so many are told of


@dataclass(frozen=True, slots=True)
class Kept:
    """Where it goes, and how far it is believed."""

    project: str | None = None
    of: str | None = None
    visibility: Visibility | None = None
    untrusted: bool = False


@commands.command("ingest")
def ingest(
    call: Call,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file, a folder, or - for standard input.")],
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="NAME", help="The thread it belongs to; else the file's name.")
    ] = None,
    speaker: Annotated[
        str | None,
        typer.Option("--speaker", metavar="ROLE", help="Who speaks in a text: user, assistant, tool; else document."),
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="Share it with this project.")
    ] = None,
    of: Annotated[
        str | None, typer.Option("--of", metavar="USER", help="Keep it for this user; for yourself by default.")
    ] = None,
    visibility: Annotated[Visibility | None, typer.Option("--visibility", help="Who may see it.")] = None,
    untrusted: Annotated[
        bool, typer.Option("--untrusted", help="Keep it as evidence and believe nothing of it.")
    ] = False,
    wait: Wait = False,
    json: Json = False,
) -> None:
    """Take in documents and conversations, and make memories of them.

    A text, a note, a folder of notes, one message a line (JSONL), or an export of ChatGPT or Claude, zipped or not."""
    kept = Kept(project, of, visibility, untrusted)
    read = _read(call, source, kept)
    threads = [_said_by(one, speaker) for one in read.threads] if speaker else list(read.threads)
    if thread is not None:
        if len(threads) > 1:
            raise Invalid(f"{source} holds {len(threads)} threads", "Leave --thread out: each has a name of its own.")
        threads = [replace(one, id=thread) for one in threads]
    take_in(call, replace(read, threads=tuple(threads)), kept, json, wait=wait)


def _said_by(thread: "Thread", role: str) -> "Thread":
    return replace(thread, messages=tuple(replace(message, role=role) for message in thread.messages))


def take_in(call: Call, read: "Reading", kept: Kept, json: bool, *, wait: bool = False) -> None:
    """All of it into memory, and then what follows from it. What jobs have still to read is told of, also where that
    ends here: what is durable is not yet what is remembered."""
    left = sum(len(one.messages) for one in read.threads)
    with call.memory() as memory, bar("messages taken in", left) as show:

        def taken(count: int) -> None:
            nonlocal left
            left -= count
            show(left, 0)

        done = memory.bulk(
            read.threads, visibility=kept.visibility, user_id=kept.of, project_id=kept.project, progress=taken
        )
    pending, left_to_server = follow(call, lambda memory: memory.pending(), "messages read", wait=wait)
    if json:
        _document(done, read, pending)
    else:
        _tell(done, read, pending, left_to_server=left_to_server)
    if wait and (pending.parked or not pending.settled):
        raise typer.Exit(1)


def _document(done: "Bulk", read: "Reading", left: "Pending") -> None:
    from recollect.interfaces.documents import pending_document

    paper.document(
        {
            "threads": done.threads,
            "messages": done.messages,
            "repeats": done.repeats,
            "redacted": list(done.redacted),
            "skipped": [{"where": one.where, "why": one.why} for one in read.skipped],
            "rev": done.rev,
            "pending": pending_document(left),
        }
    )


def _tell(done: "Bulk", read: "Reading", left: "Pending", *, left_to_server: bool) -> None:
    from recollect.interfaces.documents import count

    known = f", {done.repeats:,} of them known already" if done.repeats else ""
    paper.done(f"took in {count(done.messages, 'message')} of {count(done.threads, 'thread')}{known}")
    if done.redacted:
        say(styled((f"Taken out before anything was written: {', '.join(done.redacted)}", "yellow")), indent=2)
    for one in read.skipped[:_TOLD]:
        say(styled((f"Left out: {line(one.where)}: {line(one.why)}", "yellow")), indent=2)
    if len(read.skipped) > _TOLD:
        say(styled((f"Left out: {len(read.skipped) - _TOLD} more", "yellow")), indent=2)
    if left_to_server:
        say(styled(("The server makes memories of it.", "dim")), indent=2)
    if left.messages:
        say(styled((f"Still to be read: {count(left.messages, 'message')}", "yellow")), indent=2)
    if left.parked:
        say(styled((f"Not read, since their job failed: {count(left.parked, 'message')}", "yellow")), indent=2)
    if left.why and not left_to_server:
        say(styled((f"The last failure: {line(left.why)}", "yellow")), indent=2)
    if left.messages or left.parked:
        say(styled(("How far it is: recollect jobs", "dim")), indent=2)


# -- reading ------------------------------------------------------------------------------------------------


def _read(call: Call, source: str, kept: Kept) -> "Reading":
    author = kept.of or call.settings.user
    if source == "-":
        return _one(sys.stdin.buffer.read(), "standard input", author, kept)
    path = Path(source)
    if path.is_dir():
        return folder(path, author, untrusted=kept.untrusted)
    if not path.is_file():
        raise NotFound(f"there is no file {source}", "Check the name.")
    return _one(unzipped(path), path.name, author, kept)


def _one(data: bytes, name: str, author: str, kept: Kept) -> "Reading":
    return reading(data, "conversations.json" if name.lower().endswith(".zip") else name, author, kept.untrusted)


def reading(data: bytes, name: str, author: str, untrusted: bool = False) -> "Reading":
    """A file's threads, its format found out."""
    from recollect.domain.event import Trust
    from recollect.write import formats

    trust = Trust.UNTRUSTED if untrusted else Trust.TRUSTED
    try:
        with checked():
            return formats.read(data, name, author=author, trust=trust)
    except Invalid as error:
        raise Invalid(f"{name} cannot be taken in: {error.what}", error.help) from None


def unzipped(path: Path) -> bytes:
    """A file, or the conversations out of an export that is still packed."""
    import zipfile

    if path.suffix.lower() != ".zip":
        return path.read_bytes()
    try:
        with zipfile.ZipFile(path) as packed:
            inside = [name for name in packed.namelist() if Path(name).name == "conversations.json"]
            if not inside:
                raise Invalid(f"{path} holds no conversations.json", "Give an export of ChatGPT or Claude.")
            return packed.read(inside[0])
    except zipfile.BadZipFile:
        raise Invalid(f"{path} is not a zip file", "Download the export again.") from None


def folder(path: Path, author: str, *, untrusted: bool = False) -> "Reading":
    """The notes in a folder and below it, one thread each. What is hidden is passed over."""
    from recollect.write.formats import Reading, Skipped

    threads: list[Thread] = []
    skipped: list[Skipped] = []
    for file in _notes(path):
        name = file.relative_to(path).as_posix()
        try:
            read = reading(file.read_bytes(), name, author, untrusted)
        except Invalid as error:
            skipped.append(Skipped(name, error.what))
            continue
        threads += read.threads
        skipped += [replace(one, where=f"{name}: {one.where}") for one in read.skipped]
    if not threads:
        raise Invalid(f"there is nothing to take in under {path}", f"Looked for: {', '.join(ENDINGS)}.")
    return Reading(tuple(threads), tuple(skipped))


def _notes(path: Path) -> Iterator[Path]:
    for file in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        if file.suffix.lower() in ENDINGS and file.is_file() and not hidden:
            yield file


def is_foreign(source: str) -> bool:
    """Whether this is something other than an export of Recollect's own: for `import`."""
    path = Path(source)
    if source == "-" or not path.exists():
        return False
    if path.is_dir() or path.suffix.lower() in (".zip", ".md", ".markdown"):
        return True
    from recollect.write.formats import Format, detect

    with path.open("rb") as file:
        sample = file.read(1_000_000)
    try:
        return detect(sample, path.name) in (Format.CHATGPT, Format.CLAUDE)
    except ValueError:
        return False


def foreign(call: Call, source: str, json: bool, *, wait: bool = False) -> None:
    """`import` of somebody else's export: into the tenant that is there."""
    kept = Kept()
    take_in(call, _read(call, source, kept), kept, json, wait=wait)
