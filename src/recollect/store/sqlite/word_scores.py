"""What the words of a question say of each text. How rare a word is, and how long texts are, is counted among the texts
that the asker may see: what others wrote moves no score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recollect.domain.item import ANY_STATE
from recollect.domain.query import Filters
from recollect.domain.scope import Sight
from recollect.store.rarity import Phrase, rarest, weight
from recollect.store.sqlite.resident.catalog import Catalog, Withheld
from recollect.store.sqlite.resident.columns import Mask
from recollect.store.sqlite.resident.following import Follower, place
from recollect.store.sqlite.words import phrases_of
from recollect.store.tx import Key, Sought, Tx

_EVERYTHING = Filters(states=ANY_STATE)


@dataclass(frozen=True, slots=True)
class Visible:
    """The texts that an asker may read: which of the catalog they are (None: all), how many, and how long on
    average."""

    masks: Mapping[Sought, Mask | None]
    documents: int
    lengths: Mapping[Sought, float]


def visible(
    catalog: Catalog, sight: Sight, withheld: Mapping[Sought, Withheld], shown: Mapping[Sought, Mask] | None
) -> Visible:
    masks = {
        sought: catalog.passing(sought, _EVERYTHING, sight, withheld[sought], shown[sought] if shown else None)
        for sought in Sought
    }
    octets = {
        sought: catalog.docs[sought]["octets"] if mask is None else catalog.docs[sought]["octets"][mask]
        for sought, mask in masks.items()
    }
    return Visible(
        masks,
        sum(len(one) for one in octets.values()),
        {sought: max(1.0, float(one.mean())) if len(one) else 1.0 for sought, one in octets.items()},
    )


@dataclass(slots=True)
class WordScores:
    """The words of one question, while the follower is held."""

    tx: Tx
    follower: Follower
    visible: Visible
    words: Sequence[str]
    shared: bool
    """Whether the file has other tenants, too."""
    frequency: Mapping[str, int] = field(init=False)
    """In how many texts that the asker may see each word is."""
    _kept: Sequence[Phrase] = field(init=False)
    _known: dict[tuple[Sought, str], NDArray[np.int64]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        asked = {word: [self._counted(phrase) for phrase in phrases_of(word)] for word in self.words}
        self.frequency = {word: min((p.frequency for p in found), default=0) for word, found in asked.items()}
        self._kept = rarest([phrase for found in asked.values() for phrase in found], self.visible.documents)

    def _counted(self, phrase: str) -> Phrase:
        held = 0
        for sought, mask in self.visible.masks.items():
            places = self._places(sought, phrase)
            held += len(places) if mask is None else int(mask[places].sum())
        return Phrase(phrase, held)

    def _places(self, sought: Sought, phrase: str) -> NDArray[np.int64]:
        """Where in the catalog the texts of one kind are that hold the phrase."""
        if (sought, phrase) in self._known:
            return self._known[sought, phrase]
        rows = self.follower.postings.rows(self.tx, phrase, shared=self.shared, keep=not self.follower.ahead)
        rids = rows[rows % 2 == place(sought, 0)] // 2
        places = self.follower.catalog.places_of(sought, rids)
        self._known[sought, phrase] = places[places >= 0]
        return self._known[sought, phrase]

    def best(
        self, sought: Sought, passing: Mask | None, depth: int, near: Sequence[Key]
    ) -> tuple[dict[Key, float], bool]:
        """The scores of the best texts that pass, by their row, then of those of the near ones that hold a word; and
        whether there are more."""
        docs = self.follower.catalog.docs[sought]
        scores = np.zeros(docs.size)
        for phrase in self._kept:
            scores[self._places(sought, phrase.text)] += weight(phrase.frequency, self.visible.documents)
        held = np.flatnonzero(scores if passing is None else scores * passing)
        share = docs["octets"][held] / self.visible.lengths[sought]
        adapted = scores[held] / np.sqrt(0.35 + 0.65 * share)
        order = np.lexsort((held, -adapted))
        chosen = order[:depth]
        if near:
            close = self.follower.catalog.places_of(sought, np.array(near, np.int64))
            also = np.flatnonzero(np.isin(held, close))
            chosen = np.concatenate([chosen, also])
        found = dict(zip(docs["rid"][held[chosen]].tolist(), adapted[chosen].tolist(), strict=True))
        return found, len(order) > depth
