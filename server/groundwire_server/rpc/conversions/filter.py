"""Filters, which every action takes."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf import struct_pb2

from groundwire.v1 import scope_pb2
from groundwire_index.nodes.node import MetadataScalar
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.search.search import FILTERED_FLAGS, FILTERED_LISTS, NO_FILTER, Filter, MetadataCondition
from groundwire_server.domain.validation import Violations

_ALLOWED = "give a string, a number, a boolean, null, or a list of at least one of them"


def decode_filter(message: scope_pb2.NodeFilter, violations: Violations) -> Filter:
    """The filter as given, its metadata by key; metadata that no filter can express is noted in `violations`."""
    if not message.ListFields():
        return NO_FILTER
    given: dict[str, Any] = {name: tuple(getattr(message, name)) for name in FILTERED_LISTS}
    given |= {name: getattr(message, name) for name in FILTERED_FLAGS if message.HasField(name)}
    return Filter(**given, metadata=tuple(_decode_metadata(message.metadata, violations)))


def _decode_metadata(metadata: struct_pb2.Struct, violations: Violations) -> Iterator[MetadataCondition]:
    for key, value in sorted(metadata.fields.items(), key=lambda item: item[0]):
        if check_value(key, value, violations):
            yield MetadataCondition(key, tuple(map(_scalar, _alternatives(value))))


def check_value(key: str, value: struct_pb2.Value, violations: Violations) -> bool:
    """True if the value of a key can be a condition; what is wrong with it is noted in `violations`."""
    alternatives = _alternatives(value)
    problem = next(filter(None, map(_problem, alternatives)), "" if alternatives else "an empty list")
    if problem:
        verb = "holds" if alternatives and value.HasField("list_value") else "is"
        violations.add(f"filter.metadata.{key}", Reason.VALUE_MALFORMED, f"{verb} {problem}; {_ALLOWED}")
    return not problem


def _alternatives(value: struct_pb2.Value) -> Sequence[struct_pb2.Value]:
    return value.list_value.values if value.HasField("list_value") else (value,)


def _problem(value: struct_pb2.Value) -> str:
    """The kind of a value that no condition can have; empty for a valid value."""
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        return "" if math.isfinite(value.number_value) else "NaN or an infinity"
    return {None: "a value without a kind", "struct_value": "an object", "list_value": "a list"}.get(kind, "")


def _scalar(value: struct_pb2.Value) -> MetadataScalar:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return value.string_value
    if kind == "bool_value":
        return value.bool_value
    if kind == "null_value":
        return None
    return int(value.number_value) if value.number_value.is_integer() else value.number_value
