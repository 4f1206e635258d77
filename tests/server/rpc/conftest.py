"""A real server on a free port over a mocked engine and index directory, and calls that are expected to fail."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias, cast
from unittest.mock import Mock, create_autospec

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2
from grpc_status import rpc_status

from groundwire.evidence.evidence_nodes import Evidence
from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2
from groundwire_index.nodes.node import Location
from groundwire_server.backends.index_directory import IndexDirectory
from groundwire_server.config import Settings
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.evidence.evidence import EvidenceResult
from groundwire_server.domain.graph.expansion import ExpandReason, Expansion
from groundwire_server.domain.graph.paths import Paths, PathsReason
from groundwire_server.domain.indexes import IndexNames, IndexSummary
from groundwire_server.domain.query.query import FusionMode, QueryClass
from groundwire_server.domain.query.query_result import AppliedParameters, QueryResult, RetrieveMeta, Routing
from groundwire_server.domain.query.ranking_parameters import RankingParameters
from groundwire_server.domain.search.resolution import ResolveResult
from groundwire_server.domain.search.search import NodeLabel, SearchHit, SearchResult, SearchType
from groundwire_server.domain.text_search.text_search import TextSearchResult
from groundwire_server.domain.texts.texts import FetchResult
from groundwire_server.engine.engine import RetrievalEngine
from groundwire_server.rpc.identity.authenticator import Authenticator
from groundwire_server.rpc.serving.server import GroundwireServer
from support.calls import as_part

QUERY_META = RetrieveMeta(
    routing=Routing("", "", "", "", "", (), ""),
    took_ms=0.0,
    query_class=QueryClass.NATURAL_LANGUAGE,
    fusion=FusionMode.ADAPTIVE,
    weights=(),
    parameters=AppliedParameters(top_k=5),
    ranking=RankingParameters(),
    matches_returned=0,
    list_lengths=(),
    lexical_candidates=0,
    fused_candidates=0,
    deleted_matches_blocked=0,
    visibility_effective=Lifecycle.ACTIVE,
    boost_rules=(),
    now=datetime(2026, 1, 1, tzinfo=UTC),
    exact=True,
    truncated=False,
    used_tokens=0,
)


@dataclass(frozen=True)
class Failure:
    """A failed call as its caller sees it."""

    code: grpc.StatusCode
    message: str
    info: error_details_pb2.ErrorInfo
    violations: list[tuple[str, str]]
    retry_seconds: float | None
    trailers: dict[str, str | bytes]


Serving: TypeAlias = Callable[..., AbstractAsyncContextManager[GroundwireServer]]
Failed: TypeAlias = Callable[[Awaitable[object]], Awaitable[Failure]]
HealthOf: TypeAlias = Callable[..., Awaitable[int]]


@pytest.fixture
def engine() -> Mock:
    """An engine with one answer for each action."""
    mock: Mock = create_autospec(RetrievalEngine, instance=True)
    mock.search.return_value = SearchResult(
        hits=(SearchHit(NodeLabel("shop::main::cs::A", "A", Location("a.cs", 1, 2, "0" * 64)), 0.5, 1),),
        index="v1",
        search_type=SearchType.HYBRID,
    )
    mock.resolve.return_value = ResolveResult((), "v1")
    mock.search_text.return_value = TextSearchResult((), (), False, "v1")
    mock.gather_evidence.return_value = EvidenceResult(Evidence(), {}, {}, {}, weakness=None, exact=True, index="v1")
    mock.expand.return_value = Expansion((), (), (), ExpandReason.NO_SEEDS, "v1")
    mock.find_paths.return_value = Paths((), (), 0, 0, 0, 1, PathsReason.NO_ENDS, "v1")
    mock.fetch.return_value = FetchResult((), (), 0, 0, "v1")
    mock.query.return_value = QueryResult((), (), QUERY_META, "v1")
    # Answers are computed by turns, as those of an engine are.
    mock.expand.side_effect = as_part(lambda *_: mock.expand.return_value)
    mock.search.side_effect = as_part(lambda *_: mock.search.return_value)
    mock.query.side_effect = as_part(lambda *_: mock.query.return_value)
    return mock


@pytest.fixture
def summary() -> IndexSummary:
    """One index version."""
    return IndexSummary(
        repository="shop",
        branch="main",
        version="v1",
        active=True,
        created=datetime(2025, 12, 14, 9, 30, tzinfo=UTC),
        source="source tree shop",
        node_count=7,
        edge_count=5,
        embedder="minilm",
        embedder_fingerprint="f" * 64,
        dimension=384,
        lexical=True,
        token_counter="o200k_base",
        link_template="https://git.example/shop/{path}#L{start_line}",
    )


@pytest.fixture
def indexes(summary: IndexSummary) -> Mock:
    """An index directory that holds one version."""
    mock: Mock = create_autospec(IndexDirectory, instance=True)
    mock.list_indexes.return_value = (summary,)
    mock.get_index.return_value = summary, IndexNames(("cs", "sql"), ("csharp",), ("Calls", "ReadsFrom"), ("src/tax/",))
    mock.activate.return_value = "v0"
    return mock


@pytest.fixture
def serving(engine: Mock, indexes: Mock) -> Serving:
    """`serving(**settings)` runs a server over the two mocks for the length of an `async with`.

    It identifies callers by what `authenticator` makes of the settings, where that is given.
    """

    @asynccontextmanager
    async def run(
        authenticator: Callable[[Settings], Authenticator] | None = None, **values: object
    ) -> AsyncIterator[GroundwireServer]:
        settings = Settings.model_validate({"listen": "127.0.0.1:0", **values})
        callers = None if authenticator is None else authenticator(settings)
        server = GroundwireServer(settings, engine, indexes, authenticator=callers)
        await server.start()
        try:
            yield server
        finally:
            await server.stop()

    return run


@pytest.fixture
def search_request() -> retrieval_pb2.SearchNodesRequest:
    """A search that is in order."""
    return retrieval_pb2.SearchNodesRequest(
        scope=scope_pb2.IndexScope(repository="shop", branch="main"),
        search_type=retrieval_pb2.SEARCH_TYPE_BM25,
        query="needle in a haystack",
        top_k=5,
    )


@pytest.fixture
def query_request() -> query_pb2.QueryRequest:
    """A query that is in order."""
    return query_pb2.QueryRequest(
        scope=scope_pb2.IndexScope(repository="shop", branch="main"),
        query="needle in a haystack",
        hybrid=query_pb2.HybridParameters(),
    )


@pytest.fixture
def failed() -> Failed:
    """`await failed(call)`: how the call failed; it must fail, and with google.rpc details."""

    async def fail(call: Awaitable[object]) -> Failure:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
        error = caught.value
        status = rpc_status.from_call(cast("grpc.Call", error))
        assert status is not None, f"no details: {error!r}"
        info, bad_request, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), None
        for detail in status.details:
            detail.Unpack(info)
            detail.Unpack(bad_request)
            if detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
                retry = error_details_pb2.RetryInfo.FromString(detail.value).retry_delay.ToMilliseconds() / 1000
        assert info.domain == "groundwire"
        violations = [(violation.field, violation.reason) for violation in bad_request.field_violations]
        return Failure(error.code(), status.message, info, violations, retry, dict(error.trailing_metadata()))

    return fail


@pytest.fixture
def health_of() -> HealthOf:
    """`await health_of(channel, service="")`: a service's health as a number of the health protocol."""

    async def check(channel: grpc.aio.Channel, service: str = "") -> int:
        method: grpc.aio.UnaryUnaryMultiCallable[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]
        method = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        return (await method(health_pb2.HealthCheckRequest(service=service), timeout=300)).status

    return check
