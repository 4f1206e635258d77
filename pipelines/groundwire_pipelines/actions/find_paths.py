"""`find_paths`: how the two ends of a question are connected, such as "from the button to the table"."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import Field

from groundwire_client import (
    EdgeDirection,
    FindPathsResponse,
    HybridParameters,
    NodeFilter,
    choices,
    is_id,
    telling_paths,
)
from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.key_rules import OneOf, at_least_one
from groundwire_pipelines.action_parts.query_input import effective_top_k, parsed_query
from groundwire_pipelines.action_parts.scope import narrowed, pin, scopes_of, sending
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.evidence_graph import in_turn
from groundwire_pipelines.evidence_nodes import EvidenceNode, PathEnd, distinct
from groundwire_pipelines.filter_keys import FilterKey
from groundwire_pipelines.parsing.filters import why_none_passes
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import RETRIEVED, PipelineState, SearchReport

_SPARE_PATHS = 4
"""So many paths are searched for each that is kept, as alike ones are dropped."""
_MOST_PATHS = 100
_MOST_NAMED = 200
_ARROWS: Final = ("->", "→")
_PAIRS: Final = (("from", "to"), ("between", "and"))
_LIMITS = ("max_hops", "max_paths", "graph_max_nodes", "graph_edge_allowlist")


class FindPathsSettings(StepSettings):
    """The keys of a `find_paths` step."""

    top_k: Annotated[Annotated[int, Field(ge=1)] | None, at_least_one("top-k-not-positive")] = None
    """How many nodes to find for each end, between which paths are searched; the pipeline's top_k when absent."""
    direction: Annotated[str, OneOf(choices(EdgeDirection), "direction-unknown")] | None = None
    """The direction of a path's edges; when absent outgoing, or both if there is no outgoing path."""
    filter: FilterKey = None


