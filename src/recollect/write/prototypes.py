"""What the categories look like to an embedder: a few sentences of each, embedded once, when first needed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from recollect.ports import Embedder

SENTENCES: Mapping[str, tuple[str, ...]] = {
    "profile": (
        "Nora is a nurse and lives in Ghent.",
        "Pavel was born in Brno and speaks Czech and Polish.",
        "Amara is allergic to shellfish.",
        "Kenji has a grey cat called Mochi.",
        "Ruth's phone number has changed.",
    ),
    "preferences": (
        "Nora prefers tea to coffee.",
        "Pavel wants answers without bullet points.",
        "Amara does not like early meetings.",
        "Kenji always takes the window seat.",
        "Ruth wants distances in kilometres.",
    ),
    "goals": (
        "Nora wants to run a marathon next year.",
        "Pavel hopes to open a bakery.",
        "Amara is learning Portuguese to work in Lisbon.",
        "Kenji plans to finish the thesis by summer.",
    ),
    "tasks": (
        "Nora has to renew the insurance by Friday.",
        "Pavel wants a reminder to call the plumber.",
        "Amara still has to send the invoice.",
        "The report is due on Monday.",
    ),
    "event": (
        "Nora's sister marries on June 3, 2024.",
        "The conference takes place in Vienna in October.",
        "Pavel had an operation last spring.",
        "Version 3 was released on May 5, 2025.",
        "Amara moves to a new flat in March.",
    ),
    "activity": (
        "Kenji went climbing with friends.",
        "Ruth plays the piano every evening.",
        "Nora swims twice a week.",
        "Pavel is in a choir.",
    ),
    "relationships": (
        "Nora's brother Lukas lives in Oslo.",
        "Pavel's boss is called Irene.",
        "Amara's daughter is five years old.",
        "Kenji and Ruth are neighbours.",
    ),
    "projects": (
        "The team decided to use Go for the gateway.",
        "Amara owns the billing service.",
        "Support for the old API is dropped in release 5.",
        "The product is renamed in spring.",
        "Pavel leads the redesign.",
    ),
    "knowledge": (
        "The database listens on port 6432.",
        "The API returns 429 when the quota is used up.",
        "The build fails on Windows because of long paths.",
        "The biggest customer is on the yearly plan.",
        "The backup runs at three in the morning.",
    ),
    "procedural": (
        "Always run the linter before pushing.",
        "To reset the environment, stop the workers, drop the schema and seed it again.",
        "Migrations must be reviewed by two people.",
        "Never commit directly to the main branch.",
        "Errors are logged in JSON and never contain personal data.",
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Prototypes:
    """The sentences of every category as vectors of one embedder."""

    names: tuple[str, ...]
    vectors: Any

    @staticmethod
    def of(embedder: Embedder) -> "Prototypes":
        """Made once for each embedder."""
        found = _MADE.get(embedder)
        if found is None:
            names = tuple(name for name, said in SENTENCES.items() for _ in said)
            texts = [sentence for said in SENTENCES.values() for sentence in said]
            found = _MADE[embedder] = Prototypes(names, matrix(embedder.embed(texts)))
        return found

    def near(self, vectors: Any) -> list[dict[str, float]]:
        """How near each vector is to each category: the mean of the two best cosines."""
        found: list[dict[str, float]] = []
        for row in vectors @ self.vectors.T:
            cosines: dict[str, list[float]] = {}
            for name, cosine in zip(self.names, row.tolist(), strict=True):
                cosines.setdefault(name, []).append(cosine)
            found.append({name: sum(sorted(some)[-2:]) / 2 for name, some in cosines.items()})
        return found


def matrix(vectors: Sequence[bytes]) -> Any:
    """The vectors as the rows of an array."""
    import numpy

    return numpy.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)


_MADE: "WeakKeyDictionary[Embedder, Prototypes]" = WeakKeyDictionary()
