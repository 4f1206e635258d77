"""What a query answers: plain immutable values, fields as in `groundwire.v1`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from groundwire_client._enums import FusionMode, QueryClass, SkipReason, Source, Visibility
from groundwire_client._query_parameters import RankingParameters
from groundwire_client._types import Location

JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


@dataclass(frozen=True, slots=True)
class StageScores:
    """A match's score after each stage; None where the stage did not score it.

    `dense` is a cosine similarity in [-1, 1]; BM25 scores are 0 where nothing matches; `trigram` and `rerank` lie in
    [0, 1]. `fused` is as the fusion gives it; `file` and `graph` are shares of the best candidate's, in [0, 1], and
    `kind_factor` and `repeat_factor` are what the score was multiplied by. `freshness` is the decay in (0, 1], `boost`
    the product of the corpus boosts that applied. `final` orders the matches before they are diversified.
    """

    dense: float | None
    bm25_code: float | None
    bm25_nlp: float | None
    trigram: float | None
    fused: float
    rerank: float | None
    freshness: float | None
    boost: float
    final: float
    file: float | None = None
    kind_factor: float = 1.0
    graph: float | None = None
    repeat_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class ParentContext:
    """A node that contains a match. `text` is empty when it was left out (`text_omitted`); `omit_reason` says why."""

    id: str
    text: str
    text_omitted: bool
    symbol: str
    citation: Location
    omit_reason: SkipReason | None = None
    token_count: int = 0


@dataclass(frozen=True, slots=True)
class MatchMeta:
    """Where a match belongs; what is unknown is empty.

    `is_latest` is False when a later version of the document exists. `parents` is empty where the query refuses
    them. A `neighbor` stands beside the match `neighbor_of`. `metadata` is what else the source said of it.
    """

    document_id: str
    document_version_id: str
    chunk_id: str
    collection_id: str
    case_id: str
    is_latest: bool
    deleted: bool
    parent_ids: tuple[str, ...]
    parents: tuple[ParentContext, ...]
    neighbor: bool
    neighbor_of: str
    metadata: Mapping[str, JsonValue] = field(hash=False)


@dataclass(frozen=True, slots=True)
class QueryMatch:
    """A match, or a neighbour of one, whose `rank` and `score` are 0 and whose `scores` are None.

    `score` is `scores.final`: higher is better, comparable only within one result. `text` is whole, or empty when it
    was left out (`text_omitted`); `omit_reason` says why. `context_prefix` says where it stands in its document;
    `timestamp` is in UTC. `is_test` marks tests, `is_generated` what a tool wrote. What is unknown is empty or None.
    """

    id: str
    rank: int
    score: float
    scores: StageScores | None
    text: str
    text_omitted: bool
    token_count: int
    context_prefix: str
    source_uri: str
    citation: Location
    kind: str
    corpus_type: str
    language: str
    symbol_name: str
    signature: str
    service_name: str
    repo_name: str
    section_path: str
    author: str
    timestamp: datetime | None
    channel: str
    meta: MatchMeta
    is_test: bool = False
    is_generated: bool = False
    omit_reason: SkipReason | None = None


@dataclass(frozen=True, slots=True)
class ServiceEdge:
    """`count` dependencies of one type from nodes of one service to nodes of another."""

    from_service: str
    to_service: str
    edge_type: str
    count: int


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """A service's neighbourhood: whom it calls, who calls it, and all edges between it and others."""

    service_name: str
    calls: tuple[str, ...]
    called_by: tuple[str, ...]
    edges: tuple[ServiceEdge, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """How the vector space and the nodes were chosen.

    `profile` is the server's routing rule that the request matched, empty for none; `collection_ids` are those that the
    search was narrowed to; `embedder` and `vector_space_id` tell the vector space; the rest is as in the request.
    """

    profile: str
    embedder: str
    vector_space_id: str
    process: str
    doc_class: str
    collection_ids: tuple[str, ...]
    workflow_id: str


@dataclass(frozen=True, slots=True)
class SourceUse:
    """A source's weight in the fusion and how many candidates it proposed."""

    source: Source | None
    weight: float
    candidates: int


@dataclass(frozen=True, slots=True)
class RetrieveMeta:
    """How an answer was made; every count is of what the caller may see.

    The parameters are those in effect, and None where they could have none on this query. `took_ms` is processor
    time of the server's own work on the call, without opening the index and embedding the query.
    `lexical_index_used` names the sources besides the dense one that proposed a candidate. `deleted_matches_blocked`
    counts deleted nodes that would else have been candidates. Freshness counts from `now`, in UTC. `exact` is False
    when an approximate index made the dense list. `truncated` is True when more than texts had to be left out to keep
    the response below 4 MiB. `used_tokens` is the sum over the texts of the response, each counted once.
    """

    routing: Routing
    took_ms: float
    query_class: QueryClass
    fusion: FusionMode | None
    sources: tuple[SourceUse, ...]
    alpha: float | None
    min_sim: float | None
    top_k_effective: int
    matches_returned: int
    max_candidates_effective: int | None
    vec_limit: int | None
    lex_limit: int | None
    trgm_limit: float | None
    diversify_strength: float | None
    rrf_k: int | None
    vector_candidates: int
    lexical_candidates: int
    fused_candidates: int
    deleted_matches_blocked: int
    visibility_effective: Visibility | None
    lexical_index_used: tuple[Source | None, ...]
    boosts: tuple[str, ...]
    freshness_half_life_days: float | None
    freshness_weight: float | None
    now: datetime
    exact: bool
    truncated: bool
    ranking: RankingParameters
    used_tokens: int = 0


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Matches, best first, and after them their neighbours; services where asked; the index version that answered."""

    matches: tuple[QueryMatch, ...]
    service_context: tuple[ServiceContext, ...]
    meta: RetrieveMeta
    index: str

    @property
    def ids(self) -> tuple[str, ...]:
        """The matches' ids without those of neighbours, best first: the seeds of an expansion or a fetch."""
        return tuple(match.id for match in self.matches if not match.meta.neighbor)
