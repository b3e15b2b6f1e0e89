"""One question where a person or an agent wants to know, whatever form the answer was kept in."""

from dataclasses import replace
from typing import Protocol

from recollect.domain.query import Answer, Query, Source

NOISE = 0.3
"""An event that fits this much worse than the best one is not shown beside it."""


class Asked(Protocol):
    """Whoever answers questions: Memory, or a Client of the server."""

    def query(self, query: Query, /) -> Answer: ...


def look(memory: Asked, query: Query) -> Answer:
    """What memory knows; where no memory was made of it, the evidence itself. The header comes with either."""
    answer = memory.query(replace(query, source=Source.MEMORY))
    if answer.results:
        return answer
    said = memory.query(replace(query, source=Source.EVIDENCE))
    best = max((result.score for result in said.results), default=0.0)
    near = [number for number, result in enumerate(said.results) if result.score >= NOISE * best]
    return replace(
        said,
        header=answer.header or said.header,
        results=tuple(said.results[number] for number in near),
        explain=tuple(said.explain[number] for number in near) if said.explain else (),
    )
