"""Columns that grow: equal in length, each of one type."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Column = NDArray[Any]
Mask = NDArray[np.bool_]
_ROOM = 1024


class Columns:
    """Rows kept as one array per field. A place in it is a number that stays until `keep` is called."""

    def __init__(self, wide: Mapping[str, tuple[DTypeLike, int]] | None = None, /, **types: DTypeLike) -> None:
        """`types` by the name of the field; `wide` fields hold several numbers a row."""
        self.size = 0
        self._room = 0
        self._arrays: dict[str, Column] = {name: np.empty(0, kind) for name, kind in types.items()}
        self._arrays |= {name: np.empty((0, width), kind) for name, (kind, width) in (wide or {}).items()}

    def __getitem__(self, name: str) -> Column:
        return self._arrays[name][: self.size]

    def append(self, rows: Mapping[str, Column]) -> int:
        """The place of the first one of them."""
        first, more = self.size, len(next(iter(rows.values())))
        if first + more > self._room:
            self.reserve(first + more + first // 8)
        for name, array in self._arrays.items():
            array[first : first + more] = rows[name]
        self.size = first + more
        return first

    def reserve(self, rows: int) -> None:
        """Make room for so many rows and some. What is not written to yet is not in memory yet, either."""
        self._room = rows + _ROOM
        for name, array in self._arrays.items():
            grown = np.empty((self._room, *array.shape[1:]), array.dtype)
            grown[: self.size] = array[: self.size]
            self._arrays[name] = grown

    def keep(self, mask: Mask) -> None:
        """Only these rows; they move up."""
        for name, array in self._arrays.items():
            self._arrays[name] = array[: self.size][mask]
        self.size = self._room = int(mask.sum())

    @property
    def nbytes(self) -> int:
        return sum(array[: self.size].nbytes for array in self._arrays.values())
