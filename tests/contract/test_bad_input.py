"""Every fail-fast rule of the contract, one row a rule: status, ErrorInfo reason and field, over the wire."""

import math

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from groundwire.v1 import index_pb2 as index
from groundwire.v1 import index_pb2_grpc, retrieval_pb2_grpc
from groundwire.v1 import retrieval_pb2 as messages
from groundwire.v1.scope_pb2 import AccessContext, IndexScope, NodeFilter
from support.refusals import FAILED, INVALID, NOT_FOUND, Row, check_refused, with_fields

MAIN = IndexScope(repository="shop", branch="main")
TEXTS = IndexScope(repository="shop", branch="texts")


def search(**fields: object) -> messages.SearchNodesRequest:
    bm25 = messages.SEARCH_TYPE_BM25
    return with_fields(messages.SearchNodesRequest(scope=MAIN, search_type=bm25, query="invoice", top_k=5), fields)


def semantic(**fields: object) -> messages.SearchNodesRequest:
    return with_fields(search(search_type=messages.SEARCH_TYPE_SEMANTIC, query_vector=[1, 0, 0, 0]), fields)


def expand(**fields: object) -> messages.ExpandDependencyTreeRequest:
    request = messages.ExpandDependencyTreeRequest(
        scope=MAIN, seed_ids=["shop::main::cs::Tax.Rate"], max_depth=1, max_nodes=10, edge_allowlist=["*"]
    )
    return with_fields(request, fields)


def paths(**fields: object) -> messages.FindPathsRequest:
    request = messages.FindPathsRequest(
        scope=MAIN, from_ids=["a"], to_ids=["b"], max_hops=3, max_paths=5, max_nodes=10, edge_allowlist=["*"]
    )
    return with_fields(request, fields)


def fetch(**fields: object) -> messages.FetchNodeTextsRequest:
    return with_fields(messages.FetchNodeTextsRequest(scope=MAIN, seed_ids=["a"], budget_tokens=100), fields)


def graph_node(id_: str = "b", depth: int = 1, parent_id: str = "a") -> messages.ReachedNode:
    return messages.ReachedNode(id=id_, depth=depth, parent_id=parent_id)


def _scope_rows() -> list[Row]:
    rows: list[Row] = []
    for name, make in (("search", search), ("expand", expand), ("paths", paths), ("fetch", fetch)):
        rows += [
            Row(f"{name}: scope is required", make(scope=None), INVALID, "FIELD_REQUIRED", "scope"),
            Row(
                f"{name}: repository is required",
                make(scope=IndexScope(branch="main")),
                INVALID,
                "FIELD_REQUIRED",
                "scope.repository",
            ),
            Row(
                f"{name}: branch is required",
                make(scope=IndexScope(repository="shop")),
                INVALID,
                "FIELD_REQUIRED",
                "scope.branch",
            ),
            Row(
                f"{name}: repository has no ::",
                make(scope=IndexScope(repository="a::b", branch="m")),
                INVALID,
                "VALUE_MALFORMED",
                "scope.repository",
            ),
            Row(
                f"{name}: repository has no control characters",
                make(scope=IndexScope(repository="a\nb", branch="m")),
                INVALID,
                "VALUE_MALFORMED",
                "scope.repository",
            ),
            Row(
                f"{name}: branch is not too long",
                make(scope=IndexScope(repository="a", branch="m" * 201)),
                INVALID,
                "VALUE_MALFORMED",
                "scope.branch",
            ),
            Row(
                f"{name}: branch of many bytes is too long for a file system",
                make(scope=IndexScope(repository="a", branch="é" * 40)),
                INVALID,
                "VALUE_MALFORMED",
                "scope.branch",
            ),
            Row(
                f"{name}: version is a plain name",
                make(scope=IndexScope(repository="a", branch="m", active_index="../x")),
                INVALID,
                "VALUE_MALFORMED",
                "scope.active_index",
            ),
            Row(
                f"{name}: unknown repository",
                make(scope=IndexScope(repository="nope", branch="main")),
                NOT_FOUND,
                "SCOPE_NOT_FOUND",
            ),
            Row(
                f"{name}: unknown branch",
                make(scope=IndexScope(repository="shop", branch="nope")),
                NOT_FOUND,
                "SCOPE_NOT_FOUND",
            ),
            Row(
                f"{name}: hidden scope",
                make(scope=IndexScope(repository="shop", branch="vault")),
                NOT_FOUND,
                "SCOPE_NOT_FOUND",
            ),
            Row(
                f"{name}: hidden scope, version pinned",
                make(scope=IndexScope(repository="shop", branch="vault", active_index="v1")),
                NOT_FOUND,
                "SCOPE_NOT_FOUND",
            ),
            Row(
                f"{name}: unknown version",
                make(scope=IndexScope(repository="shop", branch="main", active_index="v9")),
                NOT_FOUND,
                "INDEX_NOT_FOUND",
            ),
            Row(
                f"{name}: deleted version",
                make(scope=IndexScope(repository="shop", branch="main", active_index="gone")),
                FAILED,
                "INDEX_GONE",
            ),
            Row(
                f"{name}: clearance is not negative",
                make(access=AccessContext(clearance_level=-1)),
                INVALID,
                "VALUE_OUT_OF_RANGE",
                "access.clearance_level",
            ),
            Row(
                f"{name}: tags are not empty",
                make(access=AccessContext(acl_tags_any=[""])),
                INVALID,
                "FIELD_REQUIRED",
                "access.acl_tags_any[0]",
            ),
            Row(
                f"{name}: tags are not too many",
                make(access=AccessContext(acl_tags_any=map(str, range(1025)))),
                INVALID,
                "VALUE_OUT_OF_RANGE",
                "access.acl_tags_any",
            ),
            Row(
                f"{name}: labels are not too long",
                make(access=AccessContext(classification_labels_all=["x" * 257])),
                INVALID,
                "VALUE_OUT_OF_RANGE",
                "access.classification_labels_all[0]",
            ),
            Row(
                f"{name}: tenant is not too long",
                make(access=AccessContext(tenant_id="x" * 257)),
                INVALID,
                "VALUE_OUT_OF_RANGE",
                "access.tenant_id",
            ),
        ]
    return rows