async def _find(step: FindPathsSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.clear_retrieval()
    top_k = effective_top_k(step.top_k, runtime.settings)
    ends = _ends(state, runtime)
    filter = narrowed(state, step.filter)
    named = await _named(ends, top_k, filter, state, runtime)
    if reason := why_none_passes(filter):
        state.search_report = SearchReport(0, reason=reason, is_filtered=True)
        return Outcome(detail={"from": 0, "to": 0, "paths": 0, "reason": reason})
    state.path_ends = [
        PathEnd(text, nodes, is_named=True)
        if nodes or is_id(text)
        else await _found(text, top_k, filter, state, runtime)
        for text, nodes in zip(ends, named, strict=True)
    ]
    from_ids, to_ids = [[node.id for node in end.nodes] for end in state.path_ends]
    state.retrieval_seed_nodes = list(dict.fromkeys(in_turn([from_ids, to_ids])))
    is_filtered = filter != NodeFilter()
    state.search_report = SearchReport(len(state.retrieval_seed_nodes), is_filtered=is_filtered)
    detail: dict[str, str | int | float | bool] = {"from": len(from_ids), "to": len(to_ids)}
    if not from_ids or not to_ids:
        return Outcome(detail={**detail, "paths": 0, "reason": "no_ends"})
    for direction in ("outgoing", "both") if step.direction is None else (step.direction,):
        response = await _paths(from_ids, to_ids, direction, filter, state, runtime)
        _keep(response, state, runtime)
        detail |= {"paths": len(state.paths), "direction": direction, "reason": response.debug.reason}
        if state.paths:
            break
    return Outcome(detail=detail)


def _ends(state: PipelineState, runtime: Runtime) -> tuple[str, str]:
    """The texts of both ends: those of the settings, else of the question."""
    question = parsed_query("question", None, state).query
    ends_in_question = ends_of(question) or ("", "")
    ends = runtime.settings.path_from or ends_in_question[0], runtime.settings.path_to or ends_in_question[1]
    if not all(ends):
        raise StepError(
            "path-ends-missing",
            "the question does not say where paths begin and end: ask 'from A to B', 'between A and B' or 'A -> B', "
            "or give the settings path_from and path_to",
        )
    return ends


async def _named(
    ends: Sequence[str], top_k: int, filter: NodeFilter, state: PipelineState, runtime: Runtime
) -> list[tuple[EvidenceNode, ...]]:
    """The nodes that each text names."""
    with sending():
        named = await runtime.retrieval.resolve_nodes(
            scopes_of(state),
            ends,
            max_nodes=min(top_k, _MOST_NAMED),
            filter=filter,
            lifecycle=runtime.settings.wire_lifecycle,
            access=state.retrieval_access,
        )
    pin(state, named.index, named.scopes)
    return [tuple(map(EvidenceNode.of, name.nodes)) for name in named.names]


async def _found(text: str, top_k: int, filter: NodeFilter, state: PipelineState, runtime: Runtime) -> PathEnd:
    """The nodes that match a text best, which names none and is no id."""
    with sending():
        response = await runtime.retrieval.query(
            scopes_of(state),
            text,
            hybrid=HybridParameters(top_k=top_k),
            filter=filter,
            lifecycle=runtime.settings.wire_lifecycle,
            access=state.retrieval_access,
        )
    pin(state, response.index, response.scopes)
    return PathEnd(text, tuple(map(EvidenceNode.of, response.matches)), is_named=False)


async def _paths(
    from_ids: Sequence[str],
    to_ids: Sequence[str],
    direction: str,
    filter: NodeFilter,
    state: PipelineState,
    runtime: Runtime,
) -> FindPathsResponse:
    settings = runtime.settings
    max_hops, max_paths, max_nodes = settings.max_hops, settings.max_paths, settings.graph_max_nodes
    if max_hops is None or max_paths is None or max_nodes is None or settings.graph_edge_allowlist is None:
        raise StepError("settings-key-missing", f"the pipeline's settings need each of {', '.join(_LIMITS)}")
    with sending():
        response = await runtime.retrieval.find_paths(
            scopes_of(state),
            from_ids,
            to_ids,
            max_hops=max_hops,
            max_paths=min(max_paths * _SPARE_PATHS, _MOST_PATHS),
            max_nodes=max_nodes,
            edge_allowlist=settings.graph_edge_allowlist,
            direction=choices(EdgeDirection)[direction],
            filter=filter,
            min_confidence=settings.graph_min_confidence or 0.0,
            lifecycle=runtime.settings.wire_lifecycle,
            access=state.retrieval_access,
        )
    pin(state, response.index, response.scopes)
    return response


def _keep(response: FindPathsResponse, state: PipelineState, runtime: Runtime) -> None:
    """Keeps the paths that differ, and their nodes as nodes to fetch, those of the first path first."""
    state.paths = telling_paths(response, ends_may_differ=True)[: runtime.settings.max_paths]
    on_paths = {node_id for path in state.paths for node_id in path.node_ids}
    state.path_nodes = [node for node in response.nodes if node.id in on_paths]
    state.graph_seed_nodes = [node.id for node in state.path_nodes]
    state.graph_edges = distinct(hop for path in state.paths for hop in path.hops)


def ends_of(question: str) -> tuple[str, str] | None:
    """The texts on both sides of the first arrow (`->` or `→`), else after `from` and `to`, or `between` and `and`.

    Of each pair, the first occurrence of the first word counts, and the first occurrence of the second word with text
    between them. The second end goes on to the end of the question, without punctuation. None if there is no such pair,
    or an end is empty.
    """
    readings = (*_by_arrows(question), *(_by_words(question.split(), *pair) for pair in _PAIRS))
    for first, second in readings:
        ends = first.strip(), second.strip().rstrip(".?! ")
        if all(ends):
            return ends
    return None


def _by_arrows(question: str) -> Iterator[tuple[str, str]]:
    for arrow in _ARROWS:
        first, _, second = question.partition(arrow)
        yield first, second


def _by_words(words: Sequence[str], before: str, between: str) -> tuple[str, str]:
    folded = [word.casefold() for word in words]
    if before not in folded:
        return "", ""
    start = folded.index(before) + 1
    if between not in folded[start + 1 :]:
        return "", ""
    middle = folded.index(between, start + 1)
    return " ".join(words[start:middle]), " ".join(words[middle + 1 :])


ACTION = Action(
    name="find_paths",
    summary="Searches for both ends of a question and finds the shortest paths between them.",
    settings=FindPathsSettings,
    run=_find,
    required_settings=_LIMITS,
    settings_needed=lambda step: () if step.top_k is not None else ("top_k",),
    data_of=lambda _: DataFlow(
        clears=RETRIEVED,
        writes=(
            "retrieval_seed_nodes",
            "path_ends",
            "paths",
            "path_nodes",
            "graph_seed_nodes",
            "graph_edges",
            "search_report",
        ),
    ),
)
