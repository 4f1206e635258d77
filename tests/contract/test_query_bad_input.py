"""Every fail-fast rule of Query, one row a rule: status, ErrorInfo reason and field, over the wire."""

import math

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1.query_pb2 import FUSION_MODE_RRF, HybridParameters, QueryRequest
from groundwire.v1.retrieval_pb2 import RETRIEVER_BM25_CODE, RETRIEVER_DENSE, RETRIEVER_TRIGRAM, RETRIEVER_UNSPECIFIED
from groundwire.v1.scope_pb2 import LIFECYCLE_ALL, LIFECYCLE_DELETED, AccessContext, IndexScope, NodeFilter
from support.platform import MAIN, PLAIN, Platform
from support.refusals import DENIED, FAILED, INVALID, NOT_FOUND, Row, check_refused, with_fields

OUT_OF_RANGE, MALFORMED, REQUIRED, CONFLICT, UNKNOWN = (
    "VALUE_OUT_OF_RANGE VALUE_MALFORMED FIELD_REQUIRED FIELDS_CONFLICT VALUE_UNKNOWN".split()
)
LONG = "x" * 1025


def query(**fields: object) -> QueryRequest:
    request = QueryRequest(scope=MAIN, query="order", hybrid=HybridParameters(), query_vector=[1.0] * 6)
    return with_fields(request, fields)


def lexical(**fields: object) -> QueryRequest:
    return query(**{"query_vector": None, "retrievers": [RETRIEVER_BM25_CODE, RETRIEVER_TRIGRAM], **fields})


def hybrid(**fields: object) -> QueryRequest:
    return query(hybrid=HybridParameters(**fields))


def narrowed(**fields: object) -> QueryRequest:
    return query(filter=NodeFilter(**fields))


def at(seconds: int = 0, nanos: int = 0) -> QueryRequest:
    return query(now=Timestamp(seconds=seconds, nanos=nanos))


def shares() -> list[Row]:
    """Numbers that must lie in [0, 1]."""
    bad = {"negative": -0.001, "above 1": 1.001, "NaN": math.nan, "infinite": math.inf}
    hybrid_fields = ("alpha", "min_sim", "trgm_limit", "diversify_strength")
    return [
        *(
            Row(f"{field} is not {name}", hybrid(**{field: value}), INVALID, OUT_OF_RANGE, f"hybrid.{field}")
            for field in hybrid_fields
            for name, value in bad.items()
        ),
        *(
            Row(
                f"freshness_weight is not {name}",
                query(freshness_weight=value),
                INVALID,
                OUT_OF_RANGE,
                "freshness_weight",
            )
            for name, value in bad.items()
        ),
    ]


def counts() -> list[Row]:
    """Numbers with a least and a greatest."""
    highest = {"top_k": 1_000, "vec_limit": 10_000, "lex_limit": 10_000}
    least = [
        Row(f"max_candidates {value}", hybrid(max_candidates=value), INVALID, OUT_OF_RANGE, "hybrid.max_candidates")
        for value in (-1, 0)
    ]
    return least + [
        Row(f"hybrid.{field} is not {value}", hybrid(**{field: value}), INVALID, OUT_OF_RANGE, f"hybrid.{field}")
        for field, most in highest.items()
        for value in (-1, 0, most + 1)
    ]


def filter_lists() -> list[Row]:
    """The lists of a filter."""
    lists = [field.name for field in NodeFilter.DESCRIPTOR.fields if field.is_repeated]
    return [
        row
        for name in lists
        for row in (
            Row(f"{name}: no value is empty", narrowed(**{name: ["a", ""]}), INVALID, REQUIRED, f"filter.{name}[1]"),
            Row(
                f"{name}: no value is too long", narrowed(**{name: [LONG]}), INVALID, OUT_OF_RANGE, f"filter.{name}[0]"
            ),
            Row(
                f"{name}: values are not too many",
                narrowed(**{name: map(str, range(257))}),
                INVALID,
                OUT_OF_RANGE,
                f"filter.{name}",
            ),
        )
    ]


SCOPE_ROWS = [
    Row("scope is required", query(scope=None), INVALID, REQUIRED, "scope"),
    Row("repository is required", query(scope=IndexScope(branch="main")), INVALID, REQUIRED, "scope.repository"),
    Row("branch is well formed", query(scope=IndexScope(repository="a", branch="b::c")), INVALID, MALFORMED, "scope.branch"),
    Row("version is a plain name", query(scope=IndexScope(repository="a", branch="b", active_index="../x")), INVALID, MALFORMED, "scope.active_index"),
    Row("unknown scope", query(scope=IndexScope(repository="nope", branch="main")), NOT_FOUND, "SCOPE_NOT_FOUND"),
    Row("unknown version", query(scope=IndexScope(repository="platform", branch="main", active_index="v9")), NOT_FOUND, "INDEX_NOT_FOUND"),
    Row("clearance is not negative", query(access=AccessContext(clearance_level=-1)), INVALID, OUT_OF_RANGE, "access.clearance_level"),
    Row("tags are not empty", query(access=AccessContext(acl_tags_any=[""])), INVALID, REQUIRED, "access.acl_tags_any[0]"),
]  # fmt: skip

