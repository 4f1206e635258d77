"""The state of the most recent callers of an index version."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.nodes.policies import visible_classes
from groundwire_server.domain.access.access import AccessContext, Bounds, may_see

MAX_CACHED_CALLERS = 256
MAX_CACHED_BYTES = 128 * 1024 * 1024
"""The limit of memory for the rows that callers see of one index, over all remembered callers."""

Seen = TypeVar("Seen")


class CallerCache(Generic[Seen]):
    """The view of each caller. Callers of the same policy classes and bounds share it."""

    def __init__(
        self, classes: Sequence[NodeAccess], judged: Callable[[NDArray[np.bool_], Bounds], Seen], most_callers: int
    ) -> None:
        """`judged` is quick: it is asked with a mask of the policy classes that a caller may see, and its bounds.

        `most_callers` is the number of callers whose views are remembered.
        """
        self._classes = classes
        self._judged = judged
        self._by_caller: OrderedDict[AccessContext, Seen] = OrderedDict()
        self._most_callers = most_callers
        # The views of the remembered callers, by visible classes and bounds.
        self._shared: WeakValueDictionary[tuple[bytes, Bounds], Seen] = WeakValueDictionary()
        self._lock = Lock()

    def known(self, access: AccessContext) -> Seen | None:
        """The caller's view if it is remembered, else None."""
        with self._lock:
            seen = self._by_caller.get(access)
            if seen is not None:
                self._by_caller.move_to_end(access)
            return seen

    def get(self, access: AccessContext) -> Seen:
        """The caller's view; judged once per distinct access context among the most recent ones."""
        known = self.known(access)
        if known is not None:
            return known
        classes = visible_classes(self._classes, lambda demand: may_see(demand, access))
        with self._lock:
            judged_view = self._judged(classes, access.bounds)
            seen = self._shared.setdefault((classes.tobytes(), access.bounds), judged_view)
            self._by_caller[access] = seen
            if len(self._by_caller) > self._most_callers:
                self._by_caller.popitem(last=False)
            return seen
