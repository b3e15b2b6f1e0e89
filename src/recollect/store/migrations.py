"""Numbered migrations: plain SQL files beside each engine, each one transaction."""

from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    statements: tuple[str, ...]


def migrations(package: str) -> list[Migration]:
    """The migrations of an engine in order. Statements end with a semicolon at the end of a line; a function body
    in dollar quotes is one statement."""
    found: list[Migration] = []
    for file in sorted(files(package).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            found.append(Migration(int(number), name, tuple(_statements(file.read_text("utf-8")))))
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise AssertionError(f"the migrations of {package} are not numbered 1, 2, 3 …")
    return found


def _statements(text: str) -> list[str]:
    found: list[str] = []
    current: list[str] = []
    quoted = False
    for line in text.splitlines():
        if not quoted and (not line.strip() or line.lstrip().startswith("--")):
            continue
        current.append(line)
        quoted ^= line.count("$$") % 2 == 1
        if line.rstrip().endswith(";") and not quoted:
            found.append("\n".join(current).rstrip().rstrip(";"))
            current = []
    if current:
        raise AssertionError(f"a migration ends within a statement: {current[0]}")
    return found
