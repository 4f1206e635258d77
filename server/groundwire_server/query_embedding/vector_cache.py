"""The vectors of recent queries, each owner's apart from the others'."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_server.execution.observation import observer

MAX_OWNERS = 64
MAX_VECTORS = 256
"""Of one owner. 64 times as many take 48 MiB at 384 dimensions, 128 MiB at 1,024."""

_Vectors: TypeAlias = OrderedDict[Hashable, NDArray[np.float64]]


class QueryVectorCache:
    """Keeps the most recently used vectors of the owners that asked last. Thread-safe; the vectors are read-only.

    No owner finds what another one has left here, and one that fills its share drives out its own vectors alone.
    """

    def __init__(self, owners: int = MAX_OWNERS, vectors: int = MAX_VECTORS) -> None:
        self._most_owners, self._most_vectors = owners, vectors
        self._shares: OrderedDict[Hashable, _Vectors] = OrderedDict()
        self._lock = Lock()

    def find(self, owner: Hashable, key: Hashable) -> NDArray[np.float64] | None:
        """The vector that the owner has under the key, if any."""
        with self._lock:
            share = self._share(owner)
            known = share.get(key)
            if known is not None:
                share.move_to_end(key)
        observer().looked_up_vector(known is not None)
        return known

    def keep(self, owner: Hashable, key: Hashable, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Keeps the owner's vector under the key, read-only from now on, and returns it."""
        vector.setflags(write=False)
        with self._lock:
            share = self._share(owner)
            share[key] = vector
            if len(share) > self._most_vectors:
                share.popitem(last=False)
        return vector

    def _share(self, owner: Hashable) -> _Vectors:
        """The owner's vectors; to be called with the lock held."""
        share = self._shares.setdefault(owner, OrderedDict())
        self._shares.move_to_end(owner)
        if len(self._shares) > self._most_owners:
            self._shares.popitem(last=False)
        return share
