"""The vectors of recent queries."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.observation import observer

DEFAULT_CAPACITY = 4_096


class QueryVectorCache:
    """Keeps the most recently used vectors by key, `capacity` of them. Thread-safe; the vectors are read-only.

    Two calls that miss the same key at once both compute it, to the same bytes.
    """

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self._capacity = capacity
        self._vectors: OrderedDict[Hashable, NDArray[np.float64]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, compute: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        """The vector kept under the key, or what `compute` gives, which is kept then. Raises what it raises."""
        with self._lock:
            known = self._vectors.get(key)
            if known is not None:
                self._vectors.move_to_end(key)
        observer().looked_up_vector(known is not None)
        if known is not None:
            return known
        vector = compute()
        vector.setflags(write=False)
        with self._lock:
            self._vectors[key] = vector
            if len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)
        return vector
