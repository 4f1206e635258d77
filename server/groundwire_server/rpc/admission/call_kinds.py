"""Estimates how long a call will compute, from what calls of its kind took before."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, TypeAlias

# It loads numpy, which must not happen before a server has settled how many threads it uses.
if TYPE_CHECKING:
    from groundwire_server.domain.search.search import NodesRequest

SHORT_SECONDS = 0.005
"""A call is short if it is expected to take less of the processor."""
KNOWN_AFTER = 16
"""How many calls of a kind must have ended before there is an estimate; it considers as many."""
SURPRISE_SECONDS = 0.02
"""A part that takes more of the processor on the event loop makes its caller's calls run on threads for a while."""
SECONDS_ON_THREADS = 10.0
MAX_KINDS = 4_096
"""The kinds whose times are remembered, the most recently used."""

CallKind: TypeAlias = int
"""Calls of one kind take about as long. A hash, so that a kind takes the same room whatever is in a request."""


def kind_of(method: str, request: "NodesRequest") -> CallKind:
    """The kind of a call: the method, about the same nodes, with the same choices and numbers of the same magnitude.

    Numbers are of one magnitude if they have equally many binary digits. The access is a part of the kind, and so is
    what a pattern of scopes may mean. Otherwise the time of a call would show whether callers with other rights ask an
    index.
    """
    scopes = request.scopes or (request.scope,)
    nodes = request.access, request.granted, scopes, request.filter, request.lifecycle
    magnitudes = tuple(number.bit_length() for number in request.extent)
    return hash((method, nodes, request.choices, magnitudes))


class CallDurations:
    """The processor seconds of the last calls of each kind. Use it in one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seconds: OrderedDict[CallKind, deque[float]] = OrderedDict()
        self._on_threads_until: OrderedDict[str, float] = OrderedDict()

    def is_short(self, kind: CallKind, subject: str) -> bool:
        """True if a call of the kind by an identity is expected to be short.

        The event loop computes it then, so the calls of an identity that has surprised it are not short for a while:
        otherwise one identity could prepare many kinds by short calls, and then send a long one of each at once.
        """
        if self._on_threads_until.get(subject, 0.0) > self._clock():
            return False
        seconds = self._seconds.get(kind, ())
        return len(seconds) == KNOWN_AFTER and max(seconds) < SHORT_SECONDS

    def add_on_loop(self, subject: str, seconds: float) -> None:
        """The event loop has computed a part of a call of the identity for so long."""
        if seconds < SURPRISE_SECONDS:
            return
        self._on_threads_until[subject] = self._clock() + SECONDS_ON_THREADS
        self._on_threads_until.move_to_end(subject)
        if len(self._on_threads_until) > MAX_KINDS:
            self._on_threads_until.popitem(last=False)

    def add(self, kind: CallKind, seconds: float) -> None:
        """A call of the kind has been answered, and took `seconds`."""
        self._seconds.setdefault(kind, deque(maxlen=KNOWN_AFTER)).append(seconds)
        self._seconds.move_to_end(kind)
        if len(self._seconds) > MAX_KINDS:
            self._seconds.popitem(last=False)

    def add_unfinished(self, kind: CallKind) -> None:
        """A call of the kind began to compute and was not answered: how long it would have taken is not known."""
        self.add(kind, inf)
