"""Who computes in Python: one thread at a time.

Threads share one interpreter, so two that compute in Python get no more done than one. Left to themselves they get
less done: numpy gives the interpreter up in every longer operation, another thread takes it, and both go on with cold
caches (`python -m bench.interpreter` measures it). What computes outside of Python, or waits, runs beside.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local


class _ThisThread(local):
    holds = False


# Passed on in no order: a queue would have each call of a fraction of a millisecond wait for a thread to wake up.
_INTERPRETER = Lock()
_THIS_THREAD = _ThisThread()


@contextmanager
def holding_interpreter() -> Iterator[None]:
    """Computes in Python while no other thread does that entered here. Serves as a decorator too; enter it once.

    Inside, nothing may be waited for that another thread does, unless in `releasing_interpreter`.
    """
    with _INTERPRETER:
        _THIS_THREAD.holds = True
        try:
            yield
        finally:
            _THIS_THREAD.holds = False


@contextmanager
def releasing_interpreter() -> Iterator[None]:
    """Lets others compute in Python while this thread waits, or computes outside of it for long.

    Enter with no lock held that another thread may wait for. Changes nothing in a thread that does not hold it.
    """
    if not _THIS_THREAD.holds:
        yield
        return
    _THIS_THREAD.holds = False
    _INTERPRETER.release()
    try:
        yield
    finally:
        _INTERPRETER.acquire()
        _THIS_THREAD.holds = True
