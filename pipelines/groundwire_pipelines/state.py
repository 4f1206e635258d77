"""The state that the steps of one run share.

Every run has its own state; nothing else is shared between steps.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Final, TypeVar

from pydantic import JsonValue

from groundwire_client import (
    AccessContext,
    DependencyPath,
    ExpandDebug,
    GraphEdge,
    IndexScope,
    NodeFilter,
    NodeText,
    PathNode,
    ReachedNode,
    SearchHit,
    ServiceContext,
    SkippedNode,
    is_of,
    scope_name,
)
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.evidence_nodes import PathEnd, ShownText
from groundwire_pipelines.runtime import AnsweredCall, Turn

RETRIEVED: Final = tuple(
    """
    retrieval_seed_nodes retrieval_hits graph_seed_nodes graph_expanded_nodes graph_edges graph_debug
    path_ends paths path_nodes services node_texts skipped_texts search_report filter_notes
    is_rendered rendered added shown context_blocks model_answer
    """.split()
)
"""The fields of a run's state that hold the results of a retrieval, and what a model answered to them."""

_EVIDENCE: Final = ("shown", "context_blocks")
"""Those of them that belong to all retrievals of a question."""

OF_CALLER: Final = ("repository", "branch", "scopes", "active_index", "retrieval_access", "retrieval_filter")
"""The fields that the run's caller sets, and no step can change. The versions are those of the first response, where
the caller has not pinned others: see `pin`."""

Extension = TypeVar("Extension")