SEARCH_ROWS = [
    Row("search type is known", search(search_type=99), INVALID, "VALUE_UNKNOWN", "search_type"),
    Row("query is required", search(query=None), INVALID, "FIELD_REQUIRED", "query"),
    Row("query can be seen", search(query="\u200b\u2060 \ufeff\u3164"), INVALID, "FIELD_REQUIRED", "query"),
    Row("query is not blank", search(query=" \n\t"), INVALID, "FIELD_REQUIRED", "query"),
    Row("query is not too long", search(query="x" * 8193), INVALID, "VALUE_OUT_OF_RANGE", "query"),
    Row("top_k is required", search(top_k=None), INVALID, "FIELD_REQUIRED", "top_k"),
    Row("top_k is not negative", search(top_k=-1), INVALID, "VALUE_OUT_OF_RANGE", "top_k"),
    Row("top_k is not too large", search(top_k=1001), INVALID, "VALUE_OUT_OF_RANGE", "top_k"),
    Row("rrf_k is at least 1", search(search_type=messages.SEARCH_TYPE_HYBRID, rrf_k=0), INVALID, "VALUE_OUT_OF_RANGE", "rrf_k"),
    Row("rerank is known", semantic(rerank=99), INVALID, "VALUE_UNKNOWN", "rerank"),
    Row("rerank with bm25", search(rerank=messages.RERANK_KEYWORD), INVALID, "FIELDS_CONFLICT", "rerank"),
    Row("rerank with hybrid", search(search_type=messages.SEARCH_TYPE_HYBRID, rerank=messages.RERANK_CODEBERT), INVALID, "FIELDS_CONFLICT", "rerank"),
    Row("rerank needs a query", semantic(query=None, rerank=messages.RERANK_KEYWORD), INVALID, "FIELD_REQUIRED", "query"),
    Row("codebert without a model", semantic(rerank=messages.RERANK_CODEBERT), FAILED, "RERANKER_NOT_CONFIGURED"),
    Row("query vector with bm25", search(query_vector=[1, 0, 0, 0]), INVALID, "FIELDS_CONFLICT", "query_vector"),
    Row("query vector of another dimension", semantic(query_vector=[1, 0]), INVALID, "VALUE_MALFORMED", "query_vector"),
    Row("query vector with NaN", semantic(query_vector=[math.nan, 0, 0, 0]), INVALID, "VALUE_MALFORMED", "query_vector"),
    Row("query vector with infinity", semantic(query_vector=[math.inf, 0, 0, 0]), INVALID, "VALUE_MALFORMED", "query_vector"),
    Row("query vector of zeros", semantic(query_vector=[0, 0, 0, 0]), INVALID, "VALUE_MALFORMED", "query_vector"),
    Row("filter value is not empty", search(filter=NodeFilter(kinds=[""])), INVALID, "FIELD_REQUIRED", "filter.kinds[0]"),
    Row("filter value is not too long", search(filter=NodeFilter(path_prefixes=["a", "x" * 1025])), INVALID, "VALUE_OUT_OF_RANGE", "filter.path_prefixes[1]"),
    Row("filter values are not too many", search(filter=NodeFilter(document_ids=map(str, range(257)))), INVALID, "VALUE_OUT_OF_RANGE", "filter.document_ids"),
    Row("filter metadata is no list of lists", search(filter=NodeFilter(metadata={"team": [["a"]]})), INVALID, "VALUE_MALFORMED", "filter.metadata.team"),
    Row("filter metadata is not too much", search(filter=NodeFilter(metadata={f"k{i}": 1 for i in range(257)})), INVALID, "VALUE_OUT_OF_RANGE", "filter.metadata"),
    Row("semantic without the embedder", semantic(query_vector=None), FAILED, "EMBEDDER_MISMATCH"),
    Row("semantic without vectors", semantic(scope=TEXTS), FAILED, "VECTORS_MISSING"),
    Row("hybrid without vectors", semantic(scope=TEXTS, search_type=messages.SEARCH_TYPE_HYBRID), FAILED, "VECTORS_MISSING"),
    Row("query vector without a type or vectors", semantic(scope=TEXTS, search_type=None), FAILED, "VECTORS_MISSING"),
    Row("rerank without a type", search(search_type=None, rerank=messages.RERANK_KEYWORD), INVALID, "FIELDS_CONFLICT", "rerank"),
]  # fmt: skip