TEXT_ROWS = [
    Row("query is required", query(query=None), INVALID, REQUIRED, "query"),
    Row("query is not blank", query(query=" \n\t"), INVALID, REQUIRED, "query"),
    Row(
        "query is not blank with a vector either",
        query(query=" ", retrievers=[RETRIEVER_DENSE]),
        INVALID,
        REQUIRED,
        "query",
    ),
    Row("query is not too long", query(query="x" * 8193), INVALID, OUT_OF_RANGE, "query"),
    Row("process is not too long", query(process=LONG), INVALID, OUT_OF_RANGE, "process"),
    Row("doc_class is not too long", query(doc_class=LONG), INVALID, OUT_OF_RANGE, "doc_class"),
    Row("workflow_id is not too long", query(workflow_id=LONG), INVALID, OUT_OF_RANGE, "workflow_id"),
]

PARAMETER_ROWS = [
    Row("max_candidates is not below top_k", hybrid(max_candidates=9, top_k=10, vec_limit=1, lex_limit=1), INVALID, OUT_OF_RANGE, "hybrid.max_candidates"),
    Row("max_candidates is not below the overriding top_k", query(top_k=10, hybrid=HybridParameters(max_candidates=9, top_k=1, vec_limit=1, lex_limit=1)), INVALID, OUT_OF_RANGE, "hybrid.max_candidates"),
    Row("max_candidates is not below vec_limit", hybrid(max_candidates=9, top_k=1, vec_limit=10, lex_limit=1), INVALID, OUT_OF_RANGE, "hybrid.max_candidates"),
    Row("max_candidates is not below lex_limit", hybrid(max_candidates=9, top_k=1, vec_limit=1, lex_limit=10), INVALID, OUT_OF_RANGE, "hybrid.max_candidates"),
    Row("top_k is at least 1", query(top_k=0), INVALID, OUT_OF_RANGE, "top_k"),
    Row("top_k is not negative", query(top_k=-1), INVALID, OUT_OF_RANGE, "top_k"),
    Row("top_k is not too large", query(top_k=1001), INVALID, OUT_OF_RANGE, "top_k"),
    Row("rrf_k is at least 1", query(fusion=FUSION_MODE_RRF, rrf_k=0), INVALID, OUT_OF_RANGE, "rrf_k"),
    Row("half-life is not negative", query(freshness_half_life_days=-1.0), INVALID, OUT_OF_RANGE, "freshness_half_life_days"),
    Row("half-life is a century at most", query(freshness_half_life_days=36_500.5), INVALID, OUT_OF_RANGE, "freshness_half_life_days"),
    Row("half-life is a number", query(freshness_half_life_days=math.nan), INVALID, OUT_OF_RANGE, "freshness_half_life_days"),
    Row("now is not before the year 1", at(seconds=-62_135_596_801), INVALID, MALFORMED, "now"),
    Row("now is not after the year 9999", at(seconds=253_402_300_800), INVALID, MALFORMED, "now"),
    Row("now is no nonsense", at(seconds=2**63 - 1), INVALID, MALFORMED, "now"),
    Row("now has no negative nanos", at(nanos=-1), INVALID, MALFORMED, "now"),
    Row("now has less than a second of nanos", at(nanos=1_000_000_000), INVALID, MALFORMED, "now"),
]  # fmt: skip

