"""How long the property tests look. A plain run tries the same examples every time, so that its verdict is about the
checkout and not about luck; `make hunt` tries new ones, twenty times as many, and is where new failures come from."""

import os

TIMES = int(os.environ.get("RECOLLECT_HUNT", "0"))


LONG = TIMES > 0
"""Whether what differs little from what is tried anyway is tried, too: more seeds, more roles on the slower engine."""


def examples(count: int) -> int:
    return count * max(TIMES, 1)
