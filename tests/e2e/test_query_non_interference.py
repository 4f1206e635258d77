"""What a caller may not see, and what a source has deleted, changes nothing in the answer to a query but its timings.

Two servers answer the same queries: one over a whole index, one over the index that never held the hidden nodes. The
oracle for "hidden" is written here apart from the product's rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import cast

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, scope_pb2
from groundwire_index.scope import Scope
from groundwire_ingest.jsonl.jsonl import JsonlSource
from support.program import write_jsonl
from support.properties import costly
from support.storage import Storage

WORDS = ("invoice", "Tax", "total_amount", "getUser", "deploy")
SERVICES, DOCUMENTS, CHANNELS = ("", "auth", "orders"), ("", "guide", "log"), ("", "incident")
CORPORA = ("CODE_LOGIC", "CODE_DEPLOY", "CONVO_SLACK")
TIMES = ("2025-01-01T10:00:00Z", "2025-05-31T00:00:00.000250Z", "2026-01-01T00:00:00Z")
EDGE_TYPES = ("Contains", "Calls", "CallsService", "RedefinedBy")
OVERRIDE_TAG = "auditor"
_branch_numbers = count()


@dataclass(frozen=True)
class Caller:
    tenant: str
    tags: frozenset[str]
    level: int
    workflows: tuple[str, ...] | None

    def sees(self, node: dict[str, object]) -> bool:
        metadata = node["metadata"]
        assert isinstance(metadata, dict)
        if self.workflows is not None and metadata.get("workflow_id") not in self.workflows:
            return False
        tags = node["acl_tags"]
        assert isinstance(tags, list)
        level = node["clearance_level"]
        assert isinstance(level, int)
        return (
            node["tenant_id"] in ("", self.tenant) and (not tags or bool(self.tags & set(tags))) and level <= self.level
        )

    def message(self) -> scope_pb2.AccessContext:
        return scope_pb2.AccessContext(
            tenant_id=self.tenant,
            acl_tags_any=sorted(self.tags),
            clearance_level=self.level,
            workflows=None if self.workflows is None else scope_pb2.Bound(values=self.workflows),
        )


@dataclass(frozen=True)
class Corpus:
    nodes: tuple[dict[str, object], ...]
    edges: tuple[tuple[int, int, str, float], ...]

    def records(self, kept: frozenset[int]) -> list[dict[str, object]]:
        edges: list[dict[str, object]] = [
            {"type": "edge", "from": f"cs::N{a:02}", "to": f"cs::N{b:02}", "edge_type": edge_type, "confidence": sure}
            for a, b, edge_type, sure in self.edges
            if {a, b} <= kept
        ]
        return [*(self.nodes[place] for place in sorted(kept)), *edges]


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    size = draw(st.integers(min_value=1, max_value=10))
    nodes = tuple(_node(draw, place) for place in range(size))
    places = st.integers(min_value=0, max_value=size - 1)
    edges = st.frozensets(
        st.tuples(places, places, st.sampled_from(EDGE_TYPES), st.sampled_from((0.5, 0.9, 1.0))), max_size=2 * size
    )
    distinct = {edge[:3]: edge for edge in sorted(draw(edges))}
    return Corpus(nodes, tuple(distinct.values()))


def _node(draw: st.DrawFn, place: int) -> dict[str, object]:
    def one_of(*values: object) -> object:
        return draw(st.sampled_from(values))

    return {
        "type": "node",
        "kind": "cs",
        "local_id": f"N{place:02}",
        "text": " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=5))),
        "symbol": one_of("", "Shop.getUser", "Shop.getUsers", "total_amount"),
        "path": one_of("", "src/a.cs", "src/b.cs"),
        "corpus_type": one_of(*CORPORA),
        "document_id": one_of(*DOCUMENTS),
        "chunk_index": one_of(0, 1, 2),
        "service_name": one_of(*SERVICES),
        "collection_id": one_of("", "wiki", "chat"),
        "channel": one_of(*CHANNELS),
        **draw(st.sampled_from(({}, *({"timestamp": time} for time in TIMES)))),
        "is_latest": one_of(True, False),
        "is_test": one_of(False, False, True),
        "is_generated": one_of(False, False, True),
        "deleted": one_of(False, False, True),
        "metadata": one_of(
            {"workflow_id": "w"}, {"team": "a"}, {"team": ["a", "b"], "process": "p", "workflow_id": "w"}
        ),
        "tenant_id": one_of("", "", "acme"),
        "acl_tags": one_of([], [], ["fin"], ["sec", "fin"]),
        "clearance_level": one_of(0, 0, 2),
        "vector": draw(st.lists(st.integers(min_value=-1, max_value=2), min_size=3, max_size=3).filter(any)),
    }


callers = st.builds(
    Caller,
    st.sampled_from(("", "acme")),
    st.frozensets(st.sampled_from(("fin", "sec", OVERRIDE_TAG))),
    st.integers(min_value=0, max_value=2),
    st.none() | st.sampled_from((("w",), ("absent",))),
)


@st.composite
def query_requests(draw: st.DrawFn) -> query_pb2.QueryRequest:
    every_source = (
        retrieval_pb2.RETRIEVER_DENSE,
        retrieval_pb2.RETRIEVER_BM25_CODE,
        retrieval_pb2.RETRIEVER_BM25_PROSE,
        retrieval_pb2.RETRIEVER_TRIGRAM,
    )
    sources = draw(st.lists(st.sampled_from(every_source), unique=True))
    request = query_pb2.QueryRequest(
        query=draw(st.sampled_from(WORDS)) + " " + " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=3))),
        hybrid=query_pb2.HybridParameters(
            min_sim=draw(st.sampled_from((None, 0.0, 0.15, 0.7))),
            trgm_limit=draw(st.sampled_from((0.0, 0.3))),
            vec_limit=draw(st.integers(min_value=1, max_value=6)),
            lex_limit=draw(st.integers(min_value=1, max_value=6)),
            diversify_strength=draw(st.sampled_from((0.0, 0.5))),
        ),
        top_k=draw(st.integers(min_value=1, max_value=6)),
        retrievers=sources,
        fusion=query_pb2.FusionMode.Name(draw(st.integers(min_value=0, max_value=3))),
        freshness_weight=draw(st.sampled_from((0.0, 0.5))),
        include_parents=draw(st.booleans()),
        include_neighbors=draw(st.booleans()),
        expand_graph=draw(st.booleans()),
        not_found_when_empty=draw(st.booleans()),
        filter=draw(
            st.sampled_from(
                (
                    None,
                    scope_pb2.NodeFilter(service_names=["auth"]),
                    scope_pb2.NodeFilter(tenant_ids=["acme"], is_latest=True),
                    scope_pb2.NodeFilter(corpus_types=["CODE_LOGIC", "CONVO_SLACK"], document_ids=["guide"]),
                )
            )
        ),
        process=draw(st.sampled_from(("", "", "p"))),
        query_vector=draw(st.sampled_from(([1.0, 0.5, 0.0], [0.0, 1.0, -1.0])))
        if not sources or retrieval_pb2.RETRIEVER_DENSE in sources
        else (),
    )
    request.hybrid.max_candidates = max(
        request.top_k, request.hybrid.vec_limit, request.hybrid.lex_limit, draw(st.integers(1, 20))
    )
    request.now.FromJsonString("2025-06-01T00:00:00Z")
    return request


def publish(storage: Storage, scope: Scope, corpus: Corpus, kept: frozenset[int]) -> None:
    """Builds and activates an index of the corpus's kept nodes and the edges between them."""
    source = write_jsonl(storage.data.parent / f"{scope.branch}.jsonl", corpus.records(kept))
    storage.build(JsonlSource(source), scope)


