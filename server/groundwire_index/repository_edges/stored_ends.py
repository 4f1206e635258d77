"""The ends of an open index, with the rows of the nodes that they name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundwire_index.repository_edges.ends import Ends


@dataclass(frozen=True)
class StoredEnds:
    """Ends; `rows` [nodes] are those of the nodes that they name, which `keys` has in the same order."""

    ends: Ends
    keys: tuple[str, ...]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, ends: Ends, find: Callable[[str], int | None]) -> "StoredEnds":
        """Ends of nodes whose rows `find` gives by their keys; those of nodes that the index lacks are left out."""
        row_by_key = {key: row for key in ends.keys if (row := find(key)) is not None}
        return cls(ends, tuple(row_by_key), np.fromiter(row_by_key.values(), dtype=np.int64, count=len(row_by_key)))

    @cached_property
    def row_by_key(self) -> dict[str, int]:
        """The row of each node by its key."""
        return dict(zip(self.keys, self.rows.tolist(), strict=True))


NO_ENDS = StoredEnds(Ends(), (), np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class SeenEnds:
    """The ends of an index as one caller sees them: `is_seen` [nodes] says so of each node that they name."""

    stored: StoredEnds
    is_seen: NDArray[np.bool_]

    @cached_property
    def ends(self) -> Ends:
        """The ends of the nodes that the caller sees."""
        seen = {key for key, seen in zip(self.stored.keys, self.is_seen.tolist(), strict=True) if seen}
        return self.stored.ends.seen(seen.__contains__)
