"""Protobuf messages against the client's values, field by field: a field that a conversion forgets fails here."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

RENAMED: Mapping[str, str] = {"metadata_json": "metadata"}
"""Fields whose value is another in the client, where it has another name."""


def fill(message: Message, seed: int = 0) -> int:
    """Sets every field of a message, nested ones included, to values that differ from field to field."""
    for descriptor in message.DESCRIPTOR.fields:
        seed += 1
        target = getattr(message, descriptor.name)
        if descriptor.message_type is not None:
            for nested in (target.add(), target.add()) if descriptor.is_repeated else (target,):
                seed = fill(nested, seed)
        elif descriptor.enum_type is not None:
            numbers = [value.number for value in descriptor.enum_type.values if value.number != 0]
            if descriptor.is_repeated:
                target.extend([numbers[seed % len(numbers)], numbers[0]])
            else:
                setattr(message, descriptor.name, numbers[seed % len(numbers)])
        elif descriptor.is_repeated:
            target.extend([f"text {seed}", f"another {seed}"])
        elif descriptor.name in RENAMED:
            setattr(message, descriptor.name, json.dumps({"key": seed, "list": ["text", None]}))
        else:
            setattr(message, descriptor.name, type(target)(seed))
    return seed


def assert_same(value: object, message: Message) -> None:
    """A dataclass holds what a message holds, field by field, and neither has a field that the other lacks."""
    assert is_dataclass(value)
    names = [RENAMED.get(descriptor.name, descriptor.name) for descriptor in message.DESCRIPTOR.fields]
    differing = {field.name for field in fields(value)} ^ set(names)
    assert not differing, f"{type(value).__name__} and its message differ in {differing}"
    for descriptor in message.DESCRIPTOR.fields:
        mine = getattr(value, RENAMED.get(descriptor.name, descriptor.name))
        theirs = getattr(message, descriptor.name)
        if descriptor.is_repeated:
            assert len(mine) == len(theirs) > 0, descriptor.full_name
        pairs = zip(mine, theirs, strict=True) if descriptor.is_repeated else ((mine, theirs),)
        for value_part, other in pairs:
            if isinstance(other, Timestamp):
                moment = datetime.fromtimestamp(other.seconds, UTC).replace(microsecond=other.nanos // 1000)
                assert value_part == moment, descriptor.full_name
            elif isinstance(other, Message):
                assert_same(value_part, other)
            elif descriptor.enum_type is not None:
                assert value_part.name == short_names(descriptor.enum_type)[other], descriptor.full_name
            else:
                whole = json.loads(other) if descriptor.name in RENAMED else other
                assert value_part == whole, descriptor.full_name


def short_names(enum: Any) -> dict[int, str]:
    """The values of an enum of the contract (its descriptor) by number, without the enum's name in front."""
    prefix = enum.values[0].name.removesuffix("UNSPECIFIED")
    return {value.number: value.name.removeprefix(prefix) for value in enum.values}


def set_fields(message: Message) -> set[str]:
    """The names of the fields that are set."""
    return {descriptor.name for descriptor, _ in message.ListFields()}


def all_fields(message: Message) -> set[str]:
    """The names of all fields."""
    return {descriptor.name for descriptor in message.DESCRIPTOR.fields}