RETRIEVER_ROWS = [
    Row("fusion is known", query(fusion=9), INVALID, UNKNOWN, "fusion"),
    Row("lifecycle is known", query(lifecycle=9), INVALID, UNKNOWN, "lifecycle"),
    Row("retrievers are known", query(retrievers=[RETRIEVER_DENSE, 9]), INVALID, UNKNOWN, "retrievers[1]"),
    Row("retrievers are specified", query(retrievers=[RETRIEVER_DENSE, RETRIEVER_UNSPECIFIED]), INVALID, REQUIRED, "retrievers[1]"),
    Row("retrievers are named once", query(retrievers=[RETRIEVER_DENSE, RETRIEVER_TRIGRAM, RETRIEVER_DENSE]), INVALID, CONFLICT, "retrievers[2]"),
    Row("retrievers are not too many", query(retrievers=[RETRIEVER_DENSE] * 5), INVALID, OUT_OF_RANGE, "retrievers"),
    Row("query vector without the dense retriever", lexical(query_vector=[1.0] * 6), INVALID, CONFLICT, "query_vector"),
    Row("query vector of another dimension", query(query_vector=[1.0]), INVALID, MALFORMED, "query_vector"),
    Row("query vector with NaN", query(query_vector=[math.nan] * 6), INVALID, MALFORMED, "query_vector"),
    Row("query vector with infinity", query(query_vector=[math.inf] * 6), INVALID, MALFORMED, "query_vector"),
    Row("query vector of zeros", query(query_vector=[0.0] * 6), INVALID, MALFORMED, "query_vector"),
    Row("the dense retriever without the embedder", query(query_vector=None), FAILED, "EMBEDDER_MISMATCH"),
    Row("the dense retriever without vectors", lexical(scope=PLAIN, retrievers=[RETRIEVER_DENSE]), FAILED, "VECTORS_MISSING"),
    Row("a query vector without vectors", query(scope=PLAIN), FAILED, "VECTORS_MISSING"),
    Row("rerank without a model", query(rerank=True), FAILED, "RERANKER_NOT_CONFIGURED"),
    Row("deleted nodes without leave", query(lifecycle=LIFECYCLE_ALL), DENIED, "LIFECYCLE_NOT_GRANTED", "lifecycle"),
    Row("deleted nodes alone without leave", query(lifecycle=LIFECYCLE_DELETED, access=AccessContext(acl_tags_any=["finance"])), DENIED, "LIFECYCLE_NOT_GRANTED", "lifecycle"),
]  # fmt: skip

METADATA_ROWS = [
    Row("metadata is no object", narrowed(metadata={"team": {"name": "ops"}}), INVALID, MALFORMED, "filter.metadata.team"),
    Row("metadata is no list of lists", narrowed(metadata={"team": ["ops", ["care"]]}), INVALID, MALFORMED, "filter.metadata.team"),
    Row("metadata is no list of objects", narrowed(metadata={"team": [{}]}), INVALID, MALFORMED, "filter.metadata.team"),
    Row("metadata is no empty list", narrowed(metadata={"team": []}), INVALID, MALFORMED, "filter.metadata.team"),
    Row("metadata is a number if any", narrowed(metadata={"level": math.nan}), INVALID, MALFORMED, "filter.metadata.level"),
    Row("metadata is finite", narrowed(metadata={"level": [1, math.inf]}), INVALID, MALFORMED, "filter.metadata.level"),
    Row("metadata keys are not empty", narrowed(metadata={"": 1}), INVALID, OUT_OF_RANGE, "filter.metadata."),
    Row("metadata keys are not too long", narrowed(metadata={LONG: 1}), INVALID, OUT_OF_RANGE, f"filter.metadata.{LONG}"[:100]),
    Row("metadata values are not too long", narrowed(metadata={"team": ["a", LONG]}), INVALID, OUT_OF_RANGE, "filter.metadata.team[1]"),
    Row("metadata alternatives are not too many", narrowed(metadata={"level": list(range(257))}), INVALID, OUT_OF_RANGE, "filter.metadata.level"),
    Row("metadata keys are not too many", narrowed(metadata={str(i): i for i in range(257)}), INVALID, OUT_OF_RANGE, "filter.metadata"),
]  # fmt: skip

ROWS = [
    *(*SCOPE_ROWS, *TEXT_ROWS, *PARAMETER_ROWS, *RETRIEVER_ROWS, *METADATA_ROWS),
    *(*shares(), *counts(), *filter_lists()),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_rule(row: Row, platform: Platform) -> None:
    check_refused(row, platform.stub.Query)


def test_nothing_found_is_an_error_where_the_request_says_so(platform: Platform) -> None:
    request = lexical(query="zebra", not_found_when_empty=True)
    info = check_refused(Row("no matches", request, NOT_FOUND, "NO_MATCHES"), platform.stub.Query)
    assert dict(info.metadata) == {"repository": "platform", "branch": "main", "active_index": "v1"}


def test_what_is_not_granted_is_refused_whether_or_not_there_is_anything_deleted(platform: Platform) -> None:
    def refused(text: str) -> dict[str, str]:
        row = Row("denied", query(query=text, lifecycle=LIFECYCLE_ALL), DENIED, "LIFECYCLE_NOT_GRANTED", "lifecycle")
        return dict(check_refused(row, platform.stub.Query).metadata)

    assert refused("GetUserLegacy") == refused("zebra")