EXPAND_ROWS = [
    Row("seeds are required", expand(seed_ids=None), INVALID, "FIELD_REQUIRED", "seed_ids"),
    Row("seeds are not empty", expand(seed_ids=["a", ""]), INVALID, "FIELD_REQUIRED", "seed_ids[1]"),
    Row("seeds are not too long", expand(seed_ids=["x" * 2049]), INVALID, "VALUE_OUT_OF_RANGE", "seed_ids[0]"),
    Row("seeds are not too many", expand(seed_ids=map(str, range(1001))), INVALID, "VALUE_OUT_OF_RANGE", "seed_ids"),
    Row("max_depth is required", expand(max_depth=None), INVALID, "FIELD_REQUIRED", "max_depth"),
    Row("max_depth is not negative", expand(max_depth=-1), INVALID, "VALUE_OUT_OF_RANGE", "max_depth"),
    Row("max_depth is not too large", expand(max_depth=17), INVALID, "VALUE_OUT_OF_RANGE", "max_depth"),
    Row("max_nodes is required", expand(max_nodes=None), INVALID, "FIELD_REQUIRED", "max_nodes"),
    Row("max_nodes is not negative", expand(max_nodes=-3), INVALID, "VALUE_OUT_OF_RANGE", "max_nodes"),
    Row("max_nodes is not too large", expand(max_nodes=2001), INVALID, "VALUE_OUT_OF_RANGE", "max_nodes"),
    Row("allowlist is required", expand(edge_allowlist=None), INVALID, "FIELD_REQUIRED", "edge_allowlist"),
    Row("allowlist entry is not empty", expand(edge_allowlist=[""]), INVALID, "FIELD_REQUIRED", "edge_allowlist[0]"),
    Row("least confidence is not negative", expand(min_confidence=-0.1), INVALID, "VALUE_OUT_OF_RANGE", "min_confidence"),
    Row("least confidence is at most 1", expand(min_confidence=1.5), INVALID, "VALUE_OUT_OF_RANGE", "min_confidence"),
    Row("least confidence is a number", expand(min_confidence=math.nan), INVALID, "VALUE_OUT_OF_RANGE", "min_confidence"),
    Row("filter of a walk is checked", expand(filter=NodeFilter(kinds=[""])), INVALID, "FIELD_REQUIRED", "filter.kinds[0]"),
    Row("* stands alone", expand(edge_allowlist=["Calls", "*"]), INVALID, "FIELDS_CONFLICT", "edge_allowlist[1]"),
    Row("allowlist is not too long", expand(edge_allowlist=map(str, range(65))), INVALID, "VALUE_OUT_OF_RANGE", "edge_allowlist"),
    Row("direction is known", expand(direction=7), INVALID, "VALUE_UNKNOWN", "direction"),
    Row("a beginning is required", paths(from_ids=None), INVALID, "FIELD_REQUIRED", "from_ids"),
    Row("an end is required", paths(to_ids=None), INVALID, "FIELD_REQUIRED", "to_ids"),
    Row("beginnings are not empty", paths(from_ids=["a", ""]), INVALID, "FIELD_REQUIRED", "from_ids[1]"),
    Row("ends are not too long", paths(to_ids=["x" * 2049]), INVALID, "VALUE_OUT_OF_RANGE", "to_ids[0]"),
    Row("beginnings are not too many", paths(from_ids=map(str, range(101))), INVALID, "VALUE_OUT_OF_RANGE", "from_ids"),
    Row("ends are not too many", paths(to_ids=map(str, range(101))), INVALID, "VALUE_OUT_OF_RANGE", "to_ids"),
    Row("max_hops is required", paths(max_hops=None), INVALID, "FIELD_REQUIRED", "max_hops"),
    Row("max_hops is not too large", paths(max_hops=17), INVALID, "VALUE_OUT_OF_RANGE", "max_hops"),
    Row("max_paths is required", paths(max_paths=None), INVALID, "FIELD_REQUIRED", "max_paths"),
    Row("max_paths is not too large", paths(max_paths=101), INVALID, "VALUE_OUT_OF_RANGE", "max_paths"),
    Row("max_nodes between is required", paths(max_nodes=None), INVALID, "FIELD_REQUIRED", "max_nodes"),
    Row("max_nodes between is not too large", paths(max_nodes=2001), INVALID, "VALUE_OUT_OF_RANGE", "max_nodes"),
    Row("edge types of paths are required", paths(edge_allowlist=None), INVALID, "FIELD_REQUIRED", "edge_allowlist"),
    Row("* stands alone for paths", paths(edge_allowlist=["*", "FK"]), INVALID, "FIELDS_CONFLICT", "edge_allowlist[0]"),
    Row("confidence of paths is at most 1", paths(min_confidence=1.5), INVALID, "VALUE_OUT_OF_RANGE", "min_confidence"),
    Row("filter of paths is checked", paths(filter=NodeFilter(kinds=[""])), INVALID, "FIELD_REQUIRED", "filter.kinds[0]"),
    Row("direction of paths is known", paths(direction=7), INVALID, "VALUE_UNKNOWN", "direction"),
]  # fmt: skip

