"""Vectors of texts, remembered for a while: what extraction weighs is committed a moment later, and is embedded
once."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from weakref import WeakKeyDictionary

from recollect.ports import Embedder

_MOST = 1_024
"""Texts whose vectors are remembered for each embedder."""
_LOCK = Lock()
_KNOWN: "WeakKeyDictionary[Embedder, OrderedDict[str, bytes]]" = WeakKeyDictionary()


def embedded(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """One vector per text, as the embedder gives them; those of texts seen lately are not made again."""
    with _LOCK:
        known = _KNOWN.setdefault(embedder, OrderedDict())
        found = {text: known[text] for text in texts if text in known}
    if missing := [text for text in dict.fromkeys(texts) if text not in found]:
        found.update(zip(missing, embedder.embed(missing), strict=True))
        with _LOCK:
            known.update((text, found[text]) for text in missing)
            while len(known) > _MOST:
                known.popitem(last=False)
    return [found[text] for text in texts]