@pytest.fixture(scope="module")
def stubs(whole_and_trimmed: tuple[Storage, Storage]) -> Iterator[tuple[query_pb2_grpc.QueryServiceStub, ...]]:
    """A stub of the server over each storage; both route the process `p`."""
    whole, trimmed = whole_and_trimmed
    routing = whole.data.with_name("routing.yaml")
    routing.write_text("rules: [{name: p, when: {process: p}, collections: [wiki, c]}]")
    environment = {"GROUNDWIRE_LIFECYCLE_OVERRIDE_ACL_TAGS": OVERRIDE_TAG, "GROUNDWIRE_ROUTING": str(routing)}
    with (
        whole.server("--embedder", "none", environment=environment) as first,
        trimmed.server("--embedder", "none", environment=environment) as second,
        grpc.insecure_channel(first.address) as to_whole,
        grpc.insecure_channel(second.address) as to_trimmed,
    ):
        yield query_pb2_grpc.QueryServiceStub(to_whole), query_pb2_grpc.QueryServiceStub(to_trimmed)


def answer(stub: query_pb2_grpc.QueryServiceStub, request: query_pb2.QueryRequest) -> tuple[object, ...]:
    """The serialised response without its timings, or the whole error."""
    try:
        response = stub.Query(request, timeout=300)
    except grpc.RpcError as error:
        failed = cast("grpc.Call", error)
        details = [value for key, value in failed.trailing_metadata() or () if key == "grpc-status-details-bin"]
        return (failed.code(), failed.details(), details)
    assert response.meta.took_ms > 0
    response.meta.ClearField("took_ms")
    return ("ok", response.SerializeToString())


