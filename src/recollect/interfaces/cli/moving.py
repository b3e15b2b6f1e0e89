"""Whole tenants and whole stores: proved, taken out, brought in, copied and brought back."""

import json as jsons
import os
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from recollect.errors import Invalid, Refused
from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json
from recollect.interfaces.cli.paper import Column, say, styled
from recollect.store.unfinished import create, put_in_place, unfinished

if TYPE_CHECKING:
    from recollect.care.audit import Verified

commands = Commands()

_LONGEST = 256 << 20
"""No line of an export comes near it, however much one entry of the journal tells."""


@commands.command("verify")
def verify(
    call: Call,
    head: Annotated[
        Path | None, typer.Option("--head", metavar="FILE", help="Check against a head that was exported earlier.")
    ] = None,
    trust: Annotated[
        str | None, typer.Option("--trust", metavar="KEY", help="With --head: the public key of whoever signed it.")
    ] = None,
    export_head: Annotated[
        Path | None, typer.Option("--export-head", metavar="FILE", help="Write the signed head, to keep it elsewhere.")
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also compare what memory holds with what the journal accounts for.")
    ] = False,
    json: Json = False,
) -> None:
    """Check that the journal is whole.

    Nothing changed, nothing missing, and with an exported head also: nothing cut off at its end."""
    if trust is not None and head is None:
        raise typer.BadParameter("--trust goes with --head FILE")
    exported = _text(head) if head else None
    with call.memory() as memory:
        verified = memory.verify(exported, trust=trust, deep=deep)
        if verified.whole and export_head:
            with _fresh_file(export_head) as file:
                file.write(jsons.dumps(memory.signed_head(), indent=2).encode() + b"\n")
    _findings(verified, head, export_head, json, deep=deep)
    if not verified.whole:
        raise typer.Exit(1)


def _findings(verified: "Verified", checked: Path | None, export_head: Path | None, json: bool, *, deep: bool) -> None:
    head = verified.head
    if json:
        from recollect.interfaces.documents import verified_document

        paper.document(verified_document(verified))
        return
    if verified.whole:
        paper.done(f"the journal is whole: {verified.entries:,} entries, revision {head.rev}")
        if checked:
            paper.done(f"it still holds the head in {checked}")
        say(styled((f"head {head.hash}", "dim")), indent=2)
        if export_head:
            paper.done(f"wrote the signed head to {export_head}", "Keep it where the store's keeper cannot change it.")
        return
    from recollect.interfaces.documents import count

    subject = "memory or its journal" if deep else "the journal"
    found = count(len(verified.findings), "finding")
    paper.complain(f"{subject} is not whole: {found} in {count(verified.entries, 'entry')}")
    paper.table(
        [Column("entry", right=True), Column("what", fold=True, style="red")],
        [[str(finding.seq), finding.what] for finding in verified.findings],
    )
    if export_head:
        paper.complain("no head was written", "A head is exported of a journal that is whole.")


@commands.command("export")
def export(
    call: Call,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to; - is standard output.", show_default=False)
    ] = "-",
    state: Annotated[
        bool, typer.Option("--state", help="Only what memory holds now, in an order that can be compared.")
    ] = False,
    of: Annotated[
        str | None, typer.Option("--of", metavar="USER", help="Only what is kept for this user, with its history.")
    ] = None,
) -> None:
    """Write a whole tenant out as JSON lines.

    It can be imported again without loss, on either engine."""
    if state and of is not None:
        raise typer.BadParameter("choose one of --state and --of")
    with call.memory() as memory:
        lines = memory.export_user(of) if of is not None else memory.export_state() if state else memory.export()
        if file == "-":
            sys.stdout.flush()
            _write_lines(sys.stdout.buffer, lines)
            sys.stdout.buffer.flush()
            return
        with _fresh_file(Path(file)) as opened:
            count = _write_lines(opened, lines)
    paper.done(f"exported {count:,} lines to {file}")


def _write_lines(file: IO[bytes], lines: Iterable[str]) -> int:
    count = 0
    for line in lines:
        file.write(line.encode() + b"\n")
        count += 1
    return count


@commands.command("import")
def import_(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="An export; - is standard input.")],
    wait: Annotated[
        bool, typer.Option("--wait", help="Of somebody else's export: end when all of it has been read.")
    ] = False,
    json: Json = False,
) -> None:
    """Build a new tenant from an export, or take in somebody else's.

    For example: recollect import FILE --tenant NAME. What was erased since the export stays erased. An export of
    ChatGPT or Claude, or a folder of Markdown, is taken into the tenant that is there, as by recollect ingest."""
    from recollect.interfaces.cli import ingesting
    from recollect.wiring import incoming

    if ingesting.is_foreign(file):
        ingesting.foreign(call, file, json, wait=wait)
        return

    settings = call.settings
    with _source(file) as lines, incoming(settings) as memory:
        erased = memory.import_(lines)
        head = memory.head()
    if json:
        paper.document({"tenant": settings.tenant, "rev": head.rev, "entries": head.seq, "erased": erased})
        return
    again = f"; {erased:,} things were erased again" if erased else ""
    paper.done(f"imported tenant {settings.tenant}: {head.seq:,} entries, revision {head.rev}{again}")


@contextmanager
def _source(file: str) -> Generator[Iterator[str]]:
    if file == "-":
        yield _decoded(sys.stdin.buffer, "standard input")
    else:
        with open(file, "rb") as opened:
            yield _decoded(opened, file)


def _decoded(file: IO[bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(iter(lambda: file.readline(_LONGEST + 1), b""), 1):
        if len(line) > _LONGEST:
            raise Invalid(
                f"line {number} of {name} is longer than {_LONGEST >> 20} MiB", "This is not a Recollect export."
            )
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise Invalid(f"line {number} of {name} is not UTF-8", "This is not a Recollect export.") from None


@commands.command("backup")
def backup(
    call: Call,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to.")],
    json: Json = False,
) -> None:
    """Copy the whole store, with all its tenants, while it is in use."""
    from recollect.wiring import back_up

    _must_be_new(file)
    back_up(call.settings, file)
    size = file.stat().st_size
    if json:
        paper.document({"file": str(file.absolute()), "bytes": size})
        return
    paper.done(f"backed up to {file} ({size:,} bytes)", f"Bring it back: recollect restore {file}")


@commands.command("restore")
def restore(
    call: Call,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Where there is a store already: set it aside. Nothing is removed.")
    ] = False,
    json: Json = False,
) -> None:
    """Make a backup the store, after checking it.

    What was erased since the backup was made is erased again. A SQLite store that is there already is set aside and
    only with --replace; a PostgreSQL database must be empty."""
    from recollect import wiring

    settings = call.settings
    restored = wiring.restore(settings, file, replace=replace)
    found = restored.found
    if json:
        paper.document(
            {
                "store": wiring.place(settings),
                "tenants": list(found.tenants),
                "entries": found.entries,
                "erased": found.erased,
                "aside": str(restored.aside.absolute()) if restored.aside else None,
            }
        )
        return
    from recollect.interfaces.documents import count

    held = f"{count(len(found.tenants), 'tenant')}, {found.entries:,} entries, all whole"
    paper.done(f"restored {wiring.place(settings)}: {held}")
    if found.erased:
        say(f"{found.erased:,} things that were erased since were erased again.", indent=2)
    if restored.aside:
        say(f"The store that was there is now {restored.aside}", indent=2)


# -- files --------------------------------------------------------------------------------------------------


def _must_be_new(path: Path) -> None:
    if os.path.lexists(path):
        raise Refused(f"{path} is there already", "Name a new file; nothing is written over.")


@contextmanager
def _fresh_file(path: Path) -> Generator[IO[bytes]]:
    """A file that was not there, for its owner's eyes only. It gets its name when it is whole and on disk."""
    _must_be_new(path)
    with unfinished(path) as part:
        with os.fdopen(create(part), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        try:
            put_in_place(part, path)
        except FileExistsError:
            _must_be_new(path)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        raise Invalid(
            f"{path} is not an exported head", "Export one with: recollect verify --export-head FILE"
        ) from None