FETCH_ROWS = [
    Row("an id is required", fetch(seed_ids=None), INVALID, "FIELD_REQUIRED", "seed_ids"),
    Row("seeds are not empty", fetch(seed_ids=[""]), INVALID, "FIELD_REQUIRED", "seed_ids[0]"),
    Row("ids are not too many", fetch(seed_ids=map(str, range(10_001))), INVALID, "VALUE_OUT_OF_RANGE", "seed_ids"),
    Row("ids are not too large in all", fetch(seed_ids=[f"{i:02000}" for i in range(1100)]), INVALID, "VALUE_OUT_OF_RANGE", "nodes"),
    Row("node id is not empty", fetch(nodes=[graph_node(id_="")]), INVALID, "FIELD_REQUIRED", "nodes[0].id"),
    Row("node parent is not too long", fetch(nodes=[graph_node(parent_id="x" * 2049)]), INVALID, "VALUE_OUT_OF_RANGE", "nodes[0].parent_id"),
    Row("depth is not negative", fetch(nodes=[graph_node(depth=-1)]), INVALID, "VALUE_OUT_OF_RANGE", "nodes[0].depth"),
    Row("depth 0 is for seeds", fetch(nodes=[graph_node(depth=0)]), INVALID, "FIELDS_CONFLICT", "nodes[0].depth"),
    Row("repeats agree", fetch(nodes=[graph_node(), graph_node(depth=2)]), INVALID, "FIELDS_CONFLICT", "nodes[1]"),
    Row("filter of texts is checked", fetch(filter=NodeFilter(metadata={"team": [["a"]]})), INVALID, "VALUE_MALFORMED", "filter.metadata.team"),
    Row("a budget is required", fetch(budget_tokens=None), INVALID, "FIELD_REQUIRED", "budget"),
    Row("budget_tokens is positive", fetch(budget_tokens=0), INVALID, "VALUE_OUT_OF_RANGE", "budget_tokens"),
    Row("budget_tokens is not negative", fetch(budget_tokens=-7), INVALID, "VALUE_OUT_OF_RANGE", "budget_tokens"),
    Row("budget_tokens is not too large", fetch(budget_tokens=10_000_001), INVALID, "VALUE_OUT_OF_RANGE", "budget_tokens"),
    Row("max_chars is positive", fetch(budget_tokens=None, max_chars=0), INVALID, "VALUE_OUT_OF_RANGE", "max_chars"),
    Row("max_chars is not too large", fetch(budget_tokens=None, max_chars=100_000_001), INVALID, "VALUE_OUT_OF_RANGE", "max_chars"),
    Row("mode is known", fetch(prioritization_mode=9), INVALID, "VALUE_UNKNOWN", "prioritization_mode"),
]  # fmt: skip

