"""Rows that Milvus gave, read by field with their types."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire_milvus.storage_errors import StorageUnavailableError

Key = TypeVar("Key", int, str)
SparseVector: TypeAlias = Mapping[int, float]
"""The values above 0 of a vector by their dimension."""


class Rows:
    """Rows, each with the fields that were asked for."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """Each row, its values by field."""
        return iter(self._rows)

    def integers(self, field: str) -> NDArray[np.int64]:
        """A field of integers, [m]."""
        return np.asarray(self._column(field), dtype=np.int64)

    def flags(self, field: str) -> NDArray[np.bool_]:
        """A field of booleans, [m]."""
        return np.asarray(self._column(field), dtype=np.bool_)

    def strings(self, field: str) -> list[str]:
        """A field of strings, [m]."""
        return self._column(field)

    def digests(self, field: str) -> list[list[str]]:
        """A field of lists of strings, [m]."""
        return [list(values) for values in self._column(field)]

    def dense(self, field: str, dimension: int) -> NDArray[np.float32]:
        """A field of vectors, [m, dimension]."""
        return np.asarray(self._column(field), dtype=np.float32).reshape(-1, dimension)

    def in_order(self, field: str, keys: Sequence[Key]) -> "Rows":
        """The rows whose field has one of these distinct values, in the order of the values."""
        by_key = dict(zip(self._column(field), self._rows, strict=True))
        return Rows([by_key[key] for key in keys if key in by_key])

    def _column(self, field: str) -> list[Any]:
        try:
            return [row[field] for row in self._rows]
        except KeyError:
            raise StorageUnavailableError(f"Milvus left out the field {field} of a row") from None
