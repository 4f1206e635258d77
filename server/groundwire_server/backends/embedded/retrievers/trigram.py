"""The trigram retriever: nodes by their names, so that a name with a typo is found.

The similarity of two names is that of PostgreSQL's pg_trgm: the size of the intersection of their sets of trigrams
over that of the union. A node's is the greatest over the names that the query mentions and its own.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.text.trigram_names import trigrams
from groundwire_server.backends.shared.scoring import RankedRows, name_similarity, top_rows

GATHER_ROWS = 4_096
"""Up to this many rows are compared one by one; beyond, similar names are sought first."""
_HIGHEST_FLOOR = 0.5
_LEAST_FLOOR = 1 / 16

Rows = NDArray[np.int64]


class Trigrams:
    """The names of an index against some normalised ones. A similarity is in [0, 1], and the greatest one counts."""

    def __init__(
        self, index: LoadedIndex, names: tuple[str, ...], limit: int, threshold: float, gather_rows: int = GATHER_ROWS
    ) -> None:
        """The list holds at most `limit` rows, of a similarity above 0 and of at least `threshold`."""
        self._names = index.names
        self._wanted = names
        self._limit = limit
        self._threshold = threshold
        self._gather_rows = gather_rows

    def rank(self, allowed: NDArray[np.bool_]) -> RankedRows:
        """The list among the rows of a mask [n]."""
        rows = self._possible(allowed)
        similar = self.scores(rows)
        listed = np.flatnonzero((similar > 0) & (similar >= self._threshold))
        return top_rows(rows[listed], similar[listed], self._limit)

    def scores(self, rows: Rows) -> NDArray[np.float64]:
        """The greatest similarity of a row's names, for each of several rows [m]; 0 for a row without a name."""
        positions, counts = self._names.of_rows(rows)
        best = np.zeros(len(positions), dtype=np.float64)
        for size, shared in self._shared:
            np.maximum(best, self._similarity(size, shared, positions), out=best)
        similar = np.zeros(len(rows), dtype=np.float64)
        named = np.flatnonzero(counts)
        if len(named):
            similar[named] = np.maximum.reduceat(best, (np.cumsum(counts) - counts)[named])
        return similar

    @cached_property
    def _shared(self) -> list[tuple[int, NDArray[np.unsignedinteger]]]:
        """For each wanted name how many trigrams it has, and how many of them each name of the index has.

        A name's similarity depends on that name alone, so hidden ones may be compared with the others.
        """
        held = map(trigrams, self._wanted)
        return [(len(of_name), self._names.shared(of_name)) for of_name in held]

    def _possible(self, allowed: NDArray[np.bool_]) -> Rows:
        """Allowed rows, ascending, with the whole list among them."""
        if np.count_nonzero(allowed) <= self._gather_rows:
            return np.flatnonzero(allowed)
        rows: Rows = np.empty(0, dtype=np.int64)
        for floor in _floors(self._threshold):
            bearing = np.zeros(len(allowed), dtype=np.bool_)
            bearing[self._names.rows_of(self._names_from(floor))] = True
            bearing &= allowed
            rows = np.flatnonzero(bearing)
            if len(rows) >= self._limit:
                break
        return rows

    def _names_from(self, floor: float) -> Rows:
        """The positions, ascending, of all names of at least this similarity and above 0."""
        similar = [np.empty(0, dtype=np.int64)]
        for size, shared in self._shared:
            # The union is no smaller than the wanted name; the product may be rounded up.
            least = max(1, int(np.ceil(floor * size * (1.0 - 1e-9))))
            positions = np.flatnonzero(shared >= least)
            similar.append(positions[self._similarity(size, shared, positions) >= floor])
        return np.unique(np.concatenate(similar))

    def _similarity(
        self, size: int, shared: NDArray[np.unsignedinteger], positions: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """The similarity of names [m] to the wanted name, which has `size` trigrams."""
        return name_similarity(size, shared.take(positions), self._names.sizes.take(positions))


def _floors(threshold: float) -> Iterator[float]:
    """Similarities to seek from, falling: most lists are full long before the threshold."""
    floor = _HIGHEST_FLOOR
    while floor > max(threshold, _LEAST_FLOOR):
        yield floor
        floor /= 2
    yield threshold