INDEX_ROWS = [
    Row("list: repository is well formed", index.ListIndexesRequest(repository="a::b"), INVALID, "VALUE_MALFORMED", "repository"),
    Row("get: scope is required", index.GetIndexRequest(), INVALID, "FIELD_REQUIRED", "scope"),
    Row("get: unknown scope", index.GetIndexRequest(scope=IndexScope(repository="x", branch="y")), NOT_FOUND, "SCOPE_NOT_FOUND"),
    Row("get: hidden scope", index.GetIndexRequest(scope=IndexScope(repository="shop", branch="vault")), NOT_FOUND, "SCOPE_NOT_FOUND"),
    Row("activate: version is required", index.ActivateIndexRequest(scope=MAIN), INVALID, "FIELD_REQUIRED", "scope.active_index"),
    Row("activate: unknown version", index.ActivateIndexRequest(scope=IndexScope(repository="shop", branch="main", active_index="v9")), NOT_FOUND, "INDEX_NOT_FOUND"),
    Row("activate: deleted version", index.ActivateIndexRequest(scope=IndexScope(repository="shop", branch="main", active_index="gone")), FAILED, "INDEX_GONE"),
    Row("delete: version is required", index.DeleteIndexRequest(scope=MAIN), INVALID, "FIELD_REQUIRED", "scope.active_index"),
    Row("delete: active version", index.DeleteIndexRequest(scope=IndexScope(repository="shop", branch="main", active_index="v1")), FAILED, "INDEX_ACTIVE"),
    Row("delete: unknown version", index.DeleteIndexRequest(scope=IndexScope(repository="shop", branch="main", active_index="v9")), NOT_FOUND, "INDEX_NOT_FOUND"),
]  # fmt: skip

ROWS = [*_scope_rows(), *SEARCH_ROWS, *EXPAND_ROWS, *FETCH_ROWS, *INDEX_ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_rule(
    row: Row, retrieval: retrieval_pb2_grpc.RetrievalServiceStub, indexes: index_pb2_grpc.IndexServiceStub
) -> None:
    method_name = type(row.request).__name__.removesuffix("Request")
    method = getattr(retrieval, method_name, None) or getattr(indexes, method_name)
    check_refused(row, method)


@pytest.mark.parametrize(
    ("method", "request_", "fields"),
    [
        (
            "SearchNodes",
            search(search_type=9, query=None, top_k=None, rerank=messages.RERANK_KEYWORD, lifecycle=9),
            ["search_type", "lifecycle", "top_k", "query"],
        ),
        ("ExpandDependencyTree", expand(scope=None, direction=9, max_nodes=None), ["scope", "direction", "max_nodes"]),
        ("FindPaths", paths(direction=9, max_hops=None, max_paths=101), ["direction", "max_hops", "max_paths"]),
        (
            "FetchNodeTexts",
            fetch(prioritization_mode=9, seed_ids=None, budget_tokens=0),
            ["prioritization_mode", "seed_ids", "budget_tokens"],
        ),
    ],
    ids=["search", "expand", "paths", "fetch"],
)
def test_every_broken_rule_is_told_beside_an_unknown_value(
    retrieval: retrieval_pb2_grpc.RetrievalServiceStub, method: str, request_: Message, fields: list[str]
) -> None:
    """And no rule that only would be broken if the unknown value were another one."""
    with pytest.raises(grpc.RpcError) as raised:
        getattr(retrieval, method)(request_, timeout=300)
    assert isinstance(raised.value, grpc.Call)
    status = rpc_status.from_call(raised.value)
    assert status is not None
    bad_request = error_details_pb2.BadRequest()
    for detail in status.details:
        detail.Unpack(bad_request)
    assert [violation.field for violation in bad_request.field_violations] == fields
