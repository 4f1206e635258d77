"""The only doors to search, texts and the graph.

The engine opens a snapshot for one caller and one index version and asks only that. Access is bound when the
snapshot is opened, so no later call can forget it; an implementation must answer as if hidden nodes did not exist.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_server.domain.access import AccessContext
from groundwire_server.domain.candidates import Candidates, CandidateSearch
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.expansion import Direction, Expansion
from groundwire_server.domain.grants import Scopes
from groundwire_server.domain.indexes import IndexSummary
from groundwire_server.domain.lifecycle import Lifecycle
from groundwire_server.domain.paths import Paths
from groundwire_server.domain.query_result import ServiceContext
from groundwire_server.domain.search import Filter, SearchResult, SearchType
from groundwire_server.domain.texts import StoredText, TextSize

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from groundwire_index.store.manifest import VectorSpace
    from groundwire_server.domain.neighbourhood import Neighbourhood


class Resemblance(Protocol):
    """How much each of n nodes resembles the others."""

    def __call__(self, place: int, /) -> "NDArray[np.float64]":
        """Given the place of one, its cosine similarity to each [n]; 0 where one is hidden or has no vector."""
        ...


@dataclass(frozen=True, slots=True)
class BackendSearch:
    """One search of one list or of both fused; already validated. `query_vector` is a unit vector, None without one."""

    search_type: SearchType
    query: str
    query_vector: "NDArray[np.float64] | None"
    top_k: int
    rrf_k: int
    filter: Filter
    explain: bool


@dataclass(frozen=True, slots=True)
class Walk:
    """One bounded walk; already validated. `edge_types` is None to follow all, else case-folded names.

    Edges below `min_confidence` are not followed; it is compared in single precision, as confidences are stored.
    """

    seed_ids: tuple[str, ...]
    max_depth: int
    max_nodes: int
    edge_types: frozenset[str] | None
    direction: Direction
    max_bytes: int
    min_confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class PathSearch:
    """One bounded search for paths; already validated. Edge types and confidence as in `Walk`."""

    from_ids: tuple[str, ...]
    to_ids: tuple[str, ...]
    max_hops: int
    max_paths: int
    max_nodes: int
    edge_types: frozenset[str] | None
    direction: Direction
    max_bytes: int
    min_confidence: float = 0.0


class RetrievalSnapshot(Protocol):
    """One index version as one caller may see it."""

    @property
    def index(self) -> str:
        """The version's name."""
        ...

    @property
    def vector_space(self) -> "VectorSpace | None":
        """What a query's vector must be of; None for an index without vectors."""
        ...

    def narrowed(self, filter_: Filter) -> "RetrievalSnapshot":
        """The same version as if the nodes that do not pass the filter were hidden.

        Searches have a filter of their own, which leaves their statistics as they are; they are not narrowed by this.
        """
        ...

    def search(self, search: BackendSearch, checkpoint: Checkpoint) -> SearchResult:
        """Ranked hits; deterministic. Raises PreconditionError when the index lacks what the search needs."""
        ...

    def find_candidates(self, search: CandidateSearch, checkpoint: Checkpoint) -> Candidates:
        """What several sources propose; deterministic. Raises PreconditionError when the index lacks a named source."""
        ...

    def neighbourhood(self, ids: Sequence[str]) -> "Neighbourhood":
        """The confident edges among visible nodes, in the order of `ids`, which ascend; see `domain.neighbourhood`."""
        ...

    def nodes(self, ids: Sequence[str]) -> Mapping[str, Node]:
        """The visible ones among `ids`, texts included."""
        ...

    def resemblance(self, ids: Sequence[str]) -> Resemblance | None:
        """How much the nodes resemble each other; None without vectors."""
        ...

    def parents(self, ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """For each id the visible nodes that contain it, sorted by id; ids without any are left out."""
        ...

    def neighbors(self, ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """For each id the visible chunks next to it in its document, the one before first; at most two."""
        ...

    def service_contexts(self, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
        """The neighbourhood of each service, sorted by name, over edges both ends of which are visible."""
        ...

    def text_sizes(self, ids: Sequence[str]) -> Mapping[str, TextSize]:
        """The sizes of the visible ones among `ids`."""
        ...

    def fetch_texts(self, ids: Sequence[str]) -> Mapping[str, StoredText]:
        """The texts of the visible ones among `ids`."""
        ...


class RetrievalBackend(Protocol):
    """Search and texts."""

    def open(self, scope: Scope, access: AccessContext, lifecycle: Lifecycle = Lifecycle.ACTIVE) -> RetrievalSnapshot:
        """The pinned or the active version. Raises NotFoundError, PreconditionError."""
        ...


class GraphSnapshot(Protocol):
    """The dependency graph of one index version as one caller may see it."""

    def narrowed(self, filter_: Filter) -> "GraphSnapshot":
        """The same graph as if the nodes that do not pass the filter, and their edges, were hidden."""
        ...

    def expand(self, walk: Walk, checkpoint: Checkpoint) -> Expansion:
        """Breadth-first neighbourhood within the walk's limits; deterministic."""
        ...

    def find_paths(self, search: PathSearch, checkpoint: Checkpoint) -> Paths:
        """The shortest paths within the search's limits; deterministic."""
        ...


class GraphProvider(Protocol):
    """The unified dependency graph."""

    def open_graph(self, scope: Scope, access: AccessContext, lifecycle: Lifecycle = Lifecycle.ACTIVE) -> GraphSnapshot:
        """The pinned or the active version. Raises NotFoundError, PreconditionError."""
        ...


class IndexDirectory(Protocol):
    """Which versions there are and which answers."""

    def check_readable(self) -> None:
        """Raises OSError when no version can be read, whichever it is. May block for as long as the storage does."""
        ...

    def list_indexes(
        self, repository: str, branch: str, access: AccessContext, scopes: Scopes, checkpoint: Checkpoint
    ) -> tuple[IndexSummary, ...]:
        """Versions in `scopes` of which the caller sees at least one node; "" for a name means any.

        Nothing outside of `scopes` is looked at. Raises what the checkpoint raises.
        """
        ...

    def get_index(self, scope: Scope, access: AccessContext) -> IndexSummary:
        """One version. Raises NotFoundError, PreconditionError."""
        ...

    def activate(self, scope: Scope) -> str:
        """Makes `scope.active_index` the answering version; returns the one before or "". Raises as get_index."""
        ...

    def delete(self, scope: Scope) -> None:
        """Deletes a version that is not active. Raises NotFoundError, PreconditionError."""
        ...
