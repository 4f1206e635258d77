"""What an event tells of the state: sizes, ids, or texts as well."""

from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, fields
from enum import IntEnum
from typing import Final

from pydantic import JsonValue

from groundwire_client import Access, ExpandDebug, ExpandedNode, Filter, Hit, NodeText, SkippedNode
from groundwire_pipelines.rendering.shown import ShownText
from groundwire_pipelines.state import PipelineState, SearchReport

_NAMES: Final = frozenset({"repository", "branch", "session_id", "user_id", "active_index", "retrieval_mode"})
_ID_LISTS: Final = frozenset({"retrieval_seed_nodes", "graph_seed_nodes", "chosen_nodes"})

Snapshot = Mapping[str, object]


class Telling(IntEnum):
    """How much is told."""

    SIZES = 0
    IDS = 1
    TEXTS = 2


def snapshot(state: PipelineState) -> Snapshot:
    """The fields as they are now; a list that a step changes in place does not change here.

    The caller's access is left out: it is no step's to change, and none of a trace's readers' business.
    """
    values = {field.name: getattr(state, field.name) for field in fields(state)}
    return {
        name: copy(value) if isinstance(value, list | dict) else value
        for name, value in values.items()
        if not isinstance(value, Access)
    }


def held(now: Snapshot, telling: Telling) -> dict[str, JsonValue]:
    """What the fields hold that hold something."""
    return {name: _fact(name, value, telling) for name, value in now.items() if value and value != Filter()}


def changed(before: Snapshot, now: Snapshot, telling: Telling) -> dict[str, JsonValue]:
    """What the fields hold now that held something else before."""
    return {name: _fact(name, value, telling) for name, value in now.items() if value != before[name]}


def _fact(name: str, value: object, telling: Telling) -> JsonValue:
    match value:
        case bool() | int() | None:
            return value
        case str():
            return value if name in _NAMES else _text(value, telling)
        case list():
            return _list(name, value, telling)
        case dict():
            return {"count": len(value)}
        case ExpandDebug() | SearchReport():
            return asdict(value)
        case Filter():
            return asdict(value) if telling is Telling.TEXTS else _shape(value)
        case _:
            raise TypeError(f"the state's field {name} holds {value!r}, of which a trace knows nothing to tell")


def _text(value: str, telling: Telling) -> JsonValue:
    sizes: dict[str, JsonValue] = {"characters": len(value)}
    return {**sizes, "text": value} if telling is Telling.TEXTS else sizes


def _shape(value: Filter) -> dict[str, JsonValue]:
    """Which fields narrow a search, and by how many values: these, and keys of metadata, are somebody's words."""
    given = {field.name: getattr(value, field.name) for field in fields(value)}
    return {
        name: wanted if isinstance(wanted, bool) else {"count": len(wanted)}
        for name, wanted in given.items()
        if wanted or wanted is False
    }


def _list(name: str, values: list[object], telling: Telling) -> JsonValue:
    told: dict[str, JsonValue] = {"count": len(values)}
    texts = [value for value in values if isinstance(value, str)]
    held_nodes = (value.node if isinstance(value, ShownText) else value for value in values)
    nodes = [value for value in held_nodes if isinstance(value, Hit | ExpandedNode | NodeText | SkippedNode)]
    if texts and name not in _ID_LISTS:
        told["characters"] = sum(map(len, texts))
        if telling is Telling.TEXTS:
            told["texts"] = list(texts)
    elif telling is not Telling.SIZES and (texts or nodes):
        told["ids"] = [*texts, *(node.id for node in nodes)]
    shown = [value.excerpt for value in values if isinstance(value, ShownText)]
    if shown:
        told["tokens"] = sum(excerpt.tokens for excerpt in shown)
    elif nodes and isinstance(nodes[0], NodeText):
        told["tokens"] = sum(node.token_count for node in nodes if isinstance(node, NodeText))
    return told
