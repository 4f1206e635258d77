"""Calls for tests of the engine without a server, and work for engines that stand in for it."""

from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from groundwire_server.domain.graph.expansion import ExpandRequest, Expansion
from groundwire_server.domain.graph.paths import Paths, PathsRequest
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import QueryResult
from groundwire_server.domain.search.resolution import ResolveRequest, ResolveResult
from groundwire_server.domain.search.search import SearchRequest, SearchResult
from groundwire_server.domain.text_search.text_search import TextSearchRequest, TextSearchResult
from groundwire_server.domain.texts.texts import FetchRequest, FetchResult
from groundwire_server.engine.engine import RetrievalEngine
from groundwire_server.execution.call import Call, Checkpoint

Request = TypeVar("Request")
Result = TypeVar("Result")


def never_stop() -> None:
    """The checkpoint of work for which a test waits in any case."""


@dataclass(frozen=True)
class PlainCall:
    """A Call that runs each part where it is awaited."""

    stop: Checkpoint = never_stop

    def checkpoint(self) -> None:
        self.stop()

    async def compute(self, part: Callable[[], Result]) -> Result:
        self.stop()
        return part()

    async def wait_for(self, part: Callable[[], Result]) -> Result:
        return await self.compute(part)

    async def wait_until_done(self, work: Future[Result]) -> Result:
        self.stop()
        return work.result()

    async def ask_model(self, part: Callable[[], Result]) -> Result:
        return await self.compute(part)


@dataclass(frozen=True)
class PlainEngine:
    """An engine whose actions are called without an event loop."""

    engine: RetrievalEngine

    def search(self, request: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
        return done(self.engine.search(request, PlainCall(checkpoint)))

    def resolve(self, request: ResolveRequest, checkpoint: Checkpoint) -> ResolveResult:
        return done(self.engine.resolve(request, PlainCall(checkpoint)))

    def search_text(self, request: TextSearchRequest, checkpoint: Checkpoint) -> TextSearchResult:
        """As `RetrievalEngine.search_text`."""
        return done(self.engine.search_text(request, PlainCall(checkpoint)))

    def expand(self, request: ExpandRequest, checkpoint: Checkpoint) -> Expansion:
        return done(self.engine.expand(request, PlainCall(checkpoint)))

    def find_paths(self, request: PathsRequest, checkpoint: Checkpoint) -> Paths:
        return done(self.engine.find_paths(request, PlainCall(checkpoint)))

    def fetch(self, request: FetchRequest, checkpoint: Checkpoint) -> FetchResult:
        return done(self.engine.fetch(request, PlainCall(checkpoint)))

    def query(self, request: QueryRequest, checkpoint: Checkpoint) -> QueryResult:
        return done(self.engine.query(request, PlainCall(checkpoint)))


def done(action: Coroutine[Any, Any, Result]) -> Result:
    """What an action gives that waits for nothing."""
    try:
        action.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    raise AssertionError("the action waits")


def as_part(work: Callable[[Request, Checkpoint], Result]) -> Callable[[Request, Call], Awaitable[Result]]:
    """An action of an engine that is one part."""

    async def action(request: Request, call: Call) -> Result:
        return await call.compute(partial(work, request, call.checkpoint))

    return action
