"""A bounded connection to Milvus: every request has a time limit, every failure is one of `milvus.errors`."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from groundwire_milvus.address import MilvusAddress
from groundwire_milvus.client import Client, connect, mapped_errors
from groundwire_milvus.storage_errors import CollectionMissingError, RefusedError, StorageUnavailableError

Result = TypeVar("Result")

_COLLECTION_MISSING = (100,)
_NOT_LOADED = (101,)
_RELOAD_PAUSE_SECONDS = 0.05
_MOST_BESIDE = 32
"""The number of requests that wait in threads besides the calling ones: of four calls with eight searches each."""


class MilvusConnection:
    """A connection to one database of a Milvus. Thread-safe; connects when it is first asked, and again after a loss.

    A request raises StorageUnavailableError, and CollectionMissingError for a collection that is not there.
    """

    def __init__(self, address: MilvusAddress) -> None:
        """Connects to nothing yet."""
        self.address = address
        self._client: Client | None = None
        self._connecting = threading.Lock()
        self._threads = ThreadPoolExecutor(_MOST_BESIDE, thread_name_prefix="groundwire-milvus")

    @contextmanager
    def beside(self, part: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
        """Lets a part of a call wait for Milvus in another thread, without the call's context; yields its result's way.

        The caller that asks for the result runs the part itself if no thread has begun it. So a caller never waits for
        a free thread, only for a running part, which ends by the time limits of its requests. Parts may have parts. A
        part whose result was never asked for does not begin after the context is closed.
        """
        future = self._threads.submit(part)
        try:
            yield lambda: part() if future.cancel() else future.result()
        finally:
            future.cancel()

    def together(self, parts: Sequence[Callable[[], Result]]) -> list[Result]:
        """The results of the parts of a call, which wait for Milvus in parallel; raises the first error."""
        with ExitStack() as stack:
            others = [stack.enter_context(self.beside(part)) for part in parts[1:]]
            return [outcome() for outcome in (*parts[:1], *others)]

    def ask(self, request: Callable[[Client, float], Result], seconds: float | None = None) -> Result:
        """Asks something; `seconds` is how long it may take, as long as what reads unless given."""
        limit = self.address.seconds if seconds is None else seconds
        with mapped_errors(self.address):
            return request(self._connected(limit), limit)

    def write(self, request: Callable[[Client, float], Result]) -> Result:
        """Asks something that writes, indexes or loads."""
        return self.ask(request, self.address.writing_seconds)

    def ask_of(
        self, collection: str, request: Callable[[Client, float], Result], seconds: float | None = None
    ) -> Result:
        """Asks something of a collection, which is perhaps not there."""
        try:
            return self.ask(request, seconds)
        except RefusedError as error:
            if error.code in _COLLECTION_MISSING:
                raise CollectionMissingError(f"Milvus has no collection {collection}") from error
            raise

    def ask_loaded(
        self, collection: str, request: Callable[[Client, float], Result], seconds: float | None = None
    ) -> Result:
        """Asks something of a collection; one that a restart of Milvus left unloaded is loaded first.

        It can be unloaded again before it is asked: Milvus restarts once more, or has opened the collection for two
        requests at a time and keeps the one that was not loaded. So it is loaded whenever Milvus says that it must be,
        until that takes longer than a request that writes. Between two tries it waits: Milvus can say that a collection
        is loaded before it answers questions about it.
        """
        end = time.monotonic() + self.address.writing_seconds
        while True:
            try:
                return self.ask_of(collection, request, seconds)
            except RefusedError as error:
                if error.code not in _NOT_LOADED or time.monotonic() >= end:
                    raise
            self.load(collection)
            time.sleep(_RELOAD_PAUSE_SECONDS)

    def load(self, collection: str) -> None:
        """Loads a collection for reading; nothing happens to one that is loaded."""
        self.write(lambda client, limit: client.load_collection(collection, timeout=limit))

    def check(self) -> None:
        """Asks Milvus something that is quickly answered."""
        self.ask(lambda client, limit: client.get_server_version(timeout=limit))

    def close(self) -> None:
        """Ends the connection; it can be asked again, and then connects anew."""
        with self._connecting:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _connected(self, seconds: float) -> Client:
        client = self._client
        if client is not None:
            return client
        if not self._connecting.acquire(timeout=seconds):
            raise StorageUnavailableError(f"Milvus at {self.address.uri} does not answer")
        try:
            if self._client is None:
                self._client = connect(self.address)
            return self._client
        finally:
            self._connecting.release()
