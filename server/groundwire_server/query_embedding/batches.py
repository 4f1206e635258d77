"""Calls that come at the same time share the work: what has queued while one batch ran is the next batch.

There is no timer: a lone call starts at once, in its own thread. A call that finds another one working waits; when
that batch is done, the one that has waited longest runs the next, for itself and for those that fit it.
"""

from collections import deque
from collections.abc import Callable, Sequence
from threading import Event, Lock
from typing import Generic, TypeVar, cast

from groundwire_index.embedding.embedder import EmbedderError
from groundwire_server.execution.call import Checkpoint
from groundwire_server.execution.observation import observer

Item = TypeVar("Item")
Result = TypeVar("Result")

SECONDS_BETWEEN_CHECKPOINTS = 0.02


class _Waiting(Generic[Item, Result]):
    """One call: what it brings, what it gets, and whether it is its turn to run a batch."""

    __slots__ = ("error", "item", "leads", "result", "wake")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.wake = Event()
        self.leads = False
        self.result: Result | None = None
        self.error: BaseException | None = None


class Batches(Generic[Item, Result]):
    """Runs `work` over batches of items, one batch at a time. Thread-safe.

    `size_of` puts items into classes: a batch holds items of one class, `most(class)` of them at most. `work` gives a
    result for each item, in their order; what an item gives must not depend on the batch.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result]],
        size_of: Callable[[Item], int],
        most: Callable[[int], int],
    ) -> None:
        self._work, self._size_of, self._most = work, size_of, most
        self._queue: deque[_Waiting[Item, Result]] = deque()
        self._busy = False
        self._lock = Lock()

    def run(self, item: Item, checkpoint: Checkpoint) -> Result:
        """The item's result. Raises what the checkpoint raises, and what `work` raises or EmbedderError if it fails."""
        call = _Waiting[Item, Result](item)
        with self._lock:
            self._queue.append(call)
            if not self._busy:
                self._busy = call.leads = True
        if not call.leads:
            self._wait(call, checkpoint)
        if call.leads:
            self._run_batch()
        if call.error is not None:
            raise EmbedderError("a batch of queries could not be embedded") from call.error
        return cast("Result", call.result)

    def _wait(self, call: _Waiting[Item, Result], checkpoint: Checkpoint) -> None:
        while not call.wake.wait(SECONDS_BETWEEN_CHECKPOINTS):
            try:
                checkpoint()
            except BaseException:
                self._leave(call)
                raise

    def _leave(self, call: _Waiting[Item, Result]) -> None:
        """Removes a call that no caller waits for; unless it is in a batch already, nothing is computed for it."""
        with self._lock:
            if call in self._queue:
                self._queue.remove(call)
            if call.leads:
                self._appoint()

    def _run_batch(self) -> None:
        """Runs the batch of the longest waiting call, which is the caller's own, and appoints who runs the next."""
        with self._lock:
            batch = self._take()
        observer().embedded_batch(len(batch))
        try:
            for call, result in zip(batch, self._work([call.item for call in batch]), strict=True):
                call.result = result
        except BaseException as error:
            for call in batch:
                call.error = error
            raise
        finally:
            with self._lock:
                self._appoint()
            for call in batch:
                call.wake.set()

    def _take(self) -> list[_Waiting[Item, Result]]:
        size = self._size_of(self._queue[0].item)
        fitting = [call for call in self._queue if self._size_of(call.item) == size][: self._most(size)]
        self._queue = deque(call for call in self._queue if call not in fitting)
        return fitting

    def _appoint(self) -> None:
        """Lets the call that has waited longest run the next batch; to be called with the lock held."""
        self._busy = bool(self._queue)
        if self._queue:
            self._queue[0].leads = True
            self._queue[0].wake.set()
