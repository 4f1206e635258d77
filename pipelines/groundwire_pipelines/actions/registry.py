"""All actions that a pipeline may name: the built-in ones, and those of installed plug-ins."""

import functools
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, Final

from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.actions import (
    call_model,
    check_context_budget,
    check_retrieval,
    describe_index,
    expand_dependency_tree,
    fetch_node_texts,
    finalize,
    find_paths,
    gather_evidence,
    handle_prefix,
    load_conversation_history,
    loop_guard,
    persist_turn_and_finalize,
    query,
    render_context_blocks,
    render_paths,
    search_nodes,
    summarize_context,
    translate_in_if_needed,
)
from groundwire_pipelines.errors import PipelineError

PLUGIN_GROUP: Final = "groundwire.actions"
"""The entry point group of plug-ins: each entry has the name of an action and refers to an `Action`."""

BUILT_IN: Final[tuple[Action[Any], ...]] = (
    translate_in_if_needed.ACTION,
    load_conversation_history.ACTION,
    check_context_budget.ACTION,
    describe_index.ACTION,
    call_model.ACTION,
    handle_prefix.ACTION,
    search_nodes.ACTION,
    replace(search_nodes.ACTION, name="fetch_more_context"),  # the same step, after a model's request for more data
    gather_evidence.ACTION,
    query.ACTION,
    check_retrieval.ACTION,
    expand_dependency_tree.ACTION,
    find_paths.ACTION,
    fetch_node_texts.ACTION,
    render_context_blocks.ACTION,
    render_paths.ACTION,
    summarize_context.ACTION,
    loop_guard.ACTION,
    persist_turn_and_finalize.ACTION,
    finalize.ACTION,
)
"""The actions of this package, in the order of the documentation."""


@functools.cache
def actions() -> Mapping[str, Action[Any]]:
    """The actions by name: the built-in ones, then those of plug-ins, sorted.

    Raises:
        PipelineError: A plug-in cannot be loaded, is not an `Action` of the entry's name, or has the name of another
            action.
    """
    known = {action.name: action for action in BUILT_IN}
    for entry in sorted(entry_points(group=PLUGIN_GROUP), key=lambda entry: (entry.name, entry.value)):
        if entry.name in known:
            raise PipelineError(f"{_named(entry)} takes the name of another action: rename it")
        known[entry.name] = _loaded(entry)
    return MappingProxyType(known)


def _loaded(entry: EntryPoint) -> Action[Any]:
    try:
        action = entry.load()
    except (ImportError, AttributeError) as error:
        raise PipelineError(f"{_named(entry)} cannot be loaded: {error}") from error
    if not isinstance(action, Action) or action.name != entry.name:
        raise PipelineError(f"{_named(entry)} must point at an Action of that name, and points at {action!r}")
    return action


def _named(entry: EntryPoint) -> str:
    package = f" of {entry.dist.name}" if entry.dist else ""
    return f"the action {entry.name!r} ({entry.value}{package})"
