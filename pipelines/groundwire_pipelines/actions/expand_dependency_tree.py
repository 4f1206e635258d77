"""`expand_dependency_tree` (seed 000): walks the dependency graph from the nodes that a search selected."""

from typing import Annotated

from pydantic import Field

from groundwire_client import Direction, ExpandDebug
from groundwire_pipelines.actions.definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions.rules import one_of
from groundwire_pipelines.actions.scope import pin, scope_of, sending
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import PipelineState

_SettingsKey = Annotated[str, Field(min_length=1)]


class ExpandSettings(StepSettings):
    """The keys of an `expand_dependency_tree` step: each limit names the pipeline setting that holds it."""

    max_depth_from_settings: Annotated[
        _SettingsKey, Field(description="The setting that says how many edges a node may lie away from a seed.")
    ]
    max_nodes_from_settings: Annotated[
        _SettingsKey, Field(description="The setting that says how many nodes to return at most, seeds included.")
    ]
    edge_allowlist_from_settings: Annotated[
        _SettingsKey, Field(description="The setting that lists the edge types to follow.")
    ]
    min_confidence_from_settings: Annotated[
        _SettingsKey | None,
        Field(description="The setting that says how sure an edge must be to be followed; every edge is when absent."),
    ] = None
    direction: Annotated[
        Direction, one_of(Direction, "direction-unknown"), Field(description="Which way to follow edges.")
    ] = Direction.OUTGOING


async def _expand(step: ExpandSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    scope = scope_of(state)
    max_depth = _number(runtime.settings, step.max_depth_from_settings)
    max_nodes = _number(runtime.settings, step.max_nodes_from_settings)
    edge_allowlist = _names(runtime.settings, step.edge_allowlist_from_settings)
    min_confidence = _share(runtime.settings, step.min_confidence_from_settings)
    if not state.retrieval_seed_nodes:
        return _nothing(state)
    with sending():
        walked = await runtime.retrieval.expand(
            scope,
            state.retrieval_seed_nodes,
            max_depth=max_depth,
            max_nodes=max_nodes,
            edge_allowlist=edge_allowlist,
            direction=step.direction,
            filter=state.retrieval_filter,
            min_confidence=min_confidence,
            access=state.retrieval_access,
        )
    pin(state, walked.index)
    state.graph_seed_nodes = list(walked.seed_ids)
    state.graph_expanded_nodes = list(walked.nodes)
    state.graph_edges = list(walked.edges)
    state.graph_debug = walked.debug
    return _outcome(walked.debug)


def _nothing(state: PipelineState) -> Outcome:
    """The expansion of no seeds, which needs no server."""
    state.graph_seed_nodes = []
    state.graph_expanded_nodes = []
    state.graph_edges = []
    state.graph_debug = ExpandDebug(seed_count=0, expanded_count=0, edges_count=0, truncated=False, reason="no_seeds")
    return _outcome(state.graph_debug)


def _outcome(debug: ExpandDebug) -> Outcome:
    return Outcome(
        detail={
            "seeds": debug.seed_count,
            "nodes": debug.expanded_count,
            "edges": debug.edges_count,
            "truncated": debug.truncated,
            "reason": debug.reason,
        }
    )


def _setting(settings: PipelineSettings, key: str) -> object:
    value = dict(settings).get(key)
    if value is None:
        raise StepError("settings-key-missing", f"the pipeline's settings have no {key}, which the step refers to")
    return value


def _number(settings: PipelineSettings, key: str) -> int:
    value = _setting(settings, key)
    if not isinstance(value, int):
        raise StepError("settings-value-malformed", f"the setting {key} must be a whole number, not {value!r}")
    return value


def _share(settings: PipelineSettings, key: str | None) -> float:
    if key is None:
        return 0.0
    value = _setting(settings, key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise StepError("settings-value-malformed", f"the setting {key} must be a number, not {value!r}")
    return value


def _names(settings: PipelineSettings, key: str) -> tuple[str, ...]:
    value = _setting(settings, key)
    if not isinstance(value, tuple):
        raise StepError("settings-value-malformed", f"the setting {key} must be a list of edge types, not {value!r}")
    return tuple(map(str, value))


ACTION = Action(
    name="expand_dependency_tree",
    summary="Walks the dependency graph from the nodes that a search selected.",
    settings=ExpandSettings,
    run=_expand,
    settings_needed=lambda step: (
        step.max_depth_from_settings,
        step.max_nodes_from_settings,
        step.edge_allowlist_from_settings,
        *filter(None, (step.min_confidence_from_settings,)),
    ),
)
