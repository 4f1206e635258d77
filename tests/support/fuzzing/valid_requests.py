"""Requests that are in order, of every method of the contract, about the platform corpus; mutations start from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, index_pb2, query_pb2
from groundwire.v1 import retrieval_pb2 as messages
from groundwire.v1.scope_pb2 import LIFECYCLE_ALL, AccessContext, Bound, IndexScope, NodeFilter
from groundwire_index.scope import Scope
from groundwire_ingest.jsonl.jsonl import JsonlSource
from support.platform import NOW, timestamp
from support.platform_corpus import AUDITOR_TAG, AUTH, FINANCE_TAG, ORDERS, PLATFORM, TENANT
from support.program import write_jsonl
from support.storage import Storage

RETRIEVAL, QUERIES, INDEXES = (
    f"/groundwire.v1.{service}/" for service in ("RetrievalService", "QueryService", "IndexService")
)
MAIN = IndexScope(repository="platform", branch="main")
VERSIONS = ("v1", "v2", "v3")
SPARE = [IndexScope(repository="platform", branch="spare", active_index=version) for version in VERSIONS]
ACCESS = AccessContext(tenant_id=TENANT, acl_tags_any=[FINANCE_TAG], classification_labels_all=["a"], clearance_level=3)
BOUND = AccessContext(
    acl_tags_any=[AUDITOR_TAG],
    collections=Bound(values=["policies", "forms"]),
    cases=Bound(values=["case-7", "case-8"]),
    workflows=Bound(values=["w-1", "w-2"]),
)
BOUND_TO_VERSIONS = AccessContext(document_versions=Bound(values=["v1", "v2"]))
IDS = [f"platform::main::{key}" for key in ("go::order/CreateOrder", "go::auth/GetUser", "md::runbook", "md::readme")]
EVERY_FILTER = NodeFilter(
    kinds=["go", "md"],
    data_types=["regular_code", "doc"],
    languages=["go", "markdown"],
    path_prefixes=["order", "docs/"],
    is_latest=True,
    is_test=False,
    is_generated=False,
)
METADATA_FILTER = NodeFilter(collection_ids=["policies"])
METADATA_FILTER.metadata.update({"level": 2, "teams": ["ops", "care"], "draft": None, "ünï": "ß"})


@dataclass(frozen=True, slots=True)
class ValidRequest:
    """A request and the full name of its method. An `administration` request changes the spare scope alone."""

    method: str
    message: Message
    administration: bool = False

    @property
    def descriptor(self) -> Descriptor:
        """Of the request."""
        return cast("Descriptor", self.message.DESCRIPTOR)


def _search(kind: messages.SearchType.ValueType, **fields: object) -> ValidRequest:
    request = messages.SearchNodesRequest(scope=MAIN, search_type=kind, top_k=5, **fields)  # type: ignore[arg-type]
    return ValidRequest(RETRIEVAL + "SearchNodes", request)


def _query(**fields: object) -> ValidRequest:
    usual_fields = {"scope": MAIN, "query": "create order", "query_vector": ORDERS, "now": timestamp(NOW)}
    given = {"hybrid": query_pb2.HybridParameters(), **usual_fields, **fields}
    return ValidRequest(QUERIES + "Query", query_pb2.QueryRequest(**given))  # type: ignore[arg-type]


READS: Sequence[ValidRequest] = (
    _search(messages.SEARCH_TYPE_SEMANTIC, query_vector=AUTH, access=ACCESS, explain=True),
    _search(messages.SEARCH_TYPE_SEMANTIC, query_vector=AUTH, query="user", rerank=messages.RERANK_KEYWORD),
    _search(messages.SEARCH_TYPE_BM25, query="refund stamp", access=BOUND, lifecycle=LIFECYCLE_ALL),
    _search(messages.SEARCH_TYPE_BM25, query="vacation", access=BOUND_TO_VERSIONS),
    _search(messages.SEARCH_TYPE_BM25, query="checkout latency", filter=EVERY_FILTER, explain=True),
    _search(messages.SEARCH_TYPE_HYBRID, query="refund receipt", query_vector=ORDERS, filter=METADATA_FILTER, rrf_k=9),
    ValidRequest(
        RETRIEVAL + "ResolveNodes",
        messages.ResolveNodesRequest(
            scope=MAIN, access=ACCESS, names=["Billing.Charge", "src/a.cs:3", *IDS[:1]], max_nodes=9,
            filter=EVERY_FILTER,
        ),
    ),
    ValidRequest(
        RETRIEVAL + "SearchText",
        messages.SearchTextRequest(
            scope=MAIN, access=ACCESS, pattern="[a-z]+ (user|refund)$", regex=True, ignore_case=True, max_matches=9,
            context_lines=2, filter=EVERY_FILTER,
        ),
    ),
    ValidRequest(
        RETRIEVAL + "SearchText",
        messages.SearchTextRequest(scope=MAIN, pattern="a\nb", multiline=True, whole_words=True, max_matches=1_000),
    ),
    ValidRequest(
        RETRIEVAL + "ExpandDependencyTree",
        messages.ExpandDependencyTreeRequest(
            scope=MAIN, access=ACCESS, seed_ids=IDS[:2], max_depth=3, max_nodes=50, edge_allowlist=["*"],
            direction=messages.EDGE_DIRECTION_BOTH,
        ),
    ),
    ValidRequest(
        RETRIEVAL + "ExpandDependencyTree",
        messages.ExpandDependencyTreeRequest(
            scope=MAIN, seed_ids=IDS, max_depth=1, max_nodes=5, edge_allowlist=["calls", "Contains"],
            filter=EVERY_FILTER, min_confidence=0.5,
        ),
    ),
    ValidRequest(
        RETRIEVAL + "FindPaths",
        messages.FindPathsRequest(
            scope=MAIN, access=ACCESS, from_ids=IDS[:2], to_ids=IDS[1:], max_hops=4, max_paths=9, max_nodes=50,
            edge_allowlist=["*"], direction=messages.EDGE_DIRECTION_BOTH,
        ),
    ),
    ValidRequest(
        RETRIEVAL + "FindPaths",
        messages.FindPathsRequest(
            scope=MAIN, from_ids=IDS, to_ids=IDS[:1], max_hops=16, max_paths=100, max_nodes=5,
            edge_allowlist=["calls", "Contains"], filter=EVERY_FILTER, min_confidence=0.5,
        ),
    ),
    ValidRequest(
        RETRIEVAL + "FetchNodeTexts",
        messages.FetchNodeTextsRequest(
            scope=MAIN, access=ACCESS, seed_ids=IDS[:2], budget_tokens=1_000,
            nodes=[messages.ReachedNode(id=id_, depth=1, parent_id=IDS[0]) for id_ in IDS[2:]],
        ),
    ),
    ValidRequest(
        RETRIEVAL + "FetchNodeTexts",
        messages.FetchNodeTextsRequest(
            scope=MAIN, seed_ids=IDS, max_chars=100, prioritization_mode=messages.PRIORITIZATION_MODE_GRAPH_FIRST,
            filter=METADATA_FILTER,
        ),
    ),
    _query(access=ACCESS, include_parents=True, include_neighbors=True, expand_graph=True),
    _query(
        query="GetUsr roll-back 'the runbook' auth/GetUser.go",
        hybrid=query_pb2.HybridParameters(
            alpha=0.5, min_sim=0.1, top_k=9, vec_limit=20, lex_limit=20, trgm_limit=0.2, max_candidates=50,
            diversify_strength=0.4,
        ),
        fusion=query_pb2.FUSION_MODE_WEIGHTED,
        retrievers=[messages.RETRIEVER_TRIGRAM, messages.RETRIEVER_DENSE, messages.RETRIEVER_BM25_PROSE],
        filter=EVERY_FILTER, freshness_half_life_days=7.0, freshness_weight=0.5,
    ),
    _query(
        query="refund receipt", fusion=query_pb2.FUSION_MODE_RRF, rrf_k=10, process="billing", top_k=3,
        not_found_when_empty=True, budget_tokens=100,
    ),
    ValidRequest(
        QUERIES + "GatherEvidence",
        evidence_pb2.GatherEvidenceRequest(
            scope=MAIN, access=ACCESS, question="create order", phrasings=["CreateOrder", "order service"],
            query_vector=ORDERS, budget_tokens=1_000, shown_ids=IDS[:2], graph_share=0.5, explain=True,
            now=timestamp(NOW), filter=EVERY_FILTER,
        ),
    ),
    ValidRequest(
        INDEXES + "ListIndexes", index_pb2.ListIndexesRequest(repository="platform", branch="main", access=ACCESS)
    ),
    ValidRequest(INDEXES + "GetIndex", index_pb2.GetIndexRequest(scope=MAIN, access=ACCESS)),
)  # fmt: skip
ADMINISTRATION: Sequence[ValidRequest] = tuple(
    ValidRequest(INDEXES + method, message(scope=scope), True)
    for method, message in (
        ("ActivateIndex", index_pb2.ActivateIndexRequest),
        ("DeleteIndex", index_pb2.DeleteIndexRequest),
    )
    for scope in SPARE
)
KNOWN: Sequence[str] = (
    "platform", "main", "v1", TENANT, FINANCE_TAG, "*", "calls", *IDS, "go", "md", "level", "teams", "policies",
    "billing", "GetUser", "order", "docs/", "checkout latency", "order-service", "runbook",
)  # fmt: skip
"""Strings that mean something to the server."""
KNOWN_TO_ADMINISTRATION: Sequence[str] = ("platform", "spare", *VERSIONS)


def build_platform(storage: Storage) -> None:
    """The platform as `main`, and as versions of `spare`."""
    storage.data.mkdir()
    source = JsonlSource(write_jsonl(storage.data.with_name("platform.jsonl"), PLATFORM))
    for branch, version in (("main", "v1"), *(("spare", version) for version in VERSIONS)):
        storage.build(source, Scope("platform", branch, version))
