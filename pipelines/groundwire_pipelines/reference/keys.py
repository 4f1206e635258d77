"""Keys of settings and steps in words, taken from the models that check them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, JsonValue

_Schema = Mapping[str, JsonValue]
_SIMPLE: Final = {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`"}
_BOUNDS: Final = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
}


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a step or of the settings.

    `name` is its dotted path; `kind` is its type in words, `default` is "" for a required key, and `description`
    explains it in one line.
    """

    name: str
    kind: str
    default: str
    description: str


def keys_of(model: type[BaseModel]) -> tuple[Key, ...]:
    """The keys of a model in their order, groups of keys after the key that they belong to."""
    schema = model.model_json_schema(mode="validation")
    definitions = schema.get("$defs", {})
    return tuple(_keys("", schema, definitions))


def _keys(prefix: str, schema: _Schema, definitions: _Schema) -> Iterator[Key]:
    required = _list(schema.get("required"))
    for name, raw in _mapping(schema.get("properties")).items():
        field = _mapping(raw)
        default = "" if name in required else _default(field.get("default"))
        described = str(field.get("description") or _resolved(field, definitions).get("description", ""))
        yield Key(f"{prefix}{name}", _kind(field, definitions), default, " ".join(described.split()))
        for group in _groups(field, definitions):
            yield from _keys(f"{prefix}{name}.", group, definitions)


def _groups(field: _Schema, definitions: _Schema) -> Iterator[_Schema]:
    """The groups of keys that may be below a key."""
    for option in (field, *map(_mapping, _list(field.get("anyOf")))):
        target = _resolved(option, definitions)
        if "properties" in target:
            yield target


def _kind(field: _Schema, definitions: _Schema) -> str:
    field = _resolved(field, definitions)
    if "anyOf" in field:
        options = [_kind(_mapping(option), definitions) for option in _list(field["anyOf"])]
        return ", or ".join(dict.fromkeys(option for option in options if option != "nothing"))
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in _list(field["enum"]))
    if "const" in field:
        return f"`{field['const']}`"
    match field.get("type"):
        case "array":
            items = _kind(_mapping(field.get("items")), definitions)
            return f"list of {items}" if items else "list"
        case "object":
            return "keys below" if "properties" in field else "mapping"
        case "null":
            return "nothing"
        case str(name):
            bounds = [words.format(field[bound]) for bound, words in _BOUNDS.items() if bound in field]
            return ", ".join((_SIMPLE[name], *bounds))
        case _:
            return "any value"


def _resolved(field: _Schema, definitions: _Schema) -> _Schema:
    """The schema that a reference names."""
    reference = field.get("$ref")
    return _mapping(definitions[str(reference).rpartition("/")[2]]) if reference else field


def _default(value: JsonValue) -> str:
    match value:
        case None | "" | []:
            return "none"
        case bool():
            return f"`{str(value).lower()}`"
        case list():
            return f"`[{', '.join(map(str, value))}]`"
        case dict():
            return "see below"
        case _:
            return f"`{value}`"


def _mapping(value: JsonValue) -> _Schema:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
