"""The only interface to search, texts and the graph.

The engine opens a snapshot for one caller, some index versions and one filter, and uses nothing else. Access, lifecycle
and filter are bound when the snapshot is opened, so no later call can forget them. An implementation must answer as if
hidden nodes did not exist.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire_index.link_template import LinkTemplate
from groundwire_index.nodes.node import Node
from groundwire_index.nodes.source_texts import SourceRuns
from groundwire_index.repository_edges.stored_ends import SeenEnds
from groundwire_index.scope import Scope
from groundwire_index.store.manifest import VectorSpace
from groundwire_server.backends.index_directory import IndexDirectory
from groundwire_server.backends.selected_graph import SelectedGraph
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import Scopes
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.graph.expansion import Direction, Expansion
from groundwire_server.domain.graph.paths import Paths
from groundwire_server.domain.query.neighbourhood import Neighbourhood
from groundwire_server.domain.query.query_result import ServiceContext
from groundwire_server.domain.search.candidates import Candidates, Positions, Retrieval, WordStatistics
from groundwire_server.domain.search.search import Declaration, Filter, NodeLabel, Retriever
from groundwire_server.domain.texts.texts import StoredText, TextSize
from groundwire_server.execution.call import Checkpoint

Result = TypeVar("Result")


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


class Snapshot(Protocol):
    """One or more index versions as one caller sees them, limited to the nodes that pass a filter.

    "All nodes" means these. Rows are as in `domain.candidates`. A row that was not given out for this caller and filter
    may be refused with PermissionError, a defect. Every method takes all its inputs at once, since each call may be a
    round trip. Results may be remembered while the snapshot lives. All methods are deterministic.
    """

    @property
    def parts(self) -> Sequence["IndexSnapshot"]:
        """The versions, each by itself: a snapshot of one is its own part."""
        ...

    @property
    def index(self) -> str:
        """The version's name; "" for several."""
        ...

    @property
    def vector_space(self) -> VectorSpace | None:
        """The vector space that a query's vector must belong to; None for an index without vectors."""
        ...

    @property
    def retrievers(self) -> frozenset[Retriever]:
        """The retrievers that the index has data for."""
        ...

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        ...

    def retrieve(self, search: Retrieval, checkpoint: Checkpoint) -> Candidates:
        """The candidates of the requested retrievers, which the index has.

        A filter narrows the lists and changes no statistics of words: these count every node that the caller sees.
        Raises PreconditionError when the words of the index were made by another tokeniser.
        """
        ...

    def matched_tokens(self, query: str, rows: Positions) -> list[tuple[str, ...]]:
        """For each row [m] the query's code tokens that the node holds, sorted and distinct."""
        ...

    def rows(self, ids: Sequence[str]) -> Mapping[str, int]:
        """The rows of the ids that exist, in the order of the ids."""
        ...

    def ids(self, rows: Positions) -> list[str]:
        """The ids of rows [m]."""
        ...

    def labels(self, rows: Positions) -> list[NodeLabel]:
        """The facts about rows [m] that hits state."""
        ...

    def declarations(self, rows: Positions) -> list[Declaration]:
        """The declarations of rows [m]; reads no text."""
        ...

    def nodes(self, rows: Positions) -> list[Node]:
        """The nodes of rows [m], texts included."""
        ...

    def texts(self, rows: Positions) -> list[StoredText]:
        """The texts of rows [m], without other fields."""
        ...

    def text_sizes(self, rows: Positions) -> list[TextSize]:
        """The sizes of the texts of rows [m]; reads no text."""
        ...

    def vectors(self, rows: Positions) -> NDArray[np.float64]:
        """The unit vectors [m, dimension] of rows [m], zeros for a node without one. The index has vectors."""
        ...

    def neighbourhood(self, rows: Positions) -> Neighbourhood:
        """The confident edges of rows [m], which ascend, among all nodes that the caller sees, filter or not."""
        ...

    def parents(self, rows: Positions) -> list[Positions]:
        """For each row [m] the nodes that contain it, ascending."""
        ...

    def adjacent(self, rows: Positions) -> list[Positions]:
        """For each row [m] the chunks next to it in its document, the one before first; at most two."""
        ...

    def service_contexts(self, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
        """The neighbourhood of each service, sorted by name, over edges between nodes."""
        ...

    def expand(self, walk: Walk, checkpoint: Checkpoint) -> Expansion:
        """Breadth-first neighbourhood within the walk's limits."""
        ...

    def find_paths(self, search: PathSearch, checkpoint: Checkpoint) -> Paths:
        """The shortest paths within the search's limits."""
        ...

    def with_deleted(self) -> "Snapshot | None":
        """The same nodes and the deleted ones; None if the caller sees no deleted ones, or this has them."""
        ...


class IndexSnapshot(Snapshot, Protocol):
    """A snapshot of one version."""

    @property
    def scope(self) -> Scope:
        """The repository and branch, with the version."""
        ...

    def all_source_runs(self) -> Future[SourceRuns] | None:
        """The lines of all files of the version, perhaps only after some time; None if the version has none.

        They have lines that the caller may not see, so they are for `selected_source_runs` alone. Raises
        PreconditionError; from the future also BackendUnavailableError.
        """
        ...

    def selected_source_runs(self, all_runs: SourceRuns, checkpoint: Checkpoint) -> SourceRuns:
        """Of the lines of all files those of the nodes. Raises PreconditionError, and what `checkpoint` raises."""
        ...

    def paths(self, rows: Positions) -> list[str]:
        """The paths of rows [m]."""
        ...

    @property
    def links(self) -> LinkTemplate | None:
        """The template that makes the links of the version."""
        ...

    @property
    def has_graph(self) -> bool:
        """True if the graph is loaded, so that its methods do not wait."""
        ...

    def wait_for_graph(self) -> None:
        """Returns when the graph is loaded. Raises RuntimeError, a defect, when it cannot be."""
        ...

    @property
    def graph(self) -> SelectedGraph:
        """The version's graph among the nodes. Its methods may wait, and raise as those of the snapshot do."""
        ...

    @property
    def ends(self) -> SeenEnds:
        """The ends of edges to other repositories at nodes that the caller sees, filter or not.

        Raises PreconditionError when they are damaged.
        """
        ...

    def holds(self, rows: Positions) -> NDArray[np.bool_]:
        """For each of rows [m] whether it is one of the nodes; for rows that `ends` gave."""
        ...

    def together(self, parts: Sequence[Callable[[], Result]]) -> list[Result]:
        """The results of what is asked of several snapshots of this backend, at the same time if they wait."""
        ...

    def word_statistics(self, query: str, retrievers: Iterable[Retriever]) -> Mapping[Retriever, WordStatistics]:
        """The statistics of BM25 retrievers that the index has, over every node that the caller sees."""
        ...


class Backend(Protocol):
    """Search, texts and the graph."""

    def scopes(self, meant: Scopes, granted: Scopes) -> list[Scope]:
        """The repositories and branches of both sets that may have an active version, whoever may see a node of it.

        What is not granted is not read.
        """
        ...

    def open(self, scope: Scope, access: AccessContext, lifecycle: Lifecycle, filter_: Filter) -> IndexSnapshot:
        """The pinned or the active version. Raises NotFoundError, PreconditionError."""
        ...

    def open_at_once(
        self, scope: Scope, access: AccessContext, lifecycle: Lifecycle, filter_: Filter
    ) -> IndexSnapshot | None:
        """As `open`, if that takes no time: the version is open, and it is known what the caller sees of it; else None.

        It is called on the event loop.
        """
        ...


class ServedBackend(Backend, IndexDirectory, Protocol):
    """A backend as a server has it."""