@dataclass(frozen=True, slots=True)
class SearchReport:
    """A search in brief.

    `reason` is empty, or says why no node could be found: `filters_exclude_each_other` or `filters_not_combinable`.
    `is_filtered`: a filter narrowed the search. `similarity`: the best cosine of a hit and the query, for `query` with
    a rerank its best score. `words`: the most of the query's words that one hit has, as a share of all. Both are
    comparable between queries, and None if the search does not state them. `is_cut`: the response held less than was
    found. `is_weak`: a `check_retrieval` step judged that all hits are weak. `weakness`: why, if the server judged so
    of the evidence that it gathered.
    """

    hits: int
    reason: str = ""
    is_filtered: bool = False
    similarity: float | None = None
    words: float | None = None
    is_cut: bool = False
    is_weak: bool = False
    weakness: str = ""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The results of one retrieval: nodes selected and reached, best first, what belongs to them, and its evidence.

    `rendered` and `added` are the fields of `PipelineState`.
    """

    seeds: tuple[str, ...]
    walked: tuple[ReachedNode, ...]
    edges: tuple[GraphEdge, ...]
    texts: tuple[NodeText, ...]
    paths: tuple[DependencyPath, ...]
    path_nodes: tuple[PathNode, ...]
    services: tuple[ServiceContext, ...]
    rendered: str
    added: tuple[ShownText, ...]


@dataclass(slots=True)
class PipelineState:
    """The state of a run. `repository`, `branch`, access and the caller's filter come from its caller."""

    user_question: str
    repository: str
    branch: str
    is_english: bool = True
    session_id: str = ""
    user_id: str = ""
    active_index: str = ""
    """The pinned index version: the caller's, or that of the first response; of several scopes each with its scope.
    Read-only, see OF_CALLER."""
    scopes: list[IndexScope] = field(default_factory=list)
    """The scopes of a run that asks several: the caller's, then those that answered first, pinned. Empty for one.
    With several, `repository` and `branch` list their names as the caller gave them. Read-only, see OF_CALLER: a step
    gets a copy."""

    retrieval_access: AccessContext | None = field(default_factory=AccessContext)
    """The access of the caller; None for the access that its token or certificate grants.

    Read-only, see OF_CALLER: a step gets a copy.
    """
    retrieval_filter: NodeFilter = field(default_factory=NodeFilter)
    """The caller's filter, for every search, walk and fetch; a parsed query may only narrow it further. Read-only, see
    OF_CALLER: a step gets a copy."""

    user_question_en: str = ""
    last_model_response: str = ""
    """The last model answer, stripped of its prefix once `handle_prefix` has run."""
    answered_call: AnsweredCall | None = None
    """The call of the last model answer, so that a `handle_prefix` step can ask again; None after a JSON answer."""
    retrieval_mode: str = ""
    """The router's choice: `semantic`, `semantic_rerank`, `bm25`, `hybrid`, `direct`, or a name from a step's own table
    of prefixes; "" before the choice."""
    model_answer: str = ""
    """The last answer of a `call_model` step, unless a `handle_prefix` step has read it or a search came after it: the
    answer of a run without `final_answer_en`."""
    rewritten_question: str = ""
    """The query that the router wrote after its prefix; "" before that, or if it wrote none."""
    outputs: Mapping[str, JsonValue] = field(default_factory=dict)
    """The answers of model steps, by their names: texts, or the values of JSON answers."""

    history: list[Turn] = field(default_factory=list)
    """The newest turns that the summary does not cover, oldest first."""
    history_summary: str = ""
    history_for_prompt: str = ""

    index_kinds: list[str] = field(default_factory=list)
    """The kinds of nodes that the index has, for the prompt of a router; empty when unknown."""
    index_languages: list[str] = field(default_factory=list)
    """The languages that it has."""
    index_folders: list[str] = field(default_factory=list)
    """Its folders, cut to two names."""
    modes_without_data: list[str] = field(default_factory=list)
    """The retrieval modes that it has no data for."""

    search_report: SearchReport | None = None
    """How the last search went; None before the first."""
    filter_notes: list[str] = field(default_factory=list)
    """The filters of the last query that had no effect, and why, for the model that wrote them."""
    retrieval_seed_nodes: list[str] = field(default_factory=list)
    retrieval_hits: list[SearchHit] = field(default_factory=list)
    graph_seed_nodes: list[str] = field(default_factory=list)
    graph_expanded_nodes: list[ReachedNode] = field(default_factory=list)
    graph_edges: list[GraphEdge] = field(default_factory=list)
    graph_debug: ExpandDebug | None = None
    path_ends: list[PathEnd] = field(default_factory=list)
    """The two ends between which paths were sought."""
    paths: list[DependencyPath] = field(default_factory=list)
    """The shortest paths between the two ends of a question, best first."""
    path_nodes: list[PathNode] = field(default_factory=list)
    """The nodes of the paths, in the order of their first occurrence."""
    services: list[ServiceContext] = field(default_factory=list)
    """The services around the matches of a query, and who calls whom."""
    node_texts: list[NodeText] = field(default_factory=list)
    skipped_texts: list[SkippedNode] = field(default_factory=list)
    """The nodes whose texts were requested but not returned, and why."""

    earlier_retrievals: list[Retrieval] = field(default_factory=list)
    """The results of the question's earlier retrievals, oldest first; the fields above are those of the current one."""
    data_requests: list[str] = field(default_factory=list)
    """The model's requests for more data, oldest first: one for each retrieval after the first."""

    is_rendered: bool = False
    """True if a step has rendered evidence of the current retrieval, even if none of it fits the budget."""
    rendered: str = ""
    """The evidence of the current retrieval as it was rendered; "" if no step has rendered any."""
    added: list[ShownText] = field(default_factory=list)
    """The texts in `rendered`, by their numbers. A number means one text for the whole question."""
    shown: list[ShownText] = field(default_factory=list)
    """The texts of all retrievals that `context_blocks` show, by their numbers."""
    context_blocks: list[str] = field(default_factory=list)
    """The evidence for the question, from all its retrievals, within the budget of a prompt."""

    turn_loop_counter: int = 0
    weak_searches: int = 0
    """The last searches in a row that, by their `check_retrieval` steps, found nothing or weak matches only."""
    incomplete: str = ""
    """Why no more evidence is searched for although the model requests it; "" if it does not. The answer begins so."""
    final_answer_en: str = ""
    final_answer: str = ""

    extensions: dict[str, object] = field(default_factory=dict[str, object])
    """Values of plug-in actions, under names of their choice: frozen dataclasses, replaced as a whole; read them with
    `extension`."""

    error_step: str = ""
    """The step with the last error that a transition for errors handled; "" before the first."""
    error_rule: str = ""
    error_message: str = ""

    def extension(self, name: str, kind: type[Extension]) -> Extension | None:
        """The value that a plug-in stored under a name; None before it stored one.

        Raises:
            StepError: `extension-taken`, if another plug-in has stored a value of another type there.
        """
        value = self.extensions.get(name)
        if value is None or isinstance(value, kind):
            return value
        raise StepError(
            "extension-taken",
            f"extensions[{name!r}] holds a {type(value).__name__}, not a {kind.__name__}: two plug-ins use one name",
        )

    def pin(self, index: str, scopes: Sequence[IndexScope] = ()) -> None:
        """Pins the run to the index version of its first response, so that all its evidence comes from one version.

        A run over several scopes is pinned to `scopes`, those that answered first; later calls name their versions.

        Raises:
            StepError: `index-changed`, if a server answers a pinned call from another version, or a scope that the
                caller has not named.
        """
        answered = (
            ", ".join(scope_name(scope.repository, scope.branch, scope.active_index) for scope in scopes) or index
        )
        if not self.active_index:
            foreign = [scope for scope in scopes if not is_of(scope, self.scopes)]
            if foreign:
                name = scope_name(foreign[0].repository, foreign[0].branch)
                raise StepError("index-changed", f"{name!r} answered, and is none of the scopes that the run asks")
            _set_field(self, "active_index", answered)
            _set_field(self, "scopes", list(scopes))
        elif answered != self.active_index:
            raise StepError(
                "index-changed",
                f"the run is pinned to index {self.active_index!r}, but {answered!r} answered: ask again",
            )

    def clear_retrieval(self) -> None:
        """Clears the fields of RETRIEVED, because a new retrieval replaces the current one.

        Evidence from earlier retrievals of the question stays until it is rendered anew.
        """
        kept = _EVIDENCE if self.earlier_retrievals else ()
        empty = PipelineState("", "", "")
        for name in RETRIEVED:
            if name not in kept:
                setattr(self, name, getattr(empty, name))

    def retrievals(self) -> list[Retrieval]:
        """The results of all retrievals of the question, oldest first, the current one last."""
        return [*self.earlier_retrievals, self._current()]

    def keep_retrieval(self) -> None:
        """Ends the current retrieval; the results of the next one are added to it."""
        self.earlier_retrievals.append(self._current())
        self.clear_retrieval()

    def _current(self) -> Retrieval:
        return Retrieval(
            seeds=tuple(dict.fromkeys([*self.graph_seed_nodes, *self.retrieval_seed_nodes])),
            walked=tuple(self.graph_expanded_nodes),
            edges=tuple(self.graph_edges),
            texts=tuple(self.node_texts),
            paths=tuple(self.paths),
            path_nodes=tuple(self.path_nodes),
            services=tuple(self.services),
            rendered=self.rendered,
            added=tuple(self.added),
        )


