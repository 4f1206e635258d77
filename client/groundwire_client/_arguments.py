"""Arguments checked by the fields that they are sent in, before a call: protobuf's own errors name no argument."""

import functools
import inspect
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from math import inf
from numbers import Integral, Real
from typing import ParamSpec, Protocol, TypeVar, cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1.scope_pb2 import NodeFilter
from groundwire_client._filters import node_filter

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_FLOATS = (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT)


class _Client(Protocol):
    def check_open(self) -> None:
        """Raises ValueError once the client is closed."""


def sends(
    request: type[Message], **others: str
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Checks the arguments of a method by the fields of `request` that have their names, when it is called.

    `others` names the fields of arguments that are called otherwise. None is taken where it is the default. Iterables
    reach the method as tuples, and mappings for a filter as filters. A list of scopes is one of `scopes`.

    The method raises TypeError for an argument of another type than its field takes, and ValueError for a number or
    text that its field cannot carry, a timeout that is not positive and finite, and a closed client. Both name the
    method, and the argument with its value.
    """
    fields = cast("Mapping[str, FieldDescriptor]", request.DESCRIPTOR.fields_by_name)

    def decorated(method: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        signature = inspect.signature(method)
        fields_of = {name: fields.get(others.get(name, name)) for name in signature.parameters}

        @functools.wraps(method)
        def checked(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
            try:
                bound = signature.bind(*args, **kwargs)
                cast("_Client", args[0]).check_open()
                if bound.arguments.get("timeout") is not None:
                    check_timeout(bound.arguments["timeout"])
                for name, value in bound.arguments.items():
                    field = fields_of[name]
                    if name == "scope" and "scopes" in fields and isinstance(value, list | tuple):
                        field = fields["scopes"]
                    if field is not None and (value is not None or signature.parameters[name].default is not None):
                        bound.arguments[name] = _checked(name, value, field)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{method.__qualname__}: {error}") from None
            return method(*bound.args, **bound.kwargs)

        return checked

    return decorated


def makes(init: Callable[_Parameters, None]) -> Callable[_Parameters, None]:
    """Checks which arguments a constructor is given. It raises TypeError, which names the class and what it takes."""
    signature = inspect.signature(init)
    first, *named = list(signature.parameters)[1:]

    @functools.wraps(init)
    def checked(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> None:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            takes = f"it takes {first}, and by name {', '.join(named)}"
            raise TypeError(f"{type(args[0]).__name__}: {error}; {takes}") from None
        init(*args, **kwargs)

    return checked


def of_type(name: str, value: object, expected: str, *types: type) -> None:
    """Raises TypeError for a value of none of the types, which `expected` names. A boolean is no number."""
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise TypeError(f"{name} must be {expected}, not {_shown(value)}")


def check_timeout(seconds: float) -> None:
    """Raises TypeError and ValueError for what is no positive, finite number of seconds."""
    of_type("timeout", seconds, "a number of seconds", Real)
    if not 0 < seconds < inf:
        raise ValueError(f"timeout must be a positive, finite number of seconds, not {seconds}")


def _checked(name: str, value: object, field: FieldDescriptor) -> object:
    if not field.is_repeated:
        _check(name, value, field)
        is_loose = field.message_type is NodeFilter.DESCRIPTOR and isinstance(value, Mapping)
        return node_filter(cast("Mapping[str, object]", value)) if is_loose else value
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a sequence of {_plural(field)}, not {_shown(value)}")
    values = tuple(cast("Iterable[object]", value))
    for place, item in enumerate(values):
        _check(f"{name}[{place}]", item, field)
    return values


def _check(name: str, value: object, field: FieldDescriptor) -> None:
    if field.message_type is not None:
        _check_message(name, value, field.message_type)
    elif field.type == FieldDescriptor.TYPE_BOOL:
        of_type(name, value, "True or False", bool)
    elif field.type in _FLOATS:
        of_type(name, value, "a number", Real)
    elif field.type == FieldDescriptor.TYPE_STRING:
        of_type(name, value, "a string", str)
        if _SURROGATE.search(cast("str", value)):
            raise ValueError(f"{name} must have no surrogates, which UTF-8 cannot encode, not {_shown(value)}")
    else:
        of_type(name, value, _a_value(field.enum_type, value) if field.enum_type else "a whole number", Integral)
        if not -(2**31) <= cast("int", value) < 2**31:
            raise ValueError(f"{name} must fit 32 bits; out of range is {value}")


def _a_value(enum: EnumDescriptor, given: object) -> str:
    """Such as `a value of SearchType, such as SearchType.SEARCH_TYPE_BM25`: the one that a string abbreviates."""
    names = [value.name for value in enum.values]
    meant = [name for name in names if isinstance(given, str) and name.endswith(f"_{given.upper()}")]
    return f"a value of {enum.name}, such as {enum.name}.{[*meant, names[1]][0]}"


def _check_message(name: str, value: object, message: Descriptor) -> None:
    if message is Timestamp.DESCRIPTOR:
        of_type(name, value, "a datetime", datetime)
    elif message is NodeFilter.DESCRIPTOR:
        of_type(name, value, "a NodeFilter, or a mapping of the arguments of node_filter", NodeFilter, Mapping)
    else:
        of_type(name, value, f"of type {message.name}", GetMessageClass(message))


def _plural(field: FieldDescriptor) -> str:
    if field.message_type is not None:
        return field.message_type.name
    if field.enum_type is not None:
        return f"values of {field.enum_type.name}"
    return "strings" if field.type == FieldDescriptor.TYPE_STRING else "numbers"


def _shown(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__} {reprlib.repr(value)}"
