"""Words of a query as SQLite's text index takes them."""

import threading
from functools import lru_cache
from typing import Any, cast

import apsw

from recollect.store.words import phrases

_TOKENIZER = ["unicode61", "remove_diacritics", "2"]


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


def phrases_of(word: str) -> list[str]:
    """What a word is looked for by; a phrase without a letter or a digit is left out."""
    return [phrase for phrase in phrases(word) if tokens(phrase)]
