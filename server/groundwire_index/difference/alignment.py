"""Which nodes of two index versions are the same, by their ids."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.term_runs import merged_terms
from groundwire_index.scope import SEPARATOR
from groundwire_index.store.loaded import LoadedIndex


def merged_numbers(old: Iterator[bytes], new: Iterator[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Numbers for the values of two sorted lists without repetition, in their order, and how many there are.

    Equal values have equal numbers. Holds one value of each list at a time.
    """
    ranks = array("q"), array("q")
    count = sum(1 for _ in merged_terms((old, new), ranks))
    olds, news = (np.asarray(own, dtype=np.int64) for own in ranks)
    return olds, news, count


@dataclass(frozen=True, slots=True)
class Alignment:
    """The nodes of two versions in one numbering: `old` [n] and `new` [m] number the rows, in the order of their ids.

    Nodes of two branches are the same when their ids differ in the branch alone. `count` is how many there are.
    """

    old: NDArray[np.int64]
    new: NDArray[np.int64]
    count: int

    @classmethod
    def of(cls, old: LoadedIndex, new: LoadedIndex) -> Self:
        """Reads the ids of both versions once."""
        return cls(*merged_numbers(_keys(old), _keys(new)))

    def removed(self) -> NDArray[np.intp]:
        """The rows of nodes that only the old version has."""
        return np.flatnonzero(~np.isin(self.old, self.new, assume_unique=True))

    def added(self) -> NDArray[np.intp]:
        """The rows of nodes that only the new version has."""
        return np.flatnonzero(~np.isin(self.new, self.old, assume_unique=True))

    def common(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The rows of nodes that both versions have, in the old and in the new one."""
        _, olds, news = np.intersect1d(self.old, self.new, assume_unique=True, return_indices=True)
        return olds, news


def _keys(index: LoadedIndex) -> Iterator[bytes]:
    """The part of each id after the scope."""
    scope = SEPARATOR.join((index.manifest.repository, index.manifest.branch, "")).encode()
    return (key[len(scope) :] for key in index.nodes.ids.encoded())
