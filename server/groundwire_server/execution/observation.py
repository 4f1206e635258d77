"""Reports of a running call about itself, for the operators of the server. It never changes an answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType


class CallObserver:
    """Hears of one call, from one thread at a time; this one keeps nothing. Its methods are quick and never raise."""

    __slots__ = ()

    def queued(self) -> None:
        """The call waits to compute."""

    def started(self) -> None:
        """The call begins to compute."""

    def stage_began(self, name: str) -> None:
        """A stage began; it is a part of the one that is still open, if any."""

    def stage_ended(self) -> None:
        """The stage that began last ended."""

    def saw_nodes(self, count: int) -> None:
        """The caller may see `count` nodes of the index that is asked."""

    def opened_indexes(self, count: int) -> None:
        """This process holds `count` index versions open."""

    def looked_up_vector(self, known: bool) -> None:
        """The vector of a query was looked up among the recent ones."""

    def embedded_batch(self, queries: int) -> None:
        """`queries` queries were embedded together."""


_NOBODY = CallObserver()
_OBSERVER: ContextVar[CallObserver] = ContextVar("groundwire_call_observer", default=_NOBODY)


def observer() -> CallObserver:
    """The observer of the call that this thread or task works on."""
    return _OBSERVER.get()


@contextmanager
def observed_by(call: CallObserver) -> Iterator[None]:
    """Reports the work while the context is open to `call`."""
    token = _OBSERVER.set(call)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


class stage:  # noqa: N801 - read as a word of the language: `with stage("embed"):`
    """The stage `name` lasts while the context is open. Names are literals of the code, never a part of a request."""

    __slots__ = ("_name", "_observer")

    def __init__(self, name: str) -> None:
        self._name = name
        self._observer = _OBSERVER.get()

    def __enter__(self) -> None:
        self._observer.stage_began(self._name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._observer.stage_ended()
