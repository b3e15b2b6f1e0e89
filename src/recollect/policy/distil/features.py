"""Endpoints, functions and files that the code of a thread names: code is no prose, but what it is called is."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from recollect.domain.event import Event
from recollect.policy.distil import notation
from recollect.policy.distil.statement import Statement
from recollect.policy.secrets import redact
from recollect.policy.wording import fit

_FENCE = re.compile(r"```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_ROUTE = re.compile(
    r"""(?:@\w+\.(?:route|get|post|put|delete|patch)|\b(?:app|router)\.(?:get|post|put|delete|patch|use))\(\s*["'](/[\w/{}<>:.-]{1,60})["']"""
)
_SAID_ROUTE = re.compile(r"\b(?:GET|POST|PUT|DELETE|PATCH) (/[\w/{}<>:.-]{1,60})")
_DEFINED = re.compile(
    r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:def|function|class)\s+([A-Za-z_]\w{2,40})|"
    r"^\s*(?:export\s+)?const\s+([a-z]\w{2,40})\s*=\s*(?:async\s*)?\(",
    re.MULTILINE,
)
_LONGEST = 20_000
_MOST = 6


def features(events: Sequence[Event]) -> Iterator[Statement]:
    """The endpoints and the functions that code in the thread names most, one sentence each."""
    endpoints: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    first: dict[str, int] = {}
    for place, event in enumerate(events):
        text = event.text[:_LONGEST]
        if "```" not in text and "/" not in text:
            continue
        blocks = "\n".join(_FENCE.findall(text))
        routes = {*_ROUTE.findall(blocks), *_SAID_ROUTE.findall(text)}
        names = {name for pair in _DEFINED.findall(blocks) for name in pair if name}
        endpoints.update(routes)
        functions.update(names)
        for name in routes | names:
            first.setdefault(name, place)
    yield from _named("endpoints", endpoints, first)
    yield from _named("functions and classes", functions, first)


def _named(what: str, found: Counter[str], first: dict[str, int]) -> Iterator[Statement]:
    kept = [name for name, _ in sorted(found.items(), key=lambda pair: (-pair[1], first[pair[0]], pair[0]))[:_MOST]]
    if len(kept) < 2:
        return
    listed = ", ".join(f"`{name}`" for name in kept)
    text = fit(f"The code named the {what} {listed}")
    if text is None or redact(text).found:
        return
    places = tuple(sorted({first[name] for name in kept}))
    yield Statement(text=text, places=places, section=notation.FEATURES, speaker="", worth=3.0, why="named in code")
