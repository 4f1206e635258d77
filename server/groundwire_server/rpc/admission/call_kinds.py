"""Estimates how long a call will compute, from what calls of its kind took before."""

from collections import OrderedDict, deque
from math import inf
from typing import TYPE_CHECKING, TypeAlias

# It loads numpy, which must not happen before a server has settled how many threads it uses.
if TYPE_CHECKING:
    from groundwire_server.domain.search.search import NodesRequest

SHORT_SECONDS = 0.005
"""A call is short if it is expected to take less of the processor."""
KNOWN_AFTER = 16
"""How many calls of a kind must have ended before there is an estimate; it considers as many."""
MAX_KINDS = 4_096
"""The kinds whose times are remembered, the most recently used."""

CallKind: TypeAlias = int
"""Calls of one kind take about as long. A hash, so that a kind takes the same room whatever is in a request."""


def kind_of(method: str, request: "NodesRequest") -> CallKind:
    """The kind of a call: the method, about the same nodes, with the same choices and numbers of the same magnitude.

    Numbers are of one magnitude if they have equally many binary digits. The access is a part of the kind. Otherwise
    the time of a call would show whether callers with other rights ask an index.
    """
    nodes = request.access, request.scopes or (request.scope,), request.filter, request.lifecycle
    magnitudes = tuple(number.bit_length() for number in request.extent)
    return hash((method, nodes, request.choices, magnitudes))


class CallDurations:
    """The processor seconds of the last calls of each kind. Use it in one event loop."""

    def __init__(self) -> None:
        self._seconds: OrderedDict[CallKind, deque[float]] = OrderedDict()

    def is_short(self, kind: CallKind) -> bool:
        """True if a call of the kind is expected to be short."""
        seconds = self._seconds.get(kind, ())
        return len(seconds) == KNOWN_AFTER and max(seconds) < SHORT_SECONDS

    def add(self, kind: CallKind, seconds: float) -> None:
        """A call of the kind has been answered, and took `seconds`."""
        self._seconds.setdefault(kind, deque(maxlen=KNOWN_AFTER)).append(seconds)
        self._seconds.move_to_end(kind)
        if len(self._seconds) > MAX_KINDS:
            self._seconds.popitem(last=False)

    def add_unfinished(self, kind: CallKind) -> None:
        """A call of the kind began to compute and was not answered: how long it would have taken is not known."""
        self.add(kind, inf)
