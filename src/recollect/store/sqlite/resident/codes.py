"""Vectors of one embedder as numbers of one byte, compared exactly; above a size, by one bit first.

A code is the vector times a factor of its own, rounded. Its dot product with the code of a question, times both
factors, is the cosine to about two thousandths; the best are compared again by their floats, out of the file.
"""

from typing import Any

import numkong
import numpy as np
from numpy.typing import NDArray

from recollect.store.sqlite.resident.columns import Columns, Mask

BITS_ABOVE = 200_000
"""So many codes are compared one by one. Above it, signs alone are compared first, and the best of them by codes."""
DEEP = 20
_DEEP_AT_LEAST = 8_000
_BLOCK = 1 << 16
_SPARSE = 8
_SAMPLED = 4_096
_SAMPLE = 4

Floats = NDArray[np.float32]
Places = NDArray[np.int64]


class Codes:
    """`rid`: the row of the vector in the file. `doc`: the place of its event or version in the catalog."""

    def __init__(self, dimension: int, bits_above: int = BITS_ABOVE) -> None:
        self.dimension = dimension
        self._bits_above = bits_above
        self.rows = Columns({"code": (np.int8, dimension)}, rid=np.int64, doc=np.int32, scale=np.float32)
        self._signs: list[Any] = []
        self._signed = 0

    @property
    def size(self) -> int:
        return self.rows.size

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + self._signed * -(-self.dimension // 8)

    def add(self, rid: NDArray[np.int64], doc: NDArray[np.int32], vectors: Floats, replacing: bool = True) -> None:
        """Keep vectors; with `replacing`, one that may be there already takes the place of the older."""
        if replacing and self.size and len(rid) and rid.min() <= self.rows["rid"].max():
            self.keep(~np.isin(self.rows["rid"], rid))
        code, scale = _coded(vectors)
        self.rows.append({"rid": rid, "doc": doc, "scale": scale, "code": code})

    def keep(self, mask: Mask) -> None:
        if not mask.all():
            self.rows.keep(mask)
            self._signs, self._signed = [], 0

    def best(self, query: Floats, passing: Mask | None, depth: int) -> tuple[Places, Floats]:
        """The places of at least the best `depth` vectors that pass, and their cosines, best first."""
        if passing is not None and passing.sum() * _SPARSE < self.size:
            places = np.flatnonzero(passing)
        elif self.size > self._bits_above:
            places = self._alike(query, passing, max(DEEP * depth, _DEEP_AT_LEAST))
        else:
            return _top(None, self.cosines(query, None), passing, depth)
        return _top(places, self.cosines(query, places), None, depth)

    def cosines(self, query: Floats, places: Places | None) -> Floats:
        """Of the vectors at these places, or of all."""
        code, scale = _coded(query[None, :])
        codes, scales = self.rows["code"], self.rows["scale"]
        if places is not None:
            codes, scales = codes[places], scales[places]
        if not len(codes):
            return np.empty(0, np.float32)
        dots = np.asarray(numkong.cdist(code, codes, metric="dot"))[0]
        return (dots * scales * scale[0]).astype(np.float32)

    def _alike(self, query: Floats, passing: Mask | None, depth: int) -> Places:
        """Those whose signs differ least from the question's, `depth` of them and those that tie with the last."""
        self._pack()
        signs = np.packbits(query[None, :] > 0, axis=1)
        apart = np.concatenate([np.asarray(numkong.hammings_packed(signs, block))[0] for block in self._signs])
        if passing is not None:
            apart[~passing] = self.dimension + 1
        counted = np.cumsum(np.bincount(apart, minlength=self.dimension + 2)[: self.dimension + 1])
        limit = min(int(np.searchsorted(counted, depth)), self.dimension)
        return np.flatnonzero(apart <= limit)

    def _pack(self) -> None:
        """Signs in blocks as the comparison reads them; only the last block is made again as codes are added."""
        if self._signed == self.size:
            return
        whole = self._signed // _BLOCK
        del self._signs[whole:]
        codes = self.rows["code"]
        for first in range(whole * _BLOCK, self.size, _BLOCK):
            signs = np.packbits(codes[first : first + _BLOCK] > 0, axis=1)
            self._signs.append(numkong.hammings_pack(signs, dtype="uint1"))
        self._signed = self.size


def unit(vectors: Floats) -> Floats:
    """The vectors at length one; one that has none stays nothing. What is no number counts as nothing."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    if not np.isfinite(squares).all():
        vectors = np.nan_to_num(vectors, nan=0, posinf=0, neginf=0)
        squares = np.einsum("ij,ij->i", vectors, vectors)
    lengths = np.sqrt(squares)
    lengths[lengths == 0] = 1
    return vectors / lengths[:, None]


def _coded(vectors: Floats) -> tuple[NDArray[np.int8], Floats]:
    vectors = unit(vectors)
    largest = np.abs(vectors).max(axis=1)
    largest[largest == 0] = 1
    return np.rint(vectors * (127 / largest)[:, None]).astype(np.int8), (largest / 127).astype(np.float32)


def _top(places: Places | None, cosines: Floats, passing: Mask | None, depth: int) -> tuple[Places, Floats]:
    """The best `depth` of them, or all where there are fewer."""
    if passing is not None:
        cosines = np.where(passing, cosines, np.float32(-2))
        depth = min(depth, int(passing.sum()))
    candidates = np.flatnonzero(cosines >= _floor(cosines, depth))
    chosen = candidates[np.argsort(-cosines[candidates], kind="stable")[:depth]]
    return (chosen if places is None else places[chosen]), cosines[chosen]


def _floor(cosines: Floats, depth: int) -> float:
    """A bound that at least `depth` of them reach, and not many more: guessed from a sample, and checked."""
    if depth <= 0:
        return 3.0
    if len(cosines) > _SAMPLED * _SAMPLE:
        sample = cosines[:: len(cosines) // _SAMPLED]
        guess = int(len(sample) * depth / len(cosines) * 2) + 8
        if guess < len(sample):
            bound = float(np.partition(sample, len(sample) - guess)[len(sample) - guess])
            if np.count_nonzero(cosines >= bound) >= depth:
                return bound
    return -3.0 if depth >= len(cosines) else float(np.partition(cosines, len(cosines) - depth)[len(cosines) - depth])
