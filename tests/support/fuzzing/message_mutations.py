"""Mutations of messages: every field of every message below a request, by its descriptor."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from support.fuzzing.odd_values import odd_fraction, odd_integer, odd_string

MANY = (3, 20, 65, 257, 1_025)
_DEEPEST = 30
_ENUM_VALUES = (0, 1, 2, 3, 4, 5, 99, -1, 2**31 - 1, -(2**31))


class MessageMutator:
    """Changes messages in place. `known` are strings that mean something to the server."""

    def __init__(self, chance: Random, known: Sequence[str]) -> None:
        self._chance = chance
        self._known = known

    def mutate(self, message: Message) -> None:
        """Changes one to four fields, each anywhere in what is set or one step below it."""
        for _ in range(self._chance.choice((1, 1, 1, 2, 2, 4))):
            target, field = self._chance.choice(list(_places(message)))
            self._mutate_field(target, field)

    def _mutate_field(self, message: Any, field: FieldDescriptor) -> None:
        if self._chance.random() < 0.1:
            message.ClearField(field.name)
        elif _is_map(field):
            self._fill_struct(message, depth=0)
        elif field.is_repeated:
            self._mutate_repeated(getattr(message, field.name), field)
        elif field.message_type is not None:
            below = getattr(message, field.name)
            below.SetInParent()
            if self._chance.random() < 0.8:
                self._mutate_field(below, self._chance.choice(field.message_type.fields))
        else:
            setattr(message, field.name, self._scalar(field))

    def _mutate_repeated(self, values: Any, field: FieldDescriptor) -> None:
        drawn, count = self._chance.random(), self._chance.choice(MANY)
        if field.message_type is not None:
            for _ in range(count if drawn < 0.1 else 1):
                self._mutate_field(values.add(), self._chance.choice(field.message_type.fields))
        elif drawn < 0.15:
            values.extend([self._scalar(field)] * count)
        elif drawn < 0.3:
            values.extend(self._scalar(field) for _ in range(count % 64))
        elif drawn < 0.5 and values:
            values.append(self._chance.choice(values))
        elif drawn < 0.8 and values:
            values[self._chance.randrange(len(values))] = self._scalar(field)
        else:
            values.insert(self._chance.randrange(len(values) + 1), self._scalar(field))

    def _scalar(self, field: FieldDescriptor) -> Any:
        kind = field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_STRING:
            return odd_string(self._chance, self._known)
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return self._chance.random() < 0.5
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return self._chance.choice(_ENUM_VALUES)
        if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
            return odd_fraction(self._chance)
        return odd_integer(self._chance, widest=kind == FieldDescriptor.CPPTYPE_INT64)

    def _fill_struct(self, struct: Any, depth: int) -> None:
        for _ in range(self._chance.choice((1, 1, 2, 5)) if depth else self._chance.choice((1, 2, 5, 300))):
            self._fill_value(struct.fields[odd_string(self._chance, self._known)], depth)

    def _fill_value(self, value: Any, depth: int) -> None:
        """Any JSON value, deep now and then."""
        drawn = self._chance.random()
        if drawn < 0.3:
            value.string_value = odd_string(self._chance, self._known)
        elif drawn < 0.5:
            value.number_value = odd_fraction(self._chance)
        elif drawn < 0.6:
            value.null_value = self._chance.choice(_ENUM_VALUES)
        elif drawn < 0.7:
            value.bool_value = True
        elif drawn < 0.85:
            value.list_value.SetInParent()
            for _ in range(self._chance.choice((0, 1, 3, 50) if depth < 2 else (0, 1))):
                self._fill_value(value.list_value.values.add(), depth + 1)
        elif depth < _DEEPEST:
            value.struct_value.SetInParent()
            self._fill_struct(value.struct_value, depth + 1) if depth < 2 else self._fill_value(
                value.struct_value.fields["deeper"], depth + 1
            )


def _places(message: Message) -> Iterator[tuple[Message, FieldDescriptor]]:
    """Every field of the message, and of the messages that are set in it."""
    for field in cast("Descriptor", message.DESCRIPTOR).fields:
        yield message, field
        if field.message_type is None or _is_map(field):
            continue
        below = getattr(message, field.name)
        if field.is_repeated:
            for item in below[:4]:
                yield from _places(item)
        elif message.HasField(field.name):
            yield from _places(below)


def _is_map(field: FieldDescriptor) -> bool:
    """The contract has one map, the fields of `google.protobuf.Struct`."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry
