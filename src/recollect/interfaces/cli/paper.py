"""What the command line writes: colour and columns on a terminal, plain and uncut lines in a pipe."""

import io
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

_MOST = 280  # characters of a cell on a terminal: as long as a fact should be

# rich is imported where it is used: help and completion do without it
if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    Words = str | Text

# Memories are other people's words: what would steer a terminal, or turn its text around, is shown and not obeyed.
_UNSEEN = r"\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff"
_STEERING = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_UNSEEN}]")
_STEERING_IN_JSON = re.compile(rf"[\x7f-\x9f{_UNSEEN}]")  # JSON itself spells out the others


@cache
def _out() -> "Console":
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


@cache
def _err() -> "Console":
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, stderr=True)


def prepare() -> None:
    """A character that the terminal's encoding lacks becomes a question mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def clean(text: str) -> str:
    """The text with every control character made visible."""
    return _STEERING.sub(_spelt, text.replace("\r\n", "\n"))


def _spelt(found: re.Match[str]) -> str:
    """A character as JSON spells it."""
    return json.dumps(found[0])[1:-1]


def continued(text: str) -> str:
    """The text with every further line behind a bar: none of them passes for a line of ours."""
    return clean(text).replace("\n", "\n│ ")


def line(text: str) -> str:
    """The text on one line."""
    return " ".join(clean(text).split())


def styled(*parts: str | tuple[str, str]) -> "Text":
    """Parts of a line, each plain or with its style."""
    from rich.text import Text

    return Text.assemble(*parts)


def say(words: "Words" = "", indent: int = 0) -> None:
    """A line or a paragraph. A terminal wraps it under its own indentation, a pipe gets it as it is."""
    text = styled(words) if isinstance(words, str) else words
    if not _out().is_terminal:
        for part in text.plain.split("\n"):
            write(" " * indent + part if part else "")
    elif indent:
        from rich.padding import Padding

        _out().print(Padding(text, (0, 0, 0, indent), expand=False))
    else:
        _out().print(text)


def box(title: "Text", body: "Text") -> None:
    """A text set apart, under its title."""
    if not _out().is_terminal:
        say(title)
        for part in body.split("\n", allow_blank=True):
            say(styled("│ ") + part, indent=2)
        return
    from rich import box as boxes
    from rich.panel import Panel

    _out().print(Panel(body, title=title, title_align="left", box=boxes.ROUNDED, border_style="cyan", padding=(0, 1)))


def quote(text: str, indent: int = 0) -> None:
    """Somebody's own words, line by line behind a bar."""
    whole = styled((clean(text), "italic"))
    lines = whole.wrap(_out(), _out().width - indent - 2) if _out().is_terminal else whole.split("\n", allow_blank=True)
    for one in lines:
        one.rstrip()
        say(styled((" " * indent + "│ ", "magenta")) + one)


def done(words: "Words", then: str = "") -> None:
    """Something was done, and what could come next."""
    text = styled(words) if isinstance(words, str) else words
    say(styled(("✓ ", "green")) + text)
    if then:
        say(styled((then, "dim")), indent=2)


def complain(what: str, help: str = "") -> None:
    """Something was refused: what, and what would help."""
    sys.stdout.flush()
    wrap = _err().is_terminal
    _err().print(styled(("✗ ", "bold red"), (clean(what), "red")), soft_wrap=not wrap)
    if help:
        _err().print(styled((f"  {clean(help)}", "red")), soft_wrap=not wrap)


@dataclass(frozen=True, slots=True)
class Column:
    """`fold`: on a terminal that is too narrow, this column wraps; of a very long text it shows the beginning."""

    title: str
    style: str = ""
    right: bool = False
    fold: bool = False


def table(columns: Sequence[Column], rows: "Iterable[Sequence[Words]]") -> None:
    """Rows under their titles."""
    if not _out().is_terminal:
        _plain_table(columns, [[cell if isinstance(cell, str) else cell.plain for cell in row] for row in rows])
        return
    from rich.table import Table

    cells = [[styled(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    for cell in (cell for row in cells for cell in row):
        cell.truncate(_MOST, overflow="ellipsis")
    widths = _widths(columns, [[cell.cell_len for cell in row] for row in cells], _out().width)
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column, width in zip(columns, widths, strict=True):
        drawn.add_column(
            column.title,
            style=column.style,
            width=width,
            justify="right" if column.right else "left",
            no_wrap=not column.fold,
            overflow="fold",
        )
    for row in cells:
        drawn.add_row(*row)
    _out().print(drawn)


def _widths(columns: Sequence[Column], cells: Sequence[Sequence[int]], total: int) -> list[int]:
    """Each column as wide as it needs; those that give way share what is left."""
    wanted = [max([len(column.title), *(row[n] for row in cells)]) for n, column in enumerate(columns)]
    giving = [n for n, column in enumerate(columns) if column.fold]
    left = total - 2 * (len(columns) - 1) - sum(width for n, width in enumerate(wanted) if n not in giving)
    for place, n in enumerate(sorted(giving, key=lambda n: wanted[n])):
        wanted[n] = max(8, min(wanted[n], left // (len(giving) - place)))
        left -= wanted[n]
    return wanted


def _plain_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.cells import cell_len

    every = [[column.title for column in columns], *rows]
    widths = [max(cell_len(row[n]) for row in every) for n in range(len(columns))]
    for row in every:
        padded = [
            " " * (width - cell_len(cell)) + cell if column.right else cell + " " * (width - cell_len(cell))
            for column, width, cell in zip(columns, widths, row, strict=True)
        ]
        write("  ".join(padded).rstrip())


def document(value: object) -> None:
    """One JSON document. Control characters are spelt as JSON escapes: it reads back the same."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    write(_STEERING_IN_JSON.sub(_spelt, text))


def write(text: str) -> None:
    """A line for programs: UTF-8, whatever the terminal speaks."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(errors="replace") + b"\n")


def flush() -> None:
    """What was said is out, although the program goes on."""
    sys.stdout.flush()
    sys.stdout.buffer.flush()


def ask(question: str) -> bool:
    """A person's yes. Anything else, and nobody being there, is a no."""
    sys.stdout.flush()
    _err().print(f"{question} [y/N] ", end="", soft_wrap=True)
    answer = sys.stdin.readline().strip()
    if not sys.stdin.isatty():
        _err().print(clean(answer))  # a terminal shows what is typed; an answer out of a pipe would not be seen
    return answer.lower() in ("y", "yes")
