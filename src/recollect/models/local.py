"""The bundled embedder: MiniLM tuned for questions about memory, in int8, run on this machine."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from recollect.domain.embedding import Profile
from recollect.models.network import Network, readable

NAME = "recollect-embedder-1"
DIMENSION = 384
LONGEST = 256
"""Word pieces that the model reads, seldom more than a third of the characters that are looked at."""


class LocalEmbedder:
    """Reads the first 256 word pieces of a text; a vector depends on its text and nothing else.

    Texts are embedded one by one: the integers that the model counts in are scaled to what it reads at once, so a text
    would come out differently in other company. With several threads the texts are shared out among them. May be
    called from any thread.
    """

    name = NAME
    profile = Profile(same=0.92, end=0.55, judge=0.45, link_min=0.45, floor=0.30, weighed=True)

    def __init__(self, threads: int = 1) -> None:
        if threads < 1:
            raise ValueError(f"{threads} threads: give at least 1")
        self._threads = threads
        self._network = Network("embedder", NAME)

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if not texts:
            return []
        if self._threads == 1 or len(texts) == 1:
            return [self._vector(text) for text in texts]
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(self._vector, texts))

    def _vector(self, text: str) -> bytes:
        return self._network.run(self._network.pieces.read(readable(text), LONGEST)).tobytes()