def test_hidden_nodes_change_no_byte(
    whole_and_trimmed: tuple[Storage, Storage], stubs: tuple[query_pb2_grpc.QueryServiceStub, ...]
) -> None:
    whole_storage, trimmed_storage = whole_and_trimmed

    # Over the wire an example takes five times what it takes in tests/server/backends, where the same is tested.
    @settings(max_examples=whole_storage.examples(costly().max_examples))
    @given(
        corpus=corpora(),
        caller=callers,
        # Several queries an index: building it costs more than asking it.
        requests=st.lists(st.tuples(query_requests(), st.integers(min_value=0, max_value=3)), min_size=4, max_size=4),
    )
    def check(corpus: Corpus, caller: Caller, requests: list[tuple[query_pb2.QueryRequest, int]]) -> None:
        scope = Scope("shop", f"b{next(_branch_numbers)}", "v1")
        everything = frozenset(range(len(corpus.nodes)))
        visible = frozenset(place for place in everything if caller.sees(corpus.nodes[place]))
        publish(whole_storage, scope, corpus, everything)
        if visible:  # an index that never held a node is no index
            publish(trimmed_storage, scope, corpus, visible)
        for request, lifecycle in requests:
            request.scope.MergeFrom(scope_pb2.IndexScope(repository=scope.repository, branch=scope.branch))
            request.access.MergeFrom(caller.message())
            if OVERRIDE_TAG in caller.tags:
                request.MergeFrom(query_pb2.QueryRequest(lifecycle=scope_pb2.Lifecycle.Name(lifecycle)))
            whole, trimmed = (answer(stub, request) for stub in stubs)
            assert whole == trimmed
            assert whole[0] in ("ok", grpc.StatusCode.NOT_FOUND)
            assert whole[0] == "ok" or not visible or request.not_found_when_empty

    check()


def test_deleted_nodes_change_nothing_but_their_count(
    whole_and_trimmed: tuple[Storage, Storage], stubs: tuple[query_pb2_grpc.QueryServiceStub, ...]
) -> None:
    whole_storage, trimmed_storage = whole_and_trimmed

    @settings(max_examples=whole_storage.examples(costly().max_examples))
    @given(corpus=corpora(), requests=st.lists(query_requests(), min_size=4, max_size=4))
    def check(corpus: Corpus, requests: list[query_pb2.QueryRequest]) -> None:
        scope = Scope("shop", f"b{next(_branch_numbers)}", "v1")
        caller = Caller("acme", frozenset(("fin", "sec")), 2, None)
        everything = frozenset(range(len(corpus.nodes)))
        active = frozenset(place for place in everything if not corpus.nodes[place]["deleted"])
        if not active:
            return
        publish(whole_storage, scope, corpus, everything)
        publish(trimmed_storage, scope, corpus, active)
        for request in requests:
            request.scope.MergeFrom(scope_pb2.IndexScope(repository=scope.repository, branch=scope.branch))
            request.access.MergeFrom(caller.message())
            request.not_found_when_empty = False
            whole, trimmed = (stub.Query(request, timeout=300) for stub in stubs)
            for response in (whole, trimmed):
                for field in ("took_ms", "deleted_matches_blocked"):
                    response.meta.ClearField(field)
            assert whole.SerializeToString() == trimmed.SerializeToString()

    check()
