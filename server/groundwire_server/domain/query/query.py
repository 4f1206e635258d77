"""Query: what is asked."""

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from groundwire_server.domain.search.search import DEFAULT_RRF_K, NodesRequest, Retriever


class FusionMode(Enum):
    """How the lists become one."""

    ADAPTIVE = "adaptive"
    RRF = "rrf"
    WEIGHTED = "weighted"


class QueryClass(Enum):
    """The form of a query; it chooses the weights of an adaptive fusion."""

    IDENTIFIER = "identifier"
    QUOTED = "quoted"
    PATH = "path"
    NATURAL_LANGUAGE = "natural_language"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class HybridParameters:
    """Parameters of retrievers and fusion; None takes the default of `domain.query_parameters.QueryDefaults`."""

    alpha: float | None = None
    min_sim: float | None = None
    top_k: int | None = None
    vec_limit: int | None = None
    lex_limit: int | None = None
    trgm_limit: float | None = None
    max_candidates: int | None = None
    diversify_strength: float | None = None


@dataclass(frozen=True, slots=True)
class Freshness:
    """How much recent conversations gain: their weight in [0, 1], which halves its effect every `half_life_days`.

    A weight or a half-life of 0 switches it off.
    """

    half_life_days: float = 90.0
    weight: float = 0.1

    @property
    def acts(self) -> bool:
        """False when it is switched off."""
        return self.weight > 0.0 and self.half_life_days > 0.0


@dataclass(frozen=True, slots=True)
class QueryRequest(NodesRequest):
    """A query as the caller asked it.

    `top_k` overrides `hybrid.top_k`. Empty `retrievers` means every one that the index has. Without a `fusion` it is
    WEIGHTED where `hybrid.alpha` is given, else ADAPTIVE. `now` is the time that freshness counts from;
    `freshness_half_life_days` and `freshness_weight` take the server's defaults where they are None. `process`,
    `doc_class` and `workflow_id` choose a rule of the server's routing and do nothing else. `not_found_when_empty`
    turns a result without matches into NotFoundError. `budget_tokens` bounds the texts of the answer; None is no bound.
    `cap_top_k` lowers a `top_k` above the server's maximum to it; without it that is refused. With `history` older
    definitions follow the current one by their own scores.
    """

    query: str
    now: datetime
    hybrid: HybridParameters = HybridParameters()
    top_k: int | None = None
    process: str = ""
    doc_class: str = ""
    workflow_id: str = ""
    retrievers: tuple[Retriever, ...] = ()
    fusion: FusionMode | None = None
    rrf_k: int = DEFAULT_RRF_K
    rerank: bool = False
    freshness_half_life_days: float | None = None
    freshness_weight: float | None = None
    query_vector: tuple[float, ...] = ()
    include_parents: bool = True
    include_neighbors: bool = False
    expand_graph: bool = False
    not_found_when_empty: bool = False
    budget_tokens: int | None = None
    cap_top_k: bool = False
    history: bool = False

    @property
    def extent(self) -> tuple[int, ...]:
        """See `NodesRequest.extent`."""
        limits = self.top_k, self.hybrid.top_k, self.hybrid.vec_limit, self.hybrid.lex_limit, self.hybrid.max_candidates
        return (len(self.query), *(limit or 0 for limit in limits), self.budget_tokens or 0)

    @property
    def choices(self) -> tuple[Hashable, ...]:
        """See `NodesRequest.choices`."""
        return (
            self.retrievers,
            bool(self.query_vector),
            self.fusion,
            self.hybrid.diversify_strength,
            self.hybrid.trgm_limit,
            self.rerank,
            self.include_parents,
            self.include_neighbors,
            self.expand_graph,
        )
