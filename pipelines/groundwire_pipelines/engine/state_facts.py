"""The parts of the state in an event: sizes and ids, or texts as well."""

from collections.abc import Mapping, Sized
from dataclasses import asdict, fields, is_dataclass
from enum import IntEnum
from typing import Final, TypeAlias, cast

from google.protobuf.json_format import MessageToDict
from pydantic import JsonValue

from groundwire_client import ExpandDebug, IndexScope, NodeFilter, NodeText, ReachedNode, SearchHit, SkippedNode
from groundwire_pipelines.evidence_nodes import EvidenceNode, ShownText
from groundwire_pipelines.parsing.filters import plain
from groundwire_pipelines.state import OF_CALLER, PipelineState, SearchReport, restore_pin

_NAMES: Final = frozenset(
    {"repository", "branch", "session_id", "user_id", "active_index", "retrieval_mode", "error_step", "error_rule"}
)
_ID_LISTS: Final = frozenset({"retrieval_seed_nodes", "graph_seed_nodes"})
_NEVER_TRACED: Final = frozenset({"retrieval_access", "scopes", "answered_call", "model_answer"})
"""The caller's access, which a trace must not hold, and what repeats an event's `index` and `last_model_response`."""

_Node: TypeAlias = SearchHit | ReachedNode | NodeText | SkippedNode | EvidenceNode
Snapshot = Mapping[str, object]


class TraceDetail(IntEnum):
    """The level of detail of events."""

    SIZES = 0
    IDS = 1
    TEXTS = 2


def snapshot(state: PipelineState) -> Snapshot:
    """A copy of the fields, which later changes in place do not affect."""
    return {field.name: _copied(getattr(state, field.name)) for field in fields(state)}


def restore(state: PipelineState, before: Snapshot) -> None:
    """Restores the fields to an earlier copy, except those that no step can change."""
    for name, value in before.items():
        if name not in OF_CALLER:
            setattr(state, name, _copied(value))
    restore_pin(state, cast("str", before["active_index"]), cast("list[IndexScope]", before["scopes"]))


def held(now: Snapshot, detail: TraceDetail) -> dict[str, JsonValue]:
    """The fields that are not empty."""
    filled = {name: value for name, value in now.items() if value and value != NodeFilter()}
    return _facts(filled, detail)


def changed(before: Snapshot, now: Snapshot, detail: TraceDetail) -> dict[str, JsonValue]:
    """The fields that have changed, with their present values."""
    return _facts({name: value for name, value in now.items() if value != before[name]}, detail)


def _facts(values: Snapshot, detail: TraceDetail) -> dict[str, JsonValue]:
    return {name: _fact(name, value, detail) for name, value in values.items() if name not in _NEVER_TRACED}


def _copied(value: object) -> object:
    if isinstance(value, list):
        return list(value)
    return dict(value) if isinstance(value, dict) else value


def _fact(name: str, value: object, detail: TraceDetail) -> JsonValue:
    match value:
        case bool() | int() | None:
            return value
        case str():
            return value if name in _NAMES else _text(value, detail)
        case list():
            return _list(name, value, detail)
        case dict() if name == "outputs":
            # Names only, which are those of the pipeline's file.
            return dict(value) if detail is TraceDetail.TEXTS else {"names": list(value)}
        case dict() if name == "extensions":
            return {kept: _extension(fields_of, detail) for kept, fields_of in value.items()}
        case dict():
            return {"count": len(value)}
        case ExpandDebug():
            return MessageToDict(value, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
        case SearchReport():
            return asdict(value)
        case NodeFilter():
            return cast("JsonValue", plain(value)) if detail is TraceDetail.TEXTS else _shape(value)
        case _:
            raise TypeError(f"the state's field {name} holds {value!r}, which a trace cannot represent")


def _extension(kept: object, detail: TraceDetail) -> JsonValue:
    """The fields of a plug-in's value: numbers unchanged, texts as their sizes, and collections as their counts."""
    if not is_dataclass(kept) or isinstance(kept, type):
        raise TypeError(
            f"extensions holds {kept!r}, which is no dataclass: make it one, so that a trace can represent it"
        )
    return {field.name: _kept(getattr(kept, field.name), detail) for field in fields(kept)}


def _kept(value: object, detail: TraceDetail) -> JsonValue:
    match value:
        case bool() | int() | float() | None:
            return value
        case str():
            return _text(value, detail)
        case Sized():
            facts: dict[str, JsonValue] = {"count": len(value)}
            return {**facts, "text": repr(value)} if detail is TraceDetail.TEXTS else facts
        case _:
            return {"text": repr(value)} if detail is TraceDetail.TEXTS else {}


def _text(value: str, detail: TraceDetail) -> JsonValue:
    sizes: dict[str, JsonValue] = {"characters": len(value)}
    return {**sizes, "text": value} if detail is TraceDetail.TEXTS else sizes


def _shape(value: NodeFilter) -> dict[str, JsonValue]:
    """The fields that narrow a search, with the number of values; values and metadata keys may be confidential."""
    return {
        name: wanted if isinstance(wanted, bool) else {"count": len(cast("Sized", wanted))}
        for name, wanted in plain(value).items()
    }


def _list(name: str, values: list[object], detail: TraceDetail) -> JsonValue:
    facts: dict[str, JsonValue] = {"count": len(values)}
    texts = [value for value in values if isinstance(value, str)]
    held_nodes = (value.node if isinstance(value, ShownText) else value for value in values)
    nodes = [value for value in held_nodes if isinstance(value, _Node)]
    if texts and name not in _ID_LISTS:
        facts["characters"] = sum(map(len, texts))
        if detail is TraceDetail.TEXTS:
            facts["texts"] = list(texts)
    elif detail is not TraceDetail.SIZES and (texts or nodes):
        facts["ids"] = [*texts, *(node.id for node in nodes)]
    shown = [value for value in values if isinstance(value, ShownText)]
    if shown:
        facts["tokens"] = sum(shown_text.tokens for shown_text in shown)
    elif nodes and isinstance(nodes[0], NodeText):
        facts["tokens"] = sum(node.token_count for node in nodes if isinstance(node, NodeText))
    return facts
