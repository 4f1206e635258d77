"""`fetch_node_texts`: the texts of the selected nodes and of those around them, as many as fit a budget."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Self, TypeVar

from pydantic import Field, model_validator

from groundwire_client import NodeFilter, NodeText, PrioritizationMode, ReachedNode, SkippedNode, SkipReason, choices
from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.key_rules import OneOf, at_least_one, broken
from groundwire_pipelines.action_parts.scope import narrowed, pin, scopes_of, sending
from groundwire_pipelines.action_parts.text_budget import BudgetFactor, budget_of_context
from groundwire_pipelines.evidence_graph import in_turn
from groundwire_pipelines.filter_keys import FilterKey
from groundwire_pipelines.parsing.filters import why_none_passes
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

_Answered = TypeVar("_Answered", NodeText, SkippedNode)


class FetchSettings(StepSettings):
    """The keys of a `fetch_node_texts` step."""

    budget_tokens: Annotated[Annotated[int, Field(ge=1)] | None, at_least_one("budget-not-positive")] = None
    """The most tokens in all; 70 % of max_context_tokens, rounded down, when absent."""
    budget_factor: BudgetFactor = None
    max_chars: Annotated[Annotated[int, Field(ge=1)] | None, at_least_one("budget-not-positive")] = None
    """The most characters in all, instead of tokens."""
    prioritization_mode: Annotated[str, OneOf(choices(PrioritizationMode), "prioritization-mode-unknown")] = "balanced"
    """The order in which nodes get the budget."""
    filter: FilterKey = None

    @model_validator(mode="after")
    def _one_budget(self) -> Self:
        given = (self.budget_tokens, self.budget_factor, self.max_chars)
        if sum(budget is not None for budget in given) > 1:
            raise broken("budget-exclusive", "budget_tokens, budget_factor and max_chars exclude each other: keep one")
        return self


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The nodes whose texts are requested."""

    seeds: tuple[str, ...]
    nodes: tuple[ReachedNode, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The seeds, then the nodes around them, each once."""
        return tuple(dict.fromkeys((*self.seeds, *(node.id for node in self.nodes))))

    def only(self, ids: Collection[str]) -> "_Wanted":
        return _Wanted(
            tuple(seed for seed in self.seeds if seed in ids), tuple(node for node in self.nodes if node.id in ids)
        )

    def first(self, most: int | None, mode: str) -> "_Wanted":
        """The first ones in the order of a mode, seeds and graph nodes together; None means all."""
        return self if most is None else self.only(set(list(dict.fromkeys(self.in_order(mode)))[:most]))

    def in_order(self, mode: str) -> Iterable[str]:
        """The ids in the order in which the server packs their texts."""
        seeds = set(self.seeds)
        around = sorted((node for node in self.nodes if node.id not in seeds), key=lambda node: (node.depth, node.id))
        nodes = [node.id for node in around]
        match mode:
            case "seed_first":
                return (*self.seeds, *nodes)
            case "graph_first":
                return (*(id_ for seed in self.seeds for id_ in _group(seed, around)), *nodes)
            case _:
                return in_turn([self.seeds, nodes])


def _group(seed: str, nodes: Iterable[ReachedNode]) -> Iterable[str]:
    """A seed and the nodes whose parents lead to it; `nodes` are by depth, so a node comes after its parent."""
    group = {seed: None}
    for node in nodes:
        if node.parent_id in group:
            group[node.id] = None
    return group


async def _fetch(step: FetchSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    scopes_of(state)
    in_tokens = step.max_chars is None
    budget = step.max_chars or step.budget_tokens or budget_of_context(runtime.settings, step.budget_factor)
    mode = step.prioritization_mode
    wanted = _wanted(state).first(runtime.settings.node_text_fetch_top_n, mode)
    filter = narrowed(state, step.filter)
    texts, skipped = await _fetch_pages(mode, filter, state, runtime, wanted, budget, in_tokens=in_tokens)
    state.node_texts, state.skipped_texts = texts, skipped
    return Outcome(
        detail={
            "budget": budget,
            "budget_unit": "tokens" if in_tokens else "characters",
            "texts": len(texts),
            "tokens": sum(text.token_count for text in texts),
            "skipped": len(skipped),
            **({"reason": reason} if (reason := why_none_passes(filter)) else {}),
        }
    )


async def _fetch_pages(
    mode: str,
    filter: NodeFilter,
    state: PipelineState,
    runtime: Runtime,
    wanted: _Wanted,
    budget: int,
    *,
    in_tokens: bool,
) -> tuple[list[NodeText], list[SkippedNode]]:
    """Requests texts again that only the response size left out, while budget is left and each response has some.

    All are in the order in which the server would pack them into one response.
    """
    texts: list[NodeText] = []
    skipped: list[SkippedNode] = []
    places = {node_id: place for place, node_id in enumerate(dict.fromkeys(wanted.in_order(mode)))}
    while wanted.seeds or wanted.nodes:
        with sending():
            response = await runtime.retrieval.fetch(
                scopes_of(state),
                wanted.seeds,
                wanted.nodes,
                budget_tokens=budget if in_tokens else None,
                max_chars=None if in_tokens else budget,
                prioritization_mode=choices(PrioritizationMode)[mode],
                filter=filter,
                lifecycle=runtime.settings.wire_lifecycle,
                access=state.retrieval_access,
            )
        pin(state, response.index, response.scopes)
        texts += response.texts
        budget -= response.used_tokens if in_tokens else response.used_chars
        again = {node.id for node in response.skipped if node.reason == SkipReason.SKIP_REASON_RESPONSE_LIMIT}
        if not response.texts or budget <= 0:
            again = set()
        skipped += [node for node in response.skipped if node.id not in again]
        wanted = wanted.only(again)
    return _in_order(texts, places), _in_order(skipped, places)


def _in_order(nodes: Iterable[_Answered], places: Mapping[str, int]) -> list[_Answered]:
    """Texts, or nodes without one, of all responses in the order of one."""
    return sorted(nodes, key=lambda node: places.get(node.id, len(places)))


def _wanted(state: PipelineState) -> _Wanted:
    """The seeds and the graph nodes around them in the order of the walk."""
    seeds = state.graph_seed_nodes or state.retrieval_seed_nodes
    return _Wanted(tuple(seeds), tuple(node for node in state.graph_expanded_nodes if node.depth > 0))


ACTION = Action(
    name="fetch_node_texts",
    summary="Fetches the texts of the selected nodes and of those around them, as many as fit a budget.",
    settings=FetchSettings,
    run=_fetch,
    settings_needed=lambda step: (
        () if step.budget_tokens is not None or step.max_chars is not None else ("max_context_tokens",)
    ),
    data_of=lambda _: DataFlow(
        reads=(("graph_seed_nodes", "retrieval_seed_nodes"),), writes=("node_texts", "skipped_texts")
    ),
)
