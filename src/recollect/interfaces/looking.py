"""One question where a person or an agent wants to know, whatever form the answer was kept in."""

from dataclasses import replace
from typing import Protocol

from recollect.domain.query import Answer, Query, Source


class Asked(Protocol):
    """Whoever answers questions: Memory, or a Client of the server."""

    def query(self, query: Query, /) -> Answer: ...


def look(memory: Asked, query: Query) -> Answer:
    """What memory knows; where no memory was made of it, the evidence itself. The header comes with either."""
    answer = memory.query(replace(query, source=Source.MEMORY))
    if answer.results:
        return answer
    said = memory.query(replace(query, source=Source.EVIDENCE))
    return replace(said, header=answer.header or said.header)
