"""Query: what is answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.query.query import Freshness, FusionMode, QueryClass
from groundwire_server.domain.query.query_parameters import EffectiveParameters
from groundwire_server.domain.query.ranking_parameters import RankingParameters
from groundwire_server.domain.search.search import LEXICAL_RETRIEVERS, LeftOut, Retriever
from groundwire_server.domain.texts.texts import SkipReason


@dataclass(frozen=True, slots=True)
class AppliedParameters:
    """Each parameter that could change the answer; None for one that could not."""

    top_k: int
    alpha: float | None = None
    min_sim: float | None = None
    vec_limit: int | None = None
    lex_limit: int | None = None
    trgm_limit: float | None = None
    max_candidates: int | None = None
    diversify_strength: float | None = None
    rrf_k: int | None = None
    freshness: Freshness | None = None


def applied_parameters(
    parameters: EffectiveParameters,
    fusion: FusionMode,
    retrievers: Sequence[Retriever],
    *,
    diversified: bool,
    freshened: bool,
) -> AppliedParameters:
    """The parameters that applied, by the `retrievers` used; `diversified` and `freshened` are stages that applied."""
    dense, trigram = Retriever.DENSE in retrievers, Retriever.TRIGRAM in retrievers
    lexical = any(retriever in retrievers for retriever in LEXICAL_RETRIEVERS)
    weighted = fusion is FusionMode.WEIGHTED and dense and lexical
    return AppliedParameters(
        top_k=parameters.top_k,
        alpha=parameters.alpha if weighted else None,
        min_sim=parameters.min_sim if dense else None,
        vec_limit=parameters.vec_limit if dense else None,
        lex_limit=parameters.lex_limit if lexical else None,
        trgm_limit=parameters.trgm_limit if trigram else None,
        max_candidates=parameters.max_candidates,
        diversify_strength=parameters.diversify_strength if diversified else None,
        rrf_k=parameters.rrf_k if fusion is FusionMode.RRF else None,
        freshness=parameters.freshness if freshened else None,
    )


@dataclass(frozen=True, slots=True)
class StageScores:
    """A match's score after each stage; None where the stage did not score it.

    `fused` is as the fusion gives it. `file` and `graph` are the file's score and the neighbours' gain as shares of the
    best, in [0, 1]. `purpose` is the name of what the text is for, "" without the ranking. `purpose_factor` is its
    factor, and `kind_factor` that times the factor for fragments. `repeat_factor` is the factor for better matches
    of the same file, `length_factor` that for the length, `within_file_factor` that for the words which the
    best of the file has. `freshness` is the decay in (0, 1], `boost` the product of the multipliers that applied.
    `older_definition_factor` is that for an older definition of an object. Of the current one, `older_definitions` is
    how many older ones are candidates, and `best_older_definition` the highest score of these, which it has if its own
    is lower. `final` orders the matches before they are diversified.
    """

    dense: float | None
    bm25_code: float | None
    bm25_prose: float | None
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
    length_factor: float = 1.0
    within_file_factor: float = 1.0
    older_definition_factor: float = 1.0
    older_definitions: int = 0
    best_older_definition: float | None = None
    purpose: str = ""
    purpose_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class ParentText:
    """A node that contains a match; `text` is why it was left out, where it was."""

    node: Node
    text: str | SkipReason


@dataclass(frozen=True, slots=True)
class Match:
    """A node in the answer. `text` is why it was left out, where it was; it is "" before texts are read.

    A neighbour has no scores and no rank; `neighbor_of` names the match that it is next to.
    """

    node: Node
    text: str | SkipReason = ""
    rank: int = 0
    scores: StageScores | None = None
    parent_ids: tuple[str, ...] = ()
    parents: tuple[ParentText, ...] = ()
    neighbor_of: str = ""


@dataclass(frozen=True, slots=True)
class ServiceEdge:
    """`count` dependencies of one type from nodes of one service to nodes of another."""

    from_service: str
    to_service: str
    edge_type: str
    count: int


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """A service's neighbourhood: whom it calls, who calls it, by name, and through which edges."""

    service_name: str
    calls: tuple[str, ...]
    called_by: tuple[str, ...]
    edges: tuple[ServiceEdge, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """The rule that the query matched ("" for none), the vector space that answered, and what the caller routed by.

    `collection_ids` are those that the search was narrowed to.
    """

    profile: str
    embedder: str
    vector_space_id: str
    process: str
    doc_class: str
    collection_ids: tuple[str, ...]
    workflow_id: str


@dataclass(frozen=True, slots=True)
class RetrieveMeta:
    """How the answer was made; every count is of what the caller may see.

    `took_ms` is processor time of the call's own work, without opening the index and embedding the query.
    """

    routing: Routing
    took_ms: float
    query_class: QueryClass
    fusion: FusionMode
    weights: tuple[tuple[Retriever, float], ...]
    parameters: AppliedParameters
    ranking: RankingParameters
    matches_returned: int
    list_lengths: tuple[tuple[Retriever, int], ...]
    lexical_candidates: int
    fused_candidates: int
    deleted_matches_blocked: int
    visibility_effective: Lifecycle
    boost_rules: tuple[str, ...]
    now: datetime
    exact: bool
    truncated: bool
    used_tokens: int


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Matches, best first and then neighbours; the services around them when asked; how the answer was made.

    `scopes` are the versions that answered a request for several, where `index` is "". `left_out` is what they had no
    data for.
    """

    matches: tuple[Match, ...]
    service_context: tuple[ServiceContext, ...]
    meta: RetrieveMeta
    index: str
    scopes: tuple[Scope, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
