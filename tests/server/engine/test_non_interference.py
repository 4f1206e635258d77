"""What a caller may not see has no influence on what it gets, tested literally.

Every answer over an index equals the answer over an index that never held the hidden nodes; a scope of which nothing
is visible answers as a scope that never was.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from groundwire_index.nodes.node import Edge, Node, NodeAccess
from groundwire_index.scope import Scope
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.retrievers.semantic import PathLimits
from groundwire_server.domain.access.access import AccessContext, may_see
from groundwire_server.domain.access.grants import UNLIMITED
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import GroundwireError
from groundwire_server.domain.graph.expansion import Direction, ExpandRequest
from groundwire_server.domain.graph.paths import PathsRequest
from groundwire_server.domain.indexes import IndexNames, IndexSummary
from groundwire_server.domain.search.resolution import ResolveRequest
from groundwire_server.domain.search.search import Filter, Rerank, SearchRequest, SearchType
from groundwire_server.domain.text_search.text_search import TextSearchRequest
from groundwire_server.domain.texts.texts import FetchRequest, PrioritizationMode, RequestedText
from groundwire_server.engine.rerankers.rerank import KeywordReranker, Rerankers
from support import bound_oracle
from support.calls import PlainEngine, never_stop
from support.engines import engine_over
from support.properties import costly
from support.semantic_paths import PATHS as SEMANTIC_PATHS
from support.semantic_paths import taking

SCOPE = Scope("shop", "main")
VERSIONS = ["v1", "v2"]
PREFIX = "shop::main::cs::"

TEXTS = ["", "getUser", "tax", "getUser tax", "tax tax id", "invoice of a user", "secret tax"]
VECTORS = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0), (1.0, 2.0, 3.0), (-1.0, 0.3, 1.0)]
PATHS = ["src/a", "src/b", "db"]
TYPES = ["Calls", "FK", "cs_dep"]

accesses = st.sampled_from(
    [
        NodeAccess(),
        NodeAccess(),
        NodeAccess(acl_tags=("a",)),
        NodeAccess(acl_tags=("a", "b")),
        NodeAccess(tenant_id="t"),
        NodeAccess(classification_labels=("x", "y")),
        NodeAccess(clearance_level=2),
    ]
)
callers = st.sampled_from(
    [
        AccessContext(),
        AccessContext(),
        AccessContext(acl_tags_any=frozenset("b")),
        AccessContext(tenant_id="t", classification_labels_all=frozenset("x")),
        AccessContext(classification_labels_all=frozenset("xy"), clearance_level=1),
        AccessContext("t", frozenset("ab"), frozenset("xy"), 2),
    ]
)


@dataclass(frozen=True)
class Caller:
    """What a caller holds, and what it is bound to."""

    held: AccessContext
    bound: bound_oracle.Bound

    @property
    def access(self) -> AccessContext:
        return replace(self.held, bounds=self.bound.bounds)

    def sees(self, node: Node) -> bool:
        return may_see(node.access, self.held) and self.bound.admits_node(node)


bound_callers = st.builds(Caller, callers, bound_oracle.bounds)


@dataclass(frozen=True)
class Version:
    """The content of one index version; vectors are by node id."""

    nodes: list[Node]
    edges: list[Edge]
    vectors: dict[str, tuple[float, ...] | None]

    def as_seen_by(self, caller: Caller) -> "Version":
        """The visible nodes and the edges between them."""
        nodes = [node for node in self.nodes if caller.sees(node)]
        ids = {node.id for node in nodes}
        return Version(nodes, [edge for edge in self.edges if {edge.from_id, edge.to_id} <= ids], self.vectors)


MakeNode = Callable[..., Node]
# Mostly within what a caller may be bound to, so that something is left.
places = st.fixed_dictionaries(
    {
        "collection_id": st.sampled_from(("red", "red", "", "blue")),
        "case_id": st.sampled_from(("red", "red", "", "reed")),
        "document_id": st.sampled_from(("red", "red", "", "blue")),
        "document_version_id": st.sampled_from(("red", "red", "", "reed")),
        "metadata": st.just({"workflow_id": "red"}) | bound_oracle.workflows,
    }
)


@st.composite
def versions(draw: st.DrawFn, make_node: MakeNode) -> Version:
    nodes = [
        make_node(f"N{number}", text, access=access, path=path, symbol=symbol, token_count=tokens, **flags, **place)
        for number, (text, access, path, symbol, tokens, flags, place) in enumerate(
            draw(
                st.lists(
                    st.tuples(
                        st.sampled_from(TEXTS),
                        accesses,
                        st.sampled_from(PATHS),
                        st.sampled_from(["", "S"]),
                        st.integers(0, 9),
                        st.fixed_dictionaries(
                            {"is_test": st.booleans(), "deleted": st.sampled_from([False, False, True])}
                        ),
                        places,
                    ),
                    min_size=1,
                    max_size=8,
                )
            )
        )
    ]
    ends = st.sampled_from([node.id for node in nodes])
    edges = st.builds(Edge, ends, ends, st.sampled_from(TYPES), st.sampled_from([0.5, 1.0]))
    chosen = draw(st.lists(edges, unique_by=lambda edge: (edge.from_id, edge.to_id, edge.edge_type), max_size=10))
    vectors = draw(st.lists(st.sampled_from([*VECTORS, *VECTORS, None]), min_size=len(nodes), max_size=len(nodes)))
    return Version(nodes, chosen, dict(zip([node.id for node in nodes], vectors, strict=True)))


ids = st.sampled_from([*(f"{PREFIX}N{number}" for number in range(8)), f"{PREFIX}absent"])
lifecycles = st.sampled_from([Lifecycle.ACTIVE, Lifecycle.ACTIVE, Lifecycle.ALL, Lifecycle.DELETED])
scopes = st.sampled_from([SCOPE, SCOPE, *(replace(SCOPE, active_index=version) for version in [*VERSIONS, "v9"])])


filters = st.just(Filter()) | st.builds(
    Filter,
    path_prefixes=st.sampled_from([(), ("src/",), ("db", "src/b"), ("none",)]),
    is_test=st.sampled_from([None, True, False]),
    collection_ids=st.sampled_from([(), (), ("red", "blue"), ("blue",)]),
)


@st.composite
def searches(draw: st.DrawFn, caller: AccessContext) -> SearchRequest:
    search_type = draw(st.sampled_from(SearchType))
    rerank = draw(st.sampled_from([Rerank.NONE, Rerank.KEYWORD])) if search_type is SearchType.SEMANTIC else Rerank.NONE
    return SearchRequest(
        scope=draw(scopes),
        access=caller,
        search_type=search_type,
        query=draw(st.sampled_from(["tax", "get user secret", "id tax tax", "the", "invoice"])),
        top_k=draw(st.integers(1, 8)),
        filter=draw(filters),
        query_vector=() if search_type is SearchType.BM25 else draw(st.sampled_from(VECTORS)),
        rrf_k=draw(st.sampled_from([1, 60])),
        rerank=rerank,
        explain=draw(st.booleans()),
        lifecycle=draw(lifecycles),
    )


@st.composite
def resolutions(draw: st.DrawFn, caller: AccessContext) -> ResolveRequest:
    names = ids | st.sampled_from(["tax", "Tax.Rate", "src/a.cs:3", "the invoice", "secre"])
    return ResolveRequest(
        scope=draw(scopes),
        access=caller,
        names=tuple(draw(st.lists(names, min_size=1, max_size=4))),
        max_nodes=draw(st.integers(1, 8)),
        filter=draw(filters),
        lifecycle=draw(lifecycles),
    )


@st.composite
def line_searches(draw: st.DrawFn, caller: AccessContext) -> TextSearchRequest:
    return TextSearchRequest(
        scope=draw(scopes),
        access=caller,
        pattern=draw(st.sampled_from(["tax", "e", "^", ".*", "user|secret", "a\nb"])),
        regex=draw(st.booleans()),
        multiline=draw(st.booleans()),
        max_matches=draw(st.integers(1, 8)),
        context_lines=draw(st.integers(0, 2)),
        filter=draw(filters),
        lifecycle=draw(lifecycles),
    )


@st.composite
def walks(draw: st.DrawFn, caller: AccessContext) -> ExpandRequest:
    return ExpandRequest(
        scope=draw(scopes),
        access=caller,
        seed_ids=tuple(draw(st.lists(ids, min_size=1, max_size=4))),
        max_depth=draw(st.integers(0, 4)),
        max_nodes=draw(st.integers(1, 12)),
        edge_allowlist=draw(st.sampled_from([("*",), ("CALLS",), ("fk", "cs_dep", "absent")])),
        direction=draw(st.sampled_from(Direction)),
        filter=draw(filters),
        min_confidence=draw(st.sampled_from([0.0, 0.5, 0.75])),
        lifecycle=draw(lifecycles),
    )


@st.composite
def path_searches(draw: st.DrawFn, caller: AccessContext) -> PathsRequest:
    return PathsRequest(
        scope=draw(scopes),
        access=caller,
        from_ids=tuple(draw(st.lists(ids, min_size=1, max_size=4))),
        to_ids=tuple(draw(st.lists(ids, min_size=1, max_size=4))),
        max_hops=draw(st.integers(1, 6)),
        max_paths=draw(st.integers(1, 12)),
        max_nodes=draw(st.integers(1, 12)),
        edge_allowlist=draw(st.sampled_from([("*",), ("CALLS",), ("fk", "cs_dep", "absent")])),
        direction=draw(st.sampled_from(Direction)),
        filter=draw(filters),
        min_confidence=draw(st.sampled_from([0.0, 0.5, 0.75])),
        lifecycle=draw(lifecycles),
    )


@st.composite
def fetches(draw: st.DrawFn, caller: AccessContext) -> FetchRequest:
    graph = st.builds(RequestedText, ids, st.integers(1, 3), ids | st.just(""))
    by_tokens = draw(st.booleans())
    limit = draw(st.integers(1, 30))
    return FetchRequest(
        scope=draw(scopes),
        access=caller,
        seed_ids=tuple(draw(st.lists(ids, min_size=1, max_size=4))),
        nodes=tuple(draw(st.lists(graph, max_size=5, unique_by=lambda node: node.id))),
        budget_tokens=limit if by_tokens else None,
        max_chars=None if by_tokens else limit,
        mode=draw(st.sampled_from(PrioritizationMode)),
        filter=draw(filters),
        lifecycle=draw(lifecycles),
    )


Publish = Callable[..., None]
Scratch = Callable[[], AbstractContextManager[Path]]
Serving = Callable[[dict[str, Version]], AbstractContextManager[tuple[PlainEngine, EmbeddedBackend]]]


@pytest.fixture(scope="session")
def serving(publish: Publish, scratch: Scratch) -> Serving:
    """`with serving({version: content}) as (engine, backend)`: the first is active; an empty one is not there."""

    @contextmanager
    def served(contents: dict[str, Version]) -> Iterator[tuple[PlainEngine, EmbeddedBackend]]:
        with scratch() as data:
            for position, (name, content) in enumerate(contents.items()):
                if content.nodes:
                    vectors = [content.vectors[node.id] for node in content.nodes]
                    scope = replace(SCOPE, active_index=name)
                    publish(data, content.nodes, content.edges, vectors, scope=scope, activate=position == 0)
            backend = EmbeddedBackend(data)
            rerankers = Rerankers(KeywordReranker(widen_factor=2))
            yield engine_over(backend, rerankers=rerankers, override_tags=frozenset({"*"})), backend

    return served


Answer = object
Request = SearchRequest | ResolveRequest | TextSearchRequest | ExpandRequest | PathsRequest | FetchRequest


def answer(call: Callable[[], Answer]) -> Answer:
    """What a caller learns: the answer, or everything that the error tells."""
    try:
        return call()
    except GroundwireError as error:
        event(str(error.reason))
        return type(error), error.reason, error.message, dict(error.metadata)


def undated(summary: IndexSummary) -> IndexSummary:
    return replace(summary, created=None)  # type: ignore[arg-type]


def described(backend: EmbeddedBackend, scope: Scope, caller: AccessContext) -> tuple[IndexSummary, IndexNames]:
    summary, names = backend.get_index(scope, caller)
    return undated(summary), names


def act(engine: PlainEngine, request: Request) -> Answer:
    if isinstance(request, SearchRequest):
        return engine.search(request, never_stop)
    if isinstance(request, ResolveRequest):
        return engine.resolve(request, never_stop)
    if isinstance(request, TextSearchRequest):
        return engine.search_text(request, never_stop)
    if isinstance(request, ExpandRequest):
        return engine.expand(request, never_stop)
    if isinstance(request, PathsRequest):
        return engine.find_paths(request, never_stop)
    return engine.fetch(request, never_stop)


def answers(
    engine: PlainEngine, backend: EmbeddedBackend, requests: list[Request], caller: AccessContext
) -> list[Answer]:
    replies = [answer(partial(act, engine, request)) for request in requests]
    for version in ["", *VERSIONS, "v9"]:
        replies.append(answer(partial(described, backend, replace(SCOPE, active_index=version), caller)))
    replies.append([undated(summary) for summary in backend.list_indexes("", "", caller, UNLIMITED.scopes, never_stop)])
    return replies


@costly()
@given(data=st.data(), caller=bound_callers, limits=st.sampled_from(SEMANTIC_PATHS))
def test_answers_equal_those_of_an_index_that_never_held_the_hidden_nodes(
    data: st.DataObject, caller: Caller, limits: PathLimits, make_node: MakeNode, serving: Serving
) -> None:
    names = data.draw(st.sampled_from([VERSIONS[:1], VERSIONS[:1], VERSIONS]))
    full = {name: data.draw(versions(make_node)) for name in names}
    trimmed = {name: content.as_seen_by(caller) for name, content in full.items()}
    requests: list[Request] = []
    for _ in range(4):
        requests += [
            data.draw(searches(caller.access)),
            data.draw(resolutions(caller.access)),
            data.draw(line_searches(caller.access)),
            data.draw(walks(caller.access)),
            data.draw(path_searches(caller.access)),
            data.draw(fetches(caller.access)),
        ]
    with taking(limits):
        with serving(full) as parts:
            over_the_full_index = answers(*parts, requests, caller.access)
        with serving(trimmed) as parts:
            over_the_trimmed_index = answers(*parts, requests, caller.access)
    event("nothing visible" if not trimmed["v1"].nodes else "something visible")
    assert over_the_full_index == over_the_trimmed_index
