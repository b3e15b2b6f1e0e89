"""The text of an R3: a title, sections and bullets with their witnesses, that can be read back.

    # Moving the login to sessions
    ## Decisions
    - Mira decided to use sessions because the tokens were too large. [s:4-5]

What goes on over several lines is indented by two blanks, so nothing in a sentence is taken for a heading.
"""

import re
from collections.abc import Iterable, Sequence

from recollect.domain.ids import ItemId
from recollect.domain.witness import Bullet, noted, read

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ONE = rf"(?:e:{_UUID}|s:\d{{1,9}}-\d{{1,9}}|c:{_UUID}\.\d{{1,6}})"
_BULLET = re.compile(rf"- (.*) \[({_ONE}(?:,{_ONE})*)\]", re.DOTALL)

DECISIONS, FACTS, FEATURES, DONE, OPEN = "Decisions", "Facts", "Endpoints and features", "Done", "Open questions"
SECTIONS = (DECISIONS, FACTS, FEATURES, DONE, OPEN)
"""The parts of an episode's summary, in their order."""


def write(title: str, bullets: Iterable[Bullet], *, served: bool = False) -> str:
    """The title and the bullets as text; as it is served, quotations stand in their frames. Bullets of one section that
    follow each other share its heading."""
    lines = [f"# {_indented(title)}"] if title else []
    section = ""
    for bullet in bullets:
        if bullet.section != section:
            section = bullet.section
            lines.append(f"## {_indented(section)}" if section else "##")
        lines.append(f"- {_indented(noted(bullet.served if served else bullet.text, bullet.witnesses))}")
    return "\n".join(lines)


def parse(text: str, episode_id: ItemId) -> tuple[str, tuple[Bullet, ...]]:
    """The title and the bullets of a text that `write` wrote, but for the reasons of the witnesses, which are stored
    beside it. What is neither a heading nor a bullet with witnesses is passed over."""
    title, section = "", ""
    bullets: list[Bullet] = []
    for number, line in enumerate(_lines(text)):
        if number == 0 and line.startswith("# "):
            title = line[2:]
        elif line == "##" or line.startswith("## "):
            section = line[3:]
        elif found := _BULLET.fullmatch(line):
            bullets.append(Bullet(found[1], read(found[2], episode_id), section))
    return title, tuple(bullets)


def served(content: str, bullets: Sequence[Bullet]) -> str:
    """The words of a version as they are shown: its quotations in their frames."""
    if not any(bullet.quotation for bullet in bullets):
        return content
    if content == " ".join(bullet.text for bullet in bullets):
        return " ".join(bullet.served for bullet in bullets)
    head = _lines(content)[0]
    return write(head[2:] if head.startswith("# ") else "", bullets, served=True)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _lines(text: str) -> list[str]:
    """The lines of a text, each with those that go on from it."""
    found: list[str] = []
    for line in text.split("\n"):
        if found and line.startswith("  "):
            found[-1] += f"\n{line[2:]}"
        else:
            found.append(line)
    return found