class _OfCaller:
    """A field that is set once and read as a copy, so that no step changes what later steps send."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._slot = PipelineState.__dict__[name]

    def __get__(self, state: PipelineState | None, kind: type[PipelineState]) -> object:
        return self if state is None else deepcopy(self._slot.__get__(state))

    def __set__(self, state: PipelineState, value: object) -> None:
        try:
            self._slot.__get__(state)
        except AttributeError:  # the state is being made
            self.put(state, value)
            return
        raise StepError(
            "state-read-only",
            f"{self._name} comes from the caller of the run, and no step can change it: to see less, give the calls "
            "of the step a filter of their own",
        )

    def put(self, state: PipelineState, value: object) -> None:
        """Sets the field, whether or not it was set before."""
        self._slot.__set__(state, deepcopy(value))


def _set_field(state: PipelineState, name: str, value: object) -> None:
    field_of_caller: _OfCaller = PipelineState.__dict__[name]
    field_of_caller.put(state, value)


def restore_pin(state: PipelineState, index: str, scopes: Sequence[IndexScope]) -> None:
    """Undoes a pin that a failed try of a step has set. For the engine, which knows what was pinned before the try."""
    _set_field(state, "active_index", index)
    _set_field(state, "scopes", list(scopes))


for _name in OF_CALLER:
    setattr(PipelineState, _name, _OfCaller(_name))
