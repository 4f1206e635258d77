"""The state that the steps of one run share.

Every run has its own state; nothing else is shared between steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from pydantic import JsonValue

from groundwire_client import (
    AccessContext,
    DependencyPath,
    ExpandDebug,
    GraphEdge,
    NodeFilter,
    NodeText,
    PathNode,
    ReachedNode,
    SearchHit,
    ServiceContext,
    SkippedNode,
)
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.rendering.shown import ShownText

RETRIEVED: Final = (
    "retrieval_seed_nodes",
    "retrieval_hits",
    "graph_seed_nodes",
    "graph_expanded_nodes",
    "graph_edges",
    "graph_debug",
    "chosen_nodes",
    "paths",
    "path_nodes",
    "services",
    "node_texts",
    "skipped_texts",
    "search_report",
    "is_rendered",
    "handles",
    "shown",
    "context_blocks",
)
"""The fields of a run's state that hold what a retrieval brought."""

_EVIDENCE: Final = ("shown", "handles", "context_blocks")
"""Those of them that are of all retrievals of a question."""

Extension = TypeVar("Extension")


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished exchange: the question as asked and in English, the answer in English and as given."""

    question: str
    question_en: str
    answer_en: str
    answer: str


@dataclass(frozen=True, slots=True)
class SearchReport:
    """How a search went.

    `reason` is empty, or says why nothing was asked: `filters_exclude_each_other`. `is_filtered` when a filter narrowed
    the search. `similarity` is that of the best hit to the query where the search tells one that means the same from
    query to query, else None: the cosine of a semantic search, for `query` the best reranker's score or else cosine.
    `is_cut` when the response held less than was found.
    """

    hits: int
    reason: str = ""
    is_filtered: bool = False
    similarity: float | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one retrieval found: the nodes selected, walked to and chosen, best first, and what belongs to them."""

    seeds: tuple[str, ...]
    walked: tuple[ReachedNode, ...]
    chosen: tuple[str, ...]
    edges: tuple[GraphEdge, ...]
    texts: tuple[NodeText, ...]
    paths: tuple[DependencyPath, ...]
    path_nodes: tuple[PathNode, ...]
    services: tuple[ServiceContext, ...]


