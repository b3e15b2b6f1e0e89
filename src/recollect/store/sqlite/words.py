"""Words of a query as SQLite's text index takes them, and how common they are there."""

import threading
from functools import lru_cache
from typing import Any, cast

import apsw

from recollect.store.rarity import Phrase
from recollect.store.tx import Tx
from recollect.store.words import phrases

_COMMON = 2_000
_REMEMBERED = 50_000
_DRIFT = 1.25
_TOKENIZER = ["unicode61", "remove_diacritics", "2"]


class Vocabulary:
    """How many texts hold a word, for all tenants of a file.

    The index has to walk through all places of a word to count them. What was counted is remembered until there are
    more or fewer texts; of a common word, until there are a quarter more or fewer.
    """

    def __init__(self) -> None:
        self._counted: dict[str, tuple[int, int]] = {}
        self._guard = threading.Lock()

    def frequency(self, tx: Tx, token: str, documents: int) -> int:
        known = self._counted.get(token)
        if known:
            drift = _DRIFT if known[0] >= _COMMON else 1
            if known[1] <= documents * drift and documents <= known[1] * drift:
                return known[0]
        row = tx.one("select doc from vocabulary where term = :term and :tenant is not null", term=token)
        found = int(row[0]) if row else 0
        with self._guard:
            if len(self._counted) >= _REMEMBERED:
                self._counted.clear()
            self._counted[token] = (found, documents)
        return found

    def phrases(self, tx: Tx, word: str, documents: int) -> list[Phrase]:
        """What a word is looked for by; a phrase without a letter or a digit is left out."""
        found: list[Phrase] = []
        for phrase in phrases(word):
            if parts := tokens(phrase):
                found.append(Phrase(phrase, min(self.frequency(tx, part, documents) for part in parts)))
        return found


class _Tokenizer:
    """The tokenizer of the text index, made once."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._memory = apsw.Connection(":memory:")
        self._tokenizer = self._memory.fts5_tokenizer("porter", _TOKENIZER)

    def __call__(self, text: str) -> tuple[str, ...]:
        with self._guard:
            found = self._tokenizer(
                text.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
            )
        return tuple(cast(Any, found))


@lru_cache(maxsize=1)
def _tokenizer() -> _Tokenizer:
    return _Tokenizer()


def all_tokens(text: str) -> tuple[str, ...]:
    """The same of a text that is read once, and may be long."""
    return _tokenizer()(text)


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[str, ...]:
    """The words that the text index makes of a text."""
    return _tokenizer()(text)
