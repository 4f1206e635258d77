"""Fields that a value of the domain and its message have in common, so that they need not be repeated one by one."""

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar

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
    known = message.DESCRIPTOR.fields_by_name
    shared = [own.name for own in fields(value) if own.name in known and own.name not in besides]  # type: ignore[arg-type]
    names = [name for name in shared if known[name].cpp_type not in _CONVERTED]
    values = attrgetter(*names)
    return lambda one: dict(zip(names, values(one), strict=True))