@dataclass(slots=True)
class PipelineState:
    """What a run knows so far. `repository`, `branch`, `access` and the ordinary filters come from its caller."""

    user_question: str
    repository: str
    branch: str
    is_english: bool = True
    session_id: str = ""
    user_id: str = ""
    active_index: str = ""
    """The pinned index version: the caller's, or that of the first response."""

    retrieval_access: AccessContext | None = field(default_factory=AccessContext)
    """What the caller may see: set by the caller, never by a step; None for what its token or certificate grants."""
    retrieval_filter: NodeFilter = field(default_factory=NodeFilter)
    """The ordinary part, for every search, walk and fetch: set by the caller; a parsed query may only add to it."""

    user_question_en: str = ""
    last_model_response: str = ""
    """The last model answer, stripped of its prefix once `handle_prefix` has run."""
    retrieval_mode: str = ""
    """The router's choice: `semantic`, `semantic_rerank`, `bm25`, `hybrid`, `direct`, or a name of a step's own prefix
    table; "" before it chose."""
    rewritten_question: str = ""
    """The query that the router wrote behind its prefix; "" before it did, or where it left it empty."""
    outputs: Mapping[str, JsonValue] = field(default_factory=dict)
    """What model steps answered, by the names that they give it: a text, or the value of an answer in JSON."""

    history: list[Turn] = field(default_factory=list)
    """The newest turns that the summary does not cover, oldest first."""
    history_summary: str = ""
    history_for_prompt: str = ""

    search_report: SearchReport | None = None
    """How the last search went; None before the first."""
    retrieval_seed_nodes: list[str] = field(default_factory=list)
    retrieval_hits: list[SearchHit] = field(default_factory=list)
    graph_seed_nodes: list[str] = field(default_factory=list)
    graph_expanded_nodes: list[ReachedNode] = field(default_factory=list)
    graph_edges: list[GraphEdge] = field(default_factory=list)
    graph_debug: ExpandDebug | None = None
    chosen_nodes: list[str] = field(default_factory=list)
    """The ids of the nodes whose texts are wanted, the best first; empty where no step chooses among them."""
    paths: list[DependencyPath] = field(default_factory=list)
    """The shortest paths between the two ends of a question, best first."""
    path_nodes: list[PathNode] = field(default_factory=list)
    """The nodes of the paths, as they first occur."""
    services: list[ServiceContext] = field(default_factory=list)
    """The services around the matches of a query, and who calls whom."""
    node_texts: list[NodeText] = field(default_factory=list)
    skipped_texts: list[SkippedNode] = field(default_factory=list)
    """The nodes whose texts were asked for and did not come, and why."""

    earlier_retrievals: list[Retrieval] = field(default_factory=list)
    """What the question's earlier loops found, oldest first; the fields above are of the current one."""
    data_requests: list[str] = field(default_factory=list)
    """What the model asked to see beyond the first retrieval, oldest first: one for each later retrieval."""

    is_rendered: bool = False
    """Whether a step has laid out the texts found so far."""
    shown: list[ShownText] = field(default_factory=list)
    """Which texts of all retrievals the evidence shows, in its order: their ids, places, and how much of each."""
    handles: dict[str, int] = field(default_factory=dict)
    """The handle of every text that evidence for this question has shown, by id; no other text gets it."""
    context_blocks: list[str] = field(default_factory=list)
    """The evidence for the question, of all its retrievals: what an answer rests on."""

    turn_loop_counter: int = 0
    final_answer_en: str = ""
    final_answer: str = ""

    extensions: dict[str, object] = field(default_factory=dict[str, object])
    """What plug-in actions keep, by the names that they choose: frozen dataclasses, replaced as a whole by whoever
    changes them; read them by `extension`."""

    error_step: str = ""
    """The step whose error a way out of it for errors took last; "" before there was one."""
    error_rule: str = ""
    error_message: str = ""

    def extension(self, name: str, kind: type[Extension]) -> Extension | None:
        """What a plug-in keeps under a name; None before it kept anything.

        Raises:
            StepError: `extension-taken`, when another plug-in keeps something else there.
        """
        value = self.extensions.get(name)
        if value is None or isinstance(value, kind):
            return value
        raise StepError(
            "extension-taken",
            f"extensions[{name!r}] holds a {type(value).__name__}, not a {kind.__name__}: two plug-ins use one name",
        )

    def clear_retrieval(self) -> None:
        """Empties every artifact of the retrieval that another takes the place of: the fields of RETRIEVED.

        Evidence stays where earlier loops of the question found some of it, until it is laid out anew.
        """
        kept = _EVIDENCE if self.earlier_retrievals else ()
        empty = PipelineState("", "", "")
        for name in RETRIEVED:
            if name not in kept:
                setattr(self, name, getattr(empty, name))

    def retrievals(self) -> list[Retrieval]:
        """What all retrievals of the question found, oldest first, the current one last."""
        return [*self.earlier_retrievals, self._current()]

    def keep_retrieval(self) -> None:
        """Ends the current retrieval: the next one adds to it."""
        self.earlier_retrievals.append(self._current())
        self.clear_retrieval()

    def _current(self) -> Retrieval:
        return Retrieval(
            seeds=tuple(dict.fromkeys([*self.graph_seed_nodes, *self.retrieval_seed_nodes])),
            walked=tuple(self.graph_expanded_nodes),
            chosen=tuple(self.chosen_nodes),
            edges=tuple(self.graph_edges),
            texts=tuple(self.node_texts),
            paths=tuple(self.paths),
            path_nodes=tuple(self.path_nodes),
            services=tuple(self.services),
        )
