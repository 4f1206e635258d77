"""Requests and responses against the proto's descriptors: a field that the client forgets fails here."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from enum import StrEnum
from typing import Any

import pytest
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from groundwire.v1 import index_pb2, retrieval_pb2, scope_pb2
from groundwire_client import (
    Access,
    Direction,
    ExpandedNode,
    Filter,
    PrioritizationMode,
    Rerank,
    Scope,
    SearchLeg,
    SearchPath,
    SearchType,
    SkipReason,
    Visibility,
)
from groundwire_client import _conversions as convert
from groundwire_client import _graph_conversions as graph
from support.messages import all_fields, assert_same, fill, set_fields, short_names

SCOPE = Scope("shop", "main", "v1")
SCOPE_MESSAGE = scope_pb2.Scope(repository="shop", branch="main", active_index="v1")
ACCESS = Access(
    "acme",
    ("finance", "audit"),
    ("secret",),
    3,
    collections=("handbooks", "policies"),
    cases=(),
    documents=("d1",),
    workflows=("w1",),
)
ACCESS_MESSAGE = scope_pb2.AccessContext(
    tenant_id="acme",
    acl_tags_any=["finance", "audit"],
    classification_labels_all=["secret"],
    clearance_level=3,
    collections=scope_pb2.Bound(values=["handbooks", "policies"]),
    cases=scope_pb2.Bound(),
    documents=scope_pb2.Bound(values=["d1"]),
    workflows=scope_pb2.Bound(values=["w1"]),
)
FILTER = Filter(
    kinds=("cs",),
    data_types=("db_code",),
    corpus_types=("CODE_LOGIC",),
    languages=("csharp",),
    path_prefixes=("src/",),
    collection_ids=("c1", "c2"),
    document_ids=("d1",),
    service_names=("billing",),
    repo_names=("shop",),
    tenant_ids=("acme",),
    case_ids=("case 1",),
    document_version_ids=("d1v2",),
    is_latest=False,
    is_test=False,
    is_generated=True,
    metadata={"team": "tax", "severity": [1, 2.5], "open": True, "closed_by": None},
)
METADATA = Struct()
METADATA.update({"team": "tax", "severity": [1, 2.5], "open": True, "closed_by": None})
FILTER_MESSAGE = scope_pb2.Filter(
    kinds=["cs"],
    data_types=["db_code"],
    corpus_types=["CODE_LOGIC"],
    languages=["csharp"],
    path_prefixes=["src/"],
    collection_ids=["c1", "c2"],
    document_ids=["d1"],
    service_names=["billing"],
    repo_names=["shop"],
    tenant_ids=["acme"],
    case_ids=["case 1"],
    document_version_ids=["d1v2"],
    is_latest=False,
    is_test=False,
    is_generated=True,
    metadata=METADATA,
)


@pytest.mark.parametrize(
    ("response", "conversion"),
    [
        (retrieval_pb2.SearchNodesResponse(), convert.search_result),
        (retrieval_pb2.ExpandDependencyTreeResponse(), graph.expansion),
        (retrieval_pb2.FindPathsResponse(), graph.paths),
        (retrieval_pb2.FetchNodeTextsResponse(), convert.fetch_result),
        (index_pb2.Index(), convert.index_info),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Message) else "",
)
@pytest.mark.parametrize("seed", range(3))
def test_a_result_holds_every_field_of_its_response(
    response: Message, conversion: Callable[[Message], object], seed: int
) -> None:
    fill(response, seed)
    assert_same(conversion(response), response)


@pytest.mark.parametrize("ours", [SearchType, Rerank, SearchLeg, SearchPath, Direction, PrioritizationMode, SkipReason])
def test_enums_have_the_values_of_the_contract(ours: type[StrEnum]) -> None:
    names = set(short_names(retrieval_pb2.DESCRIPTOR.enum_types_by_name[ours.__name__]).values())
    assert {member.name for member in ours} - {"UNKNOWN"} == names - {"UNSPECIFIED"}


def test_a_search_without_explanation_has_no_debug() -> None:
    assert convert.search_result(retrieval_pb2.SearchNodesResponse()).debug is None


def test_a_search_without_a_semantic_list_has_no_path() -> None:
    response = retrieval_pb2.SearchNodesResponse(debug=retrieval_pb2.SearchDebug(bm25_candidates=1))
    debug = convert.search_result(response).debug
    assert debug is not None
    assert debug.path is None


def test_enum_values_of_a_newer_server_are_unknown() -> None:
    found = retrieval_pb2.SearchNodesResponse.FromString(
        # hits[0].legs[0].leg = 99 and debug.path = 98, as raw fields: the stubs admit no number without a name.
        b"\x0a\x04\x22\x02\x08\x63\x22\x02\x08\x62"
    )
    result = convert.search_result(found)
    assert result.hits[0].legs[0].leg is SearchLeg.UNKNOWN
    assert result.debug is not None
    assert result.debug.path is SearchPath.UNKNOWN
    skipped = retrieval_pb2.FetchNodeTextsResponse.FromString(b"\x12\x02\x10\x63")
    assert convert.fetch_result(skipped).skipped[0].reason is SkipReason.UNKNOWN


@pytest.mark.parametrize("confidence", [1.0, 0.9, 0.95, 0.123456, 0.7])
def test_a_confidence_is_the_decimal_that_the_source_stated(confidence: float) -> None:
    edge = retrieval_pb2.DependencyEdge(confidence=confidence)
    assert graph.expansion(retrieval_pb2.ExpandDependencyTreeResponse(edges=[edge])).edges[0].confidence == confidence


def test_a_search_request_carries_every_argument() -> None:
    request = convert.search_request(
        SCOPE,
        ACCESS,
        "vat",
        search_type=SearchType.SEMANTIC,
        top_k=7,
        filter=FILTER,
        query_vector=(0.5, -0.25),
        rrf_k=11,
        rerank=Rerank.CODEBERT,
        explain=True,
        visibility=Visibility.ALL,
    )
    assert request == retrieval_pb2.SearchNodesRequest(
        scope=SCOPE_MESSAGE,
        access=ACCESS_MESSAGE,
        filter=FILTER_MESSAGE,
        search_type=retrieval_pb2.SEARCH_TYPE_SEMANTIC,
        query="vat",
        query_vector=[0.5, -0.25],
        top_k=7,
        rrf_k=11,
        rerank=retrieval_pb2.RERANK_CODEBERT,
        explain=True,
        visibility=scope_pb2.VISIBILITY_ALL,
    )
    assert set_fields(request.access) == all_fields(request.access)
    assert set_fields(request) == all_fields(request)
    assert set_fields(request.filter) == all_fields(request.filter)


def test_an_empty_filter_sets_nothing() -> None:
    assert set_fields(_search_with(Filter()).filter) == set()


def test_an_expand_request_carries_every_argument() -> None:
    request = graph.expand_request(
        SCOPE,
        ACCESS,
        ["a", "b"],
        max_depth=0,
        max_nodes=9,
        edge_allowlist=["Calls", "FK"],
        direction=Direction.INCOMING,
        filter=FILTER,
        min_confidence=0.7,
        visibility=Visibility.DELETED,
    )
    assert request == retrieval_pb2.ExpandDependencyTreeRequest(
        scope=SCOPE_MESSAGE,
        access=ACCESS_MESSAGE,
        seed_ids=["a", "b"],
        max_depth=0,
        max_nodes=9,
        edge_allowlist=["Calls", "FK"],
        direction=retrieval_pb2.DIRECTION_INCOMING,
        filter=FILTER_MESSAGE,
        min_confidence=0.7,
        visibility=scope_pb2.VISIBILITY_DELETED,
    )
    assert set_fields(request) == all_fields(request)


def test_a_paths_request_carries_every_argument() -> None:
    request = graph.paths_request(
        SCOPE,
        ACCESS,
        ["a", "b"],
        ["c"],
        max_hops=5,
        max_paths=3,
        max_nodes=9,
        edge_allowlist=["Calls", "FK"],
        direction=Direction.INCOMING,
        filter=FILTER,
        min_confidence=0.7,
        visibility=Visibility.DELETED,
    )
    assert request == retrieval_pb2.FindPathsRequest(
        scope=SCOPE_MESSAGE,
        access=ACCESS_MESSAGE,
        from_ids=["a", "b"],
        to_ids=["c"],
        max_hops=5,
        max_paths=3,
        max_nodes=9,
        edge_allowlist=["Calls", "FK"],
        direction=retrieval_pb2.DIRECTION_INCOMING,
        filter=FILTER_MESSAGE,
        min_confidence=0.7,
        visibility=scope_pb2.VISIBILITY_DELETED,
    )
    assert set_fields(request) == all_fields(request)


@pytest.mark.parametrize(("budget_tokens", "max_chars"), [(100, None), (None, 200), (0, None)])
def test_a_fetch_request_carries_every_argument(budget_tokens: int | None, max_chars: int | None) -> None:
    request = convert.fetch_request(
        SCOPE,
        ACCESS,
        ["a"],
        [ExpandedNode("a", 0), ExpandedNode("b", 1, "a")],
        budget_tokens=budget_tokens,
        max_chars=max_chars,
        mode=PrioritizationMode.GRAPH_FIRST,
        filter=FILTER,
        visibility=Visibility.ALL,
    )
    assert request.filter == FILTER_MESSAGE
    assert request.visibility == scope_pb2.VISIBILITY_ALL
    assert list(request.nodes) == [
        retrieval_pb2.GraphNode(id="a", depth=0, parent_id=""),
        retrieval_pb2.GraphNode(id="b", depth=1, parent_id="a"),
    ]
    budget = "max_chars" if budget_tokens is None else "budget_tokens"
    assert request.WhichOneof("budget") == budget
    assert getattr(request, budget) == (max_chars if budget_tokens is None else budget_tokens)
    assert request.prioritization_mode == retrieval_pb2.PRIORITIZATION_MODE_GRAPH_FIRST
    assert set_fields(request) == all_fields(request) - {"budget_tokens", "max_chars"} | {budget}


@pytest.mark.parametrize(("budget_tokens", "max_chars"), [(None, None), (1, 1)])
def test_a_fetch_needs_exactly_one_budget(budget_tokens: int | None, max_chars: int | None) -> None:
    with pytest.raises(ValueError, match="exactly one budget"):
        convert.fetch_request(
            SCOPE,
            None,
            ["a"],
            (),
            budget_tokens=budget_tokens,
            max_chars=max_chars,
            mode=PrioritizationMode.BALANCED,
            filter=None,
            visibility=Visibility.ACTIVE,
        )


def test_no_bound_and_an_empty_one_are_told_apart() -> None:
    access = convert.get_index_request(SCOPE, Access(collections=())).access
    assert access.HasField("collections")
    assert not access.HasField("cases")


def test_no_access_and_empty_access_are_told_apart() -> None:
    assert not convert.get_index_request(SCOPE, None).HasField("access")
    assert convert.get_index_request(SCOPE, Access()).HasField("access")


@pytest.mark.parametrize("field", [field.name for field in fields(Filter)])
def test_a_string_in_place_of_another_type_is_refused(field: str) -> None:
    values: dict[str, Any] = {field: "letters"}
    with pytest.raises(TypeError, match=field):
        _search_with(Filter(**values))


@pytest.mark.parametrize(
    "field", ["acl_tags_any", "classification_labels_all", "collections", "cases", "documents", "workflows"]
)
def test_a_string_in_place_of_access_lists_is_refused(field: str) -> None:
    values: dict[str, Any] = {field: "finance"}
    with pytest.raises(TypeError, match=field):
        convert.get_index_request(SCOPE, Access(**values))


@pytest.mark.parametrize(("seed_ids", "edges", "field"), [("id", ["*"], "seed_ids"), (["id"], "*", "edge_allowlist")])
def test_a_string_in_place_of_ids_is_refused(seed_ids: Sequence[str], edges: Sequence[str], field: str) -> None:
    with pytest.raises(TypeError, match=field):
        graph.expand_request(
            SCOPE,
            None,
            seed_ids,
            max_depth=1,
            max_nodes=1,
            edge_allowlist=edges,
            direction=Direction.BOTH,
            filter=None,
            min_confidence=0.0,
            visibility=Visibility.ACTIVE,
        )


def _search_with(narrowing: Filter) -> retrieval_pb2.SearchNodesRequest:
    return convert.search_request(
        SCOPE,
        None,
        "q",
        search_type=SearchType.BM25,
        top_k=1,
        filter=narrowing,
        query_vector=(),
        rrf_k=None,
        rerank=Rerank.NONE,
        explain=False,
        visibility=Visibility.ACTIVE,
    )
