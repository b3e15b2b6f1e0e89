"""Talk that a clean log can do without: greetings, thanks, nods, and what a tool prints while it works."""

import re

from recollect.domain.event import Event
from recollect.policy.speech.sentences import sentences, words

_MOST_WORDS = 12
"""A turn of more words says more than hello, however it begins."""
_PROGRESS = re.compile(
    r"""
      (?:\s*+\[)?[#=>.\-\s]{4,}+(?:\]\s*+)?\d{0,3}%?$ | \s*+\d{1,3}(?:\.\d++)?%
    | .*\b\d{1,3}%\s*+(?:\||(?:\[[^\]]{0,400}\])?$)
    | \s*+(?:downloading|fetching|resolving|extracting|unpacking|collecting|installing|compiling|building|linking|
      loading|waiting|pulling|pushing|receiving|counting|compressing|writing|uploading|progress)\b
      [^.!?]*+(?:\.{2,}+|(?<=…))$
    | \s*+(?:remote|npm)\b.*\b\d+%
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Of a line without blanks at its end."""
_BLANKS = re.compile(r"\n(?:[^\S\n]*+\n){2,}+")
_TOOLS = ("tool", "function")
_SMALL = frozenset(
    """hi hello hey hiya morning evening night good bye goodbye see you soon later thanks thank thx cheers ta welcome
    you're great perfect nice cool awesome super wonderful lovely ok okay k sure fine yes yep yeah yup no nope got it
    i will do noted understood roger lol haha hahaha ha oh ah wow hm hmm so much very a lot again please sorry no
    problem worries anytime pleasure of course all my the one moment sec back brb there cu xx x and""".split()
)
"""Words that a turn which says nothing is made of."""


def is_noise(event: Event, before: Event | None) -> bool:
    """Whether a turn says nothing. A bare "yes" does where it answers a question."""
    said = sentences(event.text)
    if not said:
        return not any(sign.isalnum() for sign in event.text)
    spoken = [word for sentence in said for word in words(sentence.text)]
    if len(spoken) > _MOST_WORDS or any(sign.isdigit() for sign in event.text):
        return False
    if before is not None and "?" in before.text[-300:] and before.author != event.author:
        return False
    return all(word in _SMALL for word in spoken)


def tidied(event: Event) -> str:
    """The text of a turn without blanks at the ends of lines, empty lines in a row, and lines said again right away,
    which are counted. What a tool prints while it works is left out."""
    lines = [line.rstrip() for line in event.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    if event.role in _TOOLS:
        lines = [line for line in lines if not line or not _PROGRESS.match(line)]
    kept: list[str] = []
    times = 1
    for line in lines:
        if kept and line and line == kept[-1]:
            times += 1
            continue
        if times > 1:
            kept[-1:] = _counted(kept[-1:], times)
            times = 1
        kept.append(line)
    kept[-1:] = _counted(kept[-1:], times)
    return _BLANKS.sub("\n\n", "\n".join(kept)).strip()


def _counted(line: list[str], times: int) -> list[str]:
    """A line that stands so many times, with their number where that is shorter than to say it again."""
    marked = [f"{one} (×{times})" for one in line]  # noqa: RUF001
    return marked if times > 1 and sum(map(len, marked)) < times * sum(map(len, line)) + times - 1 else line * times
