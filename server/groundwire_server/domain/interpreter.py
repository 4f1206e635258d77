"""Who computes in Python: one thread at a time.

Threads share one interpreter, so two that compute in Python get no more done than one. Left to themselves they get
less done: numpy gives the interpreter up in every longer operation, another thread takes it, and both go on with cold
caches (`python -m bench.interpreter` measures it). What computes outside of Python, or waits, runs beside, and a long
call gives way to others now and then.
"""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local

SLICE_SECONDS = 0.01
_WAKING_SECONDS = 0.0005
"""In which a thread that waits wakes up and takes the lock."""


class _ThisThread(local):
    holds_since: float | None = None


# Passed on in no order: a queue would have each call of a fraction of a millisecond wait for a thread to wake up.
_INTERPRETER = Lock()
_WAITING: deque[None] = deque()
_THIS_THREAD = _ThisThread()


@contextmanager
def holding_interpreter() -> Iterator[None]:
    """Computes in Python while no other thread does that entered here. Serves as a decorator too; enter it once.

    Inside, nothing may be waited for that another thread does, unless in `releasing_interpreter`.
    """
    _acquire()
    try:
        yield
    finally:
        _release()


@contextmanager
def releasing_interpreter() -> Iterator[None]:
    """Lets others compute in Python while this thread waits, or computes outside of it for long.

    Enter with no lock held that another thread may wait for. Changes nothing in a thread that does not hold it.
    """
    if _THIS_THREAD.holds_since is None:
        yield
        return
    _release()
    try:
        yield
    finally:
        _acquire()


def give_way() -> None:
    """Lets others compute, if any wait and this thread has held the interpreter for a hundredth of a second."""
    since = _THIS_THREAD.holds_since
    if since is not None and _WAITING and time.monotonic() - since > SLICE_SECONDS:
        with releasing_interpreter():
            time.sleep(_WAKING_SECONDS)


def _acquire() -> None:
    if not _INTERPRETER.acquire(blocking=False):
        _WAITING.append(None)
        _INTERPRETER.acquire()
        _WAITING.pop()
    _THIS_THREAD.holds_since = time.monotonic()


def _release() -> None:
    _THIS_THREAD.holds_since = None
    _INTERPRETER.release()
