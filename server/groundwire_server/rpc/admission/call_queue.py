"""Accepts and refuses calls by load, and decides which call computes next."""

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from statistics import median

from groundwire_server.domain.errors import CancelledError, DeadlineError, GroundwireError, LimitError
from groundwire_server.rpc.admission.refusals import overloaded

SECONDS_ALONE = 0.01
"""After this time, a call lets another one compute at the same time."""
MOST_LONG = 3
"""The most calls that compute in addition to those that have a place."""
KNOWN_AFTER = 8
"""With this number of timed calls, a line's median is how long a call takes, and its slowest how long at most."""
_GUESSED_AFTER = 2
"""With this number of calls, the quickest is how long a call takes. The first alone may be slow: it loads something."""


@dataclass(slots=True, eq=False)
class Line:
    """The accepted calls of one identity within one method, and the `seconds` that its last ones took after waiting.

    `cut_short` is the number of its calls that ended before they were done, which are not among `seconds`.
    """

    calls: int = 0
    computing: int = 0
    waiting: "dict[QueuedCall, None]" = field(default_factory=dict["QueuedCall", None])
    seconds: deque[float] = field(default_factory=lambda: deque[float](maxlen=2 * KNOWN_AFTER))
    cut_short: int = 0

    @property
    def usual(self) -> float | None:
        """The seconds that a call takes; None while unknown."""
        return median(self.seconds) if len(self.seconds) >= KNOWN_AFTER else self._guess

    @property
    def most(self) -> float:
        """The seconds that a call takes at most; 0 while unknown."""
        return max(self.seconds) if len(self.seconds) >= KNOWN_AFTER else self._guess or 0.0

    @property
    def _guess(self) -> float | None:
        """The seconds of the quickest call, while few are timed.

        Without a guess, a flood of calls that take more than an eighth of their deadline would never end: each call
        begins when it has waited almost until its deadline, and is cut short, so that the times stay unknown.
        """
        is_guessed = self.seconds and len(self.seconds) + self.cut_short >= _GUESSED_AFTER
        return min(self.seconds) if is_guessed else None

    def wait_seconds(self, now: float, places: int) -> float | None:
        """The seconds that a new call would wait, at least as long as the first in the line has; None if unknown."""
        waited = now - next(iter(self.waiting)).entered if self.waiting else 0.0
        return None if self.usual is None else max(waited, (len(self.waiting) + 1) * self.usual / places)


@dataclass(slots=True, eq=False)
class QueuedCall:
    """A call as the queue knows it. Times are seconds of the queue's clock.

    `computed` is the sum of its turns so far; the last one began at `turn_began`, or ended then. With a `refusal` it
    ends with that error instead of its work.
    """

    method: str
    subject: str
    deadline: float
    line: Line = field(default_factory=Line)
    entered: float = 0.0
    turn_began: float = 0.0
    computed: float = 0.0
    has_begun: bool = False
    has_place: bool = False
    has_ended: bool = False
    refusal: GroundwireError | None = None


@dataclass(frozen=True, slots=True)
class MethodLoad:
    """The accepted calls of one method: `waiting` ones wait to compute for the first time; others are running."""

    running: int
    waiting: int


class CallQueue:
    """Accepts calls, and gives those that must compute a number of places.

    - `max_waiting` calls of a method are accepted in addition to one. An identity may have as many of them as are left
      for others. The subject "" means callers that are not identified; they have no limit of their own.
    - Calls that have computed before come first. Otherwise lines take turns, and a line's calls keep their order.
    - A call that has computed for long gives its place to another one. A line computes at most three quarters of all.
    - A call is refused if it would likely miss its deadline, at once or when its turn comes. A call that finds a place
      at once is never refused for its deadline.

    Thread-safe: a thread takes its next call here directly, without the event loop, which is slowest under load.
    """

    def __init__(self, max_waiting: int, places: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_calls = max_waiting + 1
        self._places = self._free = places
        self._most_of_line = max(places, (places + MOST_LONG) * 3 // 4)
        self._clock = clock
        self._calls = Counter[str]()
        self._lines: dict[tuple[str, str], Line] = {}
        self._in_turn: dict[Line, None] = {}
        self._resumed: dict[QueuedCall, None] = {}
        self._long = 0
        self._lock = threading.Lock()

    @contextmanager
    def accepted(self, call: QueuedCall) -> Iterator[None]:
        """Accepts the call while the context is open. Raises LimitError."""
        with self._lock:
            self._accept(call)
        is_cut_short = False
        try:
            yield
        except (DeadlineError, CancelledError, asyncio.CancelledError):
            is_cut_short = True
            raise
        finally:
            with self._lock:
                self._end(call, is_cut_short=is_cut_short)

    def enter(self, call: QueuedCall) -> QueuedCall | None:
        """The call has to compute. Returns a call that a further thread must compute now, if there is one."""
        with self._lock:
            if call.has_ended:
                return None
            if call.has_begun:
                self._resumed[call] = None
            else:
                call.entered = self._clock()
                call.line.waiting[call] = None
                self._in_turn.setdefault(call.line)
            return self._next()

    def turn_over(self, call: QueuedCall) -> QueuedCall | None:
        """The call's thread is done with it. Returns the call that the thread must compute next, if there is one."""
        with self._lock:
            now = self._clock()
            call.computed += now - call.turn_began
            call.turn_began = now
            call.line.computing -= 1
            self._free += call.has_place
            self._long -= not call.has_place
            self._forget(call)
            return self._next()

    def give_way(self, call: QueuedCall) -> QueuedCall | None:
        """The call has computed for long. Returns a call that a further thread must compute now, if there is one."""
        with self._lock:
            if self._long < MOST_LONG:
                call.has_place = False
                self._long += 1
                self._free += 1
            return self._next()

    def loads(self) -> Mapping[str, MethodLoad]:
        """The load of every method that has been called."""
        with self._lock:
            waiting = Counter[str]()
            for (method, _), line in self._lines.items():
                waiting[method] += len(line.waiting)
            return {
                method: MethodLoad(calls - waiting[method], waiting[method]) for method, calls in self._calls.items()
            }

    def _accept(self, call: QueuedCall) -> None:
        line = call.line = self._lines.get((call.method, call.subject), call.line)
        calls, now = self._calls[call.method], self._clock()
        left = self._most_calls - calls
        wait = line.wait_seconds(now, self._places)
        if left <= 0 or (call.subject and line.calls >= left):
            message = f"{calls} calls of {call.method} are in progress, {line.calls} of them yours; try again later"
            raise overloaded(message, {"method": call.method, "rule": "waiting"}, wait)
        if not self._free and wait is not None and now + wait + line.most > call.deadline:
            raise _too_late(call, wait)
        self._lines[call.method, call.subject] = line
        line.calls += 1
        self._calls[call.method] += 1

    def _end(self, call: QueuedCall, *, is_cut_short: bool) -> None:
        """The time of a call that was cut short is known only if it was longer than usual."""
        line, call.has_ended = call.line, True
        line.calls -= 1
        self._calls[call.method] -= 1
        self._resumed.pop(call, None)
        line.waiting.pop(call, None)
        if not line.waiting:
            self._in_turn.pop(line, None)
        seconds = call.computed + self._clock() - call.turn_began
        if call.has_begun and call.refusal is None:
            if not is_cut_short or seconds > (line.usual or seconds):
                line.seconds.append(seconds)
            else:
                line.cut_short += 1
        self._forget(call)

    def _next(self) -> QueuedCall | None:
        first = (next(iter(line.waiting)) for line in self._in_turn)
        calls = (call for call in chain(self._resumed, first) if call.line.computing < self._most_of_line)
        call = next(calls, None) if self._free else None
        if call is None:
            return None
        line, call.turn_began, call.has_place = call.line, self._clock(), True
        self._free -= 1
        line.computing += 1
        if call.has_begun:
            del self._resumed[call]
            return call
        call.has_begun = True
        del line.waiting[call], self._in_turn[line]
        if line.waiting:
            self._in_turn[line] = None
        if call.turn_began >= call.deadline:
            call.refusal = DeadlineError()
        elif call.turn_began > call.entered and call.turn_began + line.most > call.deadline:
            call.refusal = _too_late(call, line.wait_seconds(call.turn_began, self._places))
        return call

    def _forget(self, call: QueuedCall) -> None:
        if not call.line.calls and not call.line.computing:
            self._lines.pop((call.method, call.subject), None)


def _too_late(call: QueuedCall, wait: float | None) -> LimitError:
    message = f"this call of {call.method} would not be done by its deadline; give it longer, or try again later"
    return overloaded(message, {"method": call.method, "rule": "deadline"}, wait)
