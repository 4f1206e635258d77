"""Requests decode to what was sent, results encode to what was found, and nothing else gets through."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import index_pb2, retrieval_pb2, scope_pb2
from groundwire_server.domain.access import AccessContext
from groundwire_server.domain.errors import InvalidRequestError, Reason
from groundwire_server.domain.expansion import Direction, ExpandedNode, ExpandReason, ExpandRequest, Expansion
from groundwire_server.domain.indexes import IndexSummary
from groundwire_server.domain.nodes import Edge, Location
from groundwire_server.domain.scope import Scope
from groundwire_server.domain.search import (
    Filter,
    Leg,
    LegScore,
    Rerank,
    SearchDebug,
    SearchHit,
    SearchPath,
    SearchRequest,
    SearchResult,
    SearchType,
)
from groundwire_server.domain.texts import (
    FetchedText,
    FetchRequest,
    FetchResult,
    GraphNode,
    PrioritizationMode,
    SkippedNode,
    SkipReason,
    StoredText,
)
from groundwire_server.rpc.conversions.expansion import decode_expand, encode_expansion
from groundwire_server.rpc.conversions.indexes import (
    decode_index_scope,
    decode_listing,
    decode_version_scope,
    encode_index,
)
from groundwire_server.rpc.conversions.scope import decode_access
from groundwire_server.rpc.conversions.search import decode_search, encode_search
from groundwire_server.rpc.conversions.texts import decode_fetch, encode_fetch

MessageT = TypeVar("MessageT", bound=Message)

ACCESS = AccessContext(tenant_id="acme", acl_tags_any=frozenset({"finance"}))
SCOPE = scope_pb2.Scope(repository="shop", branch="main")

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
name_tuples = st.lists(names, max_size=3).map(tuple)
int32 = st.integers(-(2**31), 2**31 - 1)
counts = st.integers(0, 2**31 - 1)
float32 = st.floats(width=32, allow_nan=False)
scores = st.floats(allow_nan=False)
scopes = st.builds(Scope, names, names, names)


def over_the_wire(message: MessageT) -> MessageT:
    """The message as the other side parses it."""
    return type(message).FromString(message.SerializeToString())


def scope_message(scope: Scope) -> scope_pb2.Scope:
    return scope_pb2.Scope(repository=scope.repository, branch=scope.branch, active_index=scope.active_index)


@given(
    st.builds(
        SearchRequest,
        scope=scopes,
        access=st.just(ACCESS),
        search_type=st.none() | st.sampled_from(SearchType),
        query=names,
        top_k=int32,
        filter=st.builds(Filter, *[name_tuples] * 7),
        query_vector=st.lists(float32, max_size=4).map(tuple),
        rrf_k=int32,
        rerank=st.sampled_from(Rerank),
        explain=st.booleans(),
    )
)
def test_a_search_arrives_as_it_was_asked(request: SearchRequest) -> None:
    message = retrieval_pb2.SearchNodesRequest(
        scope=scope_message(request.scope),
        filter=scope_pb2.Filter(
            kinds=request.filter.kinds,
            data_types=request.filter.data_types,
            corpus_types=request.filter.corpus_types,
            languages=request.filter.languages,
            path_prefixes=request.filter.path_prefixes,
            collection_ids=request.filter.collection_ids,
            document_ids=request.filter.document_ids,
        ),
        search_type=retrieval_pb2.SearchType.Value(
            f"SEARCH_TYPE_{request.search_type.name if request.search_type else 'UNSPECIFIED'}"
        ),
        query=request.query,
        query_vector=request.query_vector,
        top_k=request.top_k,
        rrf_k=request.rrf_k,
        rerank=retrieval_pb2.Rerank.Value(f"RERANK_{request.rerank.name}"),
        explain=request.explain,
    )
    assert decode_search(over_the_wire(message), ACCESS) == request


@given(
    st.builds(
        ExpandRequest,
        scope=scopes,
        access=st.just(ACCESS),
        seed_ids=name_tuples,
        max_depth=st.none() | int32,
        max_nodes=int32,
        edge_allowlist=name_tuples,
        direction=st.sampled_from(Direction),
    )
)
def test_a_walk_arrives_as_it_was_asked(request: ExpandRequest) -> None:
    message = retrieval_pb2.ExpandDependencyTreeRequest(
        scope=scope_message(request.scope),
        seed_ids=request.seed_ids,
        max_depth=request.max_depth,
        max_nodes=request.max_nodes,
        edge_allowlist=request.edge_allowlist,
        direction=retrieval_pb2.Direction.Value(f"DIRECTION_{request.direction.name}"),
    )
    assert decode_expand(over_the_wire(message), ACCESS) == request


@given(
    st.builds(
        FetchRequest,
        scope=scopes,
        access=st.just(ACCESS),
        seed_ids=name_tuples,
        nodes=st.lists(st.builds(GraphNode, names, int32, names), max_size=3).map(tuple),
        budget_tokens=st.none(),
        max_chars=st.none(),
        mode=st.sampled_from(PrioritizationMode),
    ),
    st.sampled_from(["budget_tokens", "max_chars"]),
    st.none() | int32,
)
def test_a_request_for_texts_arrives_as_it_was_asked(request: FetchRequest, budget: str, amount: int | None) -> None:
    message = retrieval_pb2.FetchNodeTextsRequest(
        scope=scope_message(request.scope),
        seed_ids=request.seed_ids,
        nodes=[
            retrieval_pb2.GraphNode(id=node.id, depth=node.depth, parent_id=node.parent_id) for node in request.nodes
        ],
        prioritization_mode=retrieval_pb2.PrioritizationMode.Value(f"PRIORITIZATION_MODE_{request.mode.name}"),
    )
    if amount is not None:
        setattr(message, budget, amount)
    decoded = decode_fetch(over_the_wire(message), ACCESS)
    assert decoded.budget_tokens == (amount if budget == "budget_tokens" else None)
    assert decoded.max_chars == (amount if budget == "max_chars" else None)
    assert (decoded.scope, decoded.seed_ids, decoded.nodes, decoded.mode) == (
        request.scope,
        request.seed_ids,
        request.nodes,
        request.mode,
    )


def test_what_is_absent_takes_the_default_of_the_contract() -> None:
    search = decode_search(retrieval_pb2.SearchNodesRequest(scope=SCOPE), ACCESS)
    assert (search.search_type, search.rrf_k, search.rerank, search.filter) == (None, 60, Rerank.NONE, Filter())
    expand = decode_expand(retrieval_pb2.ExpandDependencyTreeRequest(scope=SCOPE), ACCESS)
    assert (expand.max_depth, expand.direction) == (None, Direction.OUTGOING)
    fetch = decode_fetch(retrieval_pb2.FetchNodeTextsRequest(scope=SCOPE), ACCESS)
    assert fetch.mode is PrioritizationMode.BALANCED


def test_zero_is_not_absent() -> None:
    search = decode_search(retrieval_pb2.SearchNodesRequest(scope=SCOPE, rrf_k=0), ACCESS)
    assert search.rrf_k == 0
    expand = decode_expand(retrieval_pb2.ExpandDependencyTreeRequest(scope=SCOPE, max_depth=0), ACCESS)
    assert expand.max_depth == 0


def test_a_vector_that_is_not_finite_reaches_the_engine_as_it_is() -> None:
    message = retrieval_pb2.SearchNodesRequest(scope=SCOPE, query_vector=[math.nan, math.inf])
    first, second = decode_search(over_the_wire(message), ACCESS).query_vector
    assert math.isnan(first)
    assert second == math.inf


@pytest.mark.parametrize(
    ("decode", "field"),
    [
        (
            lambda: decode_search(
                retrieval_pb2.SearchNodesRequest(scope=SCOPE, search_type=retrieval_pb2.SearchType.ValueType(9)), ACCESS
            ),
            "search_type",
        ),
        (
            lambda: decode_search(
                retrieval_pb2.SearchNodesRequest(scope=SCOPE, rerank=retrieval_pb2.Rerank.ValueType(-1)), ACCESS
            ),
            "rerank",
        ),
        (
            lambda: decode_expand(
                retrieval_pb2.ExpandDependencyTreeRequest(scope=SCOPE, direction=retrieval_pb2.Direction.ValueType(9)),
                ACCESS,
            ),
            "direction",
        ),
        (
            lambda: decode_fetch(
                retrieval_pb2.FetchNodeTextsRequest(
                    scope=SCOPE, prioritization_mode=retrieval_pb2.PrioritizationMode.ValueType(9)
                ),
                ACCESS,
            ),
            "prioritization_mode",
        ),
    ],
)
def test_an_unknown_enum_value_is_refused_by_name(decode: Callable[[], object], field: str) -> None:
    with pytest.raises(
        InvalidRequestError, match=r"which this server does not know; give one of [A-Z_0-9]+,"
    ) as caught:
        decode()
    assert [(violation.field, violation.reason) for violation in caught.value.violations] == [
        (field, Reason.VALUE_UNKNOWN)
    ]


@pytest.mark.parametrize(
    "decode",
    [
        lambda: decode_search(retrieval_pb2.SearchNodesRequest(), ACCESS),
        lambda: decode_expand(retrieval_pb2.ExpandDependencyTreeRequest(), ACCESS),
        lambda: decode_fetch(retrieval_pb2.FetchNodeTextsRequest(), ACCESS),
        lambda: decode_index_scope(index_pb2.GetIndexRequest()),
        lambda: decode_version_scope(index_pb2.ActivateIndexRequest()),
        lambda: decode_version_scope(index_pb2.DeleteIndexRequest()),
    ],
)
def test_an_absent_scope_is_refused(decode: Callable[[], object]) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        decode()
    assert [(violation.field, violation.reason) for violation in caught.value.violations] == [
        ("scope", Reason.FIELD_REQUIRED)
    ]


def test_an_empty_scope_is_left_to_the_engine() -> None:
    message = retrieval_pb2.SearchNodesRequest(scope=scope_pb2.Scope())
    assert decode_search(over_the_wire(message), ACCESS).scope == Scope("", "")


def test_every_broken_rule_is_told_at_once() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        decode_search(
            retrieval_pb2.SearchNodesRequest(
                search_type=retrieval_pb2.SearchType.ValueType(9), rerank=retrieval_pb2.Rerank.ValueType(9)
            ),
            ACCESS,
        )
    assert [violation.field for violation in caught.value.violations] == ["scope", "search_type", "rerank"]


@given(st.builds(AccessContext, names, *[st.frozensets(st.text("ab", min_size=1), max_size=3)] * 2, counts))
def test_an_access_context_arrives_as_it_was_given(access: AccessContext) -> None:
    message = scope_pb2.AccessContext(
        tenant_id=access.tenant_id,
        acl_tags_any=access.acl_tags_any,
        classification_labels_all=access.classification_labels_all,
        clearance_level=access.clearance_level,
    )
    assert decode_access(over_the_wire(message)) == access


@pytest.mark.parametrize(
    ("access", "field", "reason"),
    [
        (scope_pb2.AccessContext(tenant_id="t" * 257), "access.tenant_id", Reason.VALUE_OUT_OF_RANGE),
        (scope_pb2.AccessContext(clearance_level=-1), "access.clearance_level", Reason.VALUE_OUT_OF_RANGE),
        (scope_pb2.AccessContext(acl_tags_any=["a"] * 1025), "access.acl_tags_any", Reason.VALUE_OUT_OF_RANGE),
        (scope_pb2.AccessContext(acl_tags_any=["a", "b", "c", ""]), "access.acl_tags_any[3]", Reason.FIELD_REQUIRED),
        (scope_pb2.AccessContext(acl_tags_any=["a", "b" * 257]), "access.acl_tags_any[1]", Reason.VALUE_OUT_OF_RANGE),
        (
            scope_pb2.AccessContext(classification_labels_all=["a"] * 1025),
            "access.classification_labels_all",
            Reason.VALUE_OUT_OF_RANGE,
        ),
        (
            scope_pb2.AccessContext(classification_labels_all=["a", ""]),
            "access.classification_labels_all[1]",
            Reason.FIELD_REQUIRED,
        ),
    ],
)
def test_an_access_context_out_of_bounds_is_refused(
    access: scope_pb2.AccessContext, field: str, reason: Reason
) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        decode_access(access)
    assert [(violation.field, violation.reason) for violation in caught.value.violations] == [(field, reason)]


def test_the_bounds_of_an_access_context_are_inside() -> None:
    access = scope_pb2.AccessContext(tenant_id="t" * 256, acl_tags_any=["a" * 256] * 1024)
    assert decode_access(access) == AccessContext("t" * 256, frozenset({"a" * 256}))


@given(
    st.builds(
        SearchResult,
        hits=st.lists(
            st.builds(
                SearchHit,
                id=names,
                score=scores,
                rank=counts,
                legs=st.lists(st.builds(LegScore, st.sampled_from(Leg), counts, scores), max_size=3).map(tuple),
                matched_tokens=name_tuples,
            ),
            max_size=3,
        ).map(tuple),
        index=names,
        exact=st.booleans(),
        debug=st.none()
        | st.builds(
            SearchDebug,
            path=st.none() | st.sampled_from(SearchPath),
            filtered=st.booleans(),
            visible_count=counts,
            semantic_candidates=counts,
            bm25_candidates=counts,
            query_tokens=name_tuples,
            rrf_k=counts,
        ),
    )
)
def test_a_search_result_arrives_as_it_was_found(result: SearchResult) -> None:
    message = over_the_wire(encode_search(result))
    assert message.SerializeToString() == encode_search(result).SerializeToString()
    debug = None
    if message.HasField("debug"):
        path = retrieval_pb2.SearchPath.Name(message.debug.path).removeprefix("SEARCH_PATH_")
        debug = SearchDebug(
            path=None if path == "UNSPECIFIED" else SearchPath[path],
            filtered=message.debug.filtered,
            visible_count=message.debug.visible_count,
            semantic_candidates=message.debug.semantic_candidates,
            bm25_candidates=message.debug.bm25_candidates,
            query_tokens=tuple(message.debug.query_tokens),
            rrf_k=message.debug.rrf_k,
        )
    hits = tuple(
        SearchHit(
            id=hit.id,
            score=hit.score,
            rank=hit.rank,
            legs=tuple(
                LegScore(Leg[retrieval_pb2.SearchLeg.Name(leg.leg).removeprefix("SEARCH_LEG_")], leg.rank, leg.score)
                for leg in hit.legs
            ),
            matched_tokens=tuple(hit.matched_tokens),
        )
        for hit in message.hits
    )
    assert SearchResult(hits, message.index, message.exact, debug) == result


@given(
    st.builds(
        Expansion,
        seed_ids=name_tuples,
        nodes=st.lists(st.builds(ExpandedNode, names, counts, names), max_size=3).map(tuple),
        edges=st.lists(
            st.builds(Edge, names, names, names, st.floats(0, 1, exclude_min=True, width=32)), max_size=3
        ).map(tuple),
        reason=st.sampled_from(ExpandReason),
        index=names,
    )
)
def test_an_expansion_arrives_as_it_was_found(expansion: Expansion) -> None:
    message = over_the_wire(encode_expansion(expansion))
    assert (
        Expansion(
            seed_ids=tuple(message.seed_ids),
            nodes=tuple(ExpandedNode(node.id, node.depth, node.parent_id) for node in message.nodes),
            edges=tuple(Edge(edge.from_id, edge.to_id, edge.edge_type, edge.confidence) for edge in message.edges),
            reason=ExpandReason(message.debug.reason),
            index=message.index,
        )
        == expansion
    )
    assert message.debug == retrieval_pb2.ExpandDebug(
        seed_count=len(expansion.seed_ids),
        expanded_count=len(expansion.nodes),
        edges_count=len(expansion.edges),
        truncated=expansion.truncated,
        reason=expansion.reason.value,
    )


@given(
    st.builds(
        FetchResult,
        texts=st.lists(
            st.builds(
                FetchedText,
                id=names,
                is_seed=st.booleans(),
                depth=counts,
                parent_id=names,
                stored=st.builds(StoredText, names, counts, st.builds(Location, names, counts, counts, names), names),
            ),
            max_size=3,
        ).map(tuple),
        skipped=st.lists(st.builds(SkippedNode, names, st.sampled_from(SkipReason)), max_size=3).map(tuple),
        used_tokens=st.integers(0, 2**63 - 1),
        used_chars=st.integers(0, 2**63 - 1),
        index=names,
    )
)
def test_texts_arrive_as_they_were_found(result: FetchResult) -> None:
    message = over_the_wire(encode_fetch(result))
    texts = tuple(
        FetchedText(
            id=text.id,
            is_seed=text.is_seed,
            depth=text.depth,
            parent_id=text.parent_id,
            stored=StoredText(
                text.text,
                text.token_count,
                Location(
                    text.location.path, text.location.start_line, text.location.end_line, text.location.content_hash
                ),
                text.symbol,
            ),
        )
        for text in message.texts
    )
    skipped = tuple(
        SkippedNode(node.id, SkipReason[retrieval_pb2.SkipReason.Name(node.reason).removeprefix("SKIP_REASON_")])
        for node in message.skipped
    )
    assert FetchResult(texts, skipped, message.used_tokens, message.used_chars, message.index) == result


def test_an_index_arrives_as_it_is(summary: IndexSummary) -> None:
    message = over_the_wire(encode_index(summary))
    assert message.create_time.ToDatetime(UTC) == datetime(2025, 12, 14, 9, 30, tzinfo=UTC)
    for field in message.DESCRIPTOR.fields:
        if field.name != "create_time":
            assert getattr(message, field.name) == getattr(summary, field.name), field.name


def test_a_listing_takes_any_names_or_given_ones() -> None:
    assert decode_listing(index_pb2.ListIndexesRequest()) == ("", "")
    assert decode_listing(index_pb2.ListIndexesRequest(repository="shop", branch="main")) == ("shop", "main")
    with pytest.raises(InvalidRequestError) as caught:
        decode_listing(index_pb2.ListIndexesRequest(repository="a::b", branch=" "))
    assert [(violation.field, violation.reason) for violation in caught.value.violations] == [
        ("repository", Reason.VALUE_MALFORMED),
        ("branch", Reason.VALUE_MALFORMED),
    ]


def test_the_names_of_an_index_are_checked() -> None:
    assert decode_index_scope(index_pb2.GetIndexRequest(scope=SCOPE)) == Scope("shop", "main")
    with pytest.raises(InvalidRequestError) as caught:
        decode_index_scope(index_pb2.GetIndexRequest(scope=scope_pb2.Scope(branch="a::b", active_index="../x")))
    assert [(violation.field, violation.reason) for violation in caught.value.violations] == [
        ("scope.repository", Reason.FIELD_REQUIRED),
        ("scope.branch", Reason.VALUE_MALFORMED),
        ("scope.active_index", Reason.VALUE_MALFORMED),
    ]


@pytest.mark.parametrize("kind", [index_pb2.ActivateIndexRequest, index_pb2.DeleteIndexRequest])
def test_a_change_names_its_version(
    kind: type[index_pb2.ActivateIndexRequest] | type[index_pb2.DeleteIndexRequest],
) -> None:
    pinned = scope_pb2.Scope(repository="shop", branch="main", active_index="v2")
    assert decode_version_scope(kind(scope=pinned)) == Scope("shop", "main", "v2")
    with pytest.raises(InvalidRequestError) as caught:
        decode_version_scope(kind(scope=SCOPE))
    assert [(violation.field, violation.reason) for violation in caught.value.violations] == [
        ("scope.active_index", Reason.FIELD_REQUIRED)
    ]
