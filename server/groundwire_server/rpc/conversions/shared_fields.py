"""Fields that a value of the domain and its message have in common, so that they need not be repeated one by one."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

Value = TypeVar("Value")
_CONVERTED = (FieldDescriptor.CPPTYPE_ENUM, FieldDescriptor.CPPTYPE_MESSAGE)


def shared_fields(
    value: type[Value], message: type[Message], besides: tuple[str, ...] = ()
) -> Callable[[Value], dict[str, Any]]:
    """Gives the fields of a dataclass that the message has by the same name, for the constructor of the message.

    Enums, messages, and the fields `besides` are left out: they have to be converted.
    """
    names = [field.name for field in _shared(value, message) if field.name not in besides]
    values = attrgetter(*names)
    return lambda value_object: dict(zip(names, values(value_object), strict=True))


def given_fields(value: type[object], message: type[Message]) -> Callable[[Message], dict[str, Any]]:
    """Gives the fields of a message that a dataclass has by the same name, for the constructor of the dataclass.

    Enums and messages are left out, as in `shared_fields`, and so are fields that the message does not have at present:
    the dataclass says what their absence means.
    """
    shared = _shared(value, message)
    lists = [field.name for field in shared if field.is_repeated]
    optional = [field.name for field in shared if field.has_presence]
    others = [field.name for field in shared if field.name not in (*lists, *optional)]

    def given(message: Message) -> dict[str, Any]:
        field_values: dict[str, Any] = {name: getattr(message, name) for name in others}
        field_values |= {name: tuple(getattr(message, name)) for name in lists}
        return field_values | {name: getattr(message, name) for name in optional if message.HasField(name)}

    return given


def _shared(value: type[object], message: type[Message]) -> list[FieldDescriptor]:
    known = cast("Mapping[str, FieldDescriptor]", message.DESCRIPTOR.fields_by_name)
    shared = [known[dataclass_field.name] for dataclass_field in fields(value) if dataclass_field.name in known]  # type: ignore[arg-type]
    return [field for field in shared if field.cpp_type not in _CONVERTED]
