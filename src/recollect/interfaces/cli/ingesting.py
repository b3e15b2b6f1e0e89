"""Taking in what was said and written elsewhere: documents, conversations, exports, folders of notes."""

import os
import stat
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

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
MOST_BYTES = 1 << 30
"""Of one file, packed or not."""
MOST_ENTRIES = 200_000
MOST_PACKED = 64 << 20
MOST_RATIO = 100
"""From so many bytes on, a text that packs so much better than conversations do is none."""
_PIECE = 1 << 20
_NO_EXPORT = "No export packs like that: unpack it yourself, and give the conversations.json."
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
        return _one(_capped(sys.stdin.buffer, "standard input"), "standard input", author, kept)
    path = Path(source)
    if path.is_dir():
        return folder(path, author, untrusted=kept.untrusted)
    if not path.exists():
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
    import zlib

    if path.suffix.lower() != ".zip":
        return contents(path)
    try:
        with _ordinary(path) as file, zipfile.ZipFile(file) as packed:
            inside = [
                one for one in packed.infolist()[:MOST_ENTRIES] if Path(one.filename).name == "conversations.json"
            ]
            if not inside:
                raise Invalid(f"{path} holds no conversations.json", "Give an export of ChatGPT or Claude.")
            one = inside[0]
            if one.flag_bits & 1:
                raise Invalid(f"{path} is encrypted", "Unpack it with its password, and give the conversations.json.")
            if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack in one piece
                raise Invalid(f"{path} is packed in an unusual way", _NO_EXPORT)
            if one.file_size > MOST_PACKED and one.file_size > MOST_RATIO * max(1, one.compress_size):
                raise Invalid(f"{path} unpacks to {one.file_size:,} bytes out of {one.compress_size:,}", _NO_EXPORT)
            with packed.open(one) as opened:
                return _capped(opened, f"conversations.json in {path}")
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise Invalid(f"{path} is not a zip file, or damaged", "Download the export again.") from None
    except NotImplementedError as error:
        raise Invalid(f"{path} cannot be unpacked: {error}", "Unpack it, and give the conversations.json.") from None


def contents(path: Path, *, follow: bool = True) -> bytes:
    """What is in a file: an ordinary one, for a pipe or a device might never end."""
    with _ordinary(path, follow=follow) as file:
        return _capped(file, str(path))


@contextmanager
def _ordinary(path: Path, *, follow: bool = True) -> Generator[IO[bytes]]:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Invalid(f"{path} is not an ordinary file", "Give a file, a folder, or - for standard input.")
        yield file


def _capped(file: IO[bytes], name: str) -> bytes:
    """All of it, in pieces, as long as that is no more than memory should hold: a header may say less than there is."""
    pieces: list[bytes] = []
    left = MOST_BYTES
    while piece := file.read(min(_PIECE, left + 1)):
        left -= len(piece)
        if left < 0:
            raise Invalid(f"{name} is larger than {MOST_BYTES:,} bytes", "Split it, and take in the parts.")
        pieces.append(piece)
    return b"".join(pieces)


def folder(path: Path, author: str, *, untrusted: bool = False) -> "Reading":
    """The notes in a folder and below it, one thread each. What is hidden is passed over."""
    from recollect.write.formats import Reading, Skipped

    threads: list[Thread] = []
    skipped: list[Skipped] = []
    for file in _notes(path):
        name = file.relative_to(path).as_posix()
        if file.is_symlink():
            skipped.append(Skipped(name, "it is a link: name what it leads to, to take that in"))
            continue
        try:
            read = reading(contents(file, follow=False), name, author, untrusted)
        except Invalid as error:
            skipped.append(Skipped(name, error.what))
            continue
        except OSError as error:
            skipped.append(Skipped(name, f"it cannot be read: {error.strerror}"))
            continue
        threads += read.threads
        skipped += [replace(one, where=f"{name}: {one.where}") for one in read.skipped]
    if not threads:
        raise Invalid(f"there is nothing to take in under {path}", f"Looked for: {', '.join(ENDINGS)}.")
    return Reading(tuple(threads), tuple(skipped))


def _notes(path: Path) -> Iterator[Path]:
    """Files that look like notes, by their names. Links to folders are not gone into: they may lead out, or round."""
    for place, folders, files in os.walk(path, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = Path(place, name)
            if file.suffix.lower() in ENDINGS and not name.startswith(".") and (file.is_symlink() or file.is_file()):
                yield file


def is_foreign(source: str) -> bool:
    """Whether this is something other than an export of Recollect's own: for `import`."""
    path = Path(source)
    if source == "-" or not path.exists():
        return False
    if path.is_dir() or path.suffix.lower() in (".zip", ".md", ".markdown"):
        return True
    from recollect.write.formats import Format, detect

    if not path.is_file():
        return False  # a pipe: what comes out of it comes once
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
