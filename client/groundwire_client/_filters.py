"""A filter from loose values, as models, command lines and configuration give them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TypeAlias, cast

from google.protobuf.struct_pb2 import ListValue, Struct

from groundwire.v1.scope_pb2 import NodeFilter

MetadataScalar: TypeAlias = str | int | float | bool | None
MetadataValue: TypeAlias = MetadataScalar | Sequence[MetadataScalar]
"""A value, or alternatives; a node needs only one of them."""

Filter: TypeAlias = NodeFilter | Mapping[str, object]
"""A filter, or the loose values that `node_filter` makes one of."""

_FIELDS = NodeFilter.DESCRIPTOR.fields
_LISTS = tuple(field.name for field in _FIELDS if field.is_repeated)

TEXT_FIELDS: Mapping[str, str] = {
    name.removesuffix("es" if name == "path_prefixes" else "s"): name for name in _LISTS
} | {name: name for name in _LISTS}
"""The names, singular and plural, of the fields that hold strings, and the field of `NodeFilter` that each means."""

FLAG_FIELDS = tuple(field.name for field in _FIELDS if field.type == field.TYPE_BOOL)
"""The fields of `NodeFilter` that hold a boolean or nothing."""

_NAMES = (*TEXT_FIELDS, *FLAG_FIELDS, "metadata")
_LARGEST_EXACT = 2**53
_SHORTEST = 3
"""The beginning of a field's name is taken for an abbreviation if it has at least this many letters."""


def node_filter(raw: Mapping[str, object], /, **context: object) -> NodeFilter:
    """The filter that loose values mean.

    Names are those of the fields, singular or plural, such as `collection_id` or `collection_ids`, or both; their
    values are a string or a list of strings. Flags such as `is_test` are booleans and `metadata` is a mapping. Any
    other name is one of the metadata, unless it resembles a field's, as `langauge`, `lang` and `isTest` do. None and
    empty lists are as if absent.

    Args:
        raw: What was asked for.
        context: What the caller knows for sure, by the same names; it wins over `raw`, field by field and metadata
            key by key.

    Raises:
        TypeError: A name or a value is of a wrong type.
        ValueError: A string is empty, a key of the metadata is given twice, a name resembles a field's, or a number
            does not fit the wire.
    """
    given, known = _Reading.of(raw), _Reading.of(context)
    metadata = {**given.metadata, **known.metadata}
    made = NodeFilter(metadata=_struct(metadata) if metadata else None)
    for name, flag in {**given.flags, **known.flags}.items():
        setattr(made, name, flag)
    for name, texts in {**given.texts, **known.texts}.items():
        getattr(made, name).extend(texts)
    return made


def as_filter(given: Filter | None) -> NodeFilter | None:
    """The filter of an argument. Raises as `node_filter` does."""
    return node_filter(given) if isinstance(given, Mapping) else given


def metadata_of(narrowing: NodeFilter) -> dict[str, MetadataValue]:
    """The metadata of a filter as plain values; the wire knows no whole numbers, so those come as they are written."""
    return {key: _plain(value) for key, value in narrowing.metadata.items()}


@dataclass(slots=True)
class _Reading:
    """A mapping, sorted into what a filter has."""

    texts: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    flags: dict[str, bool] = field(default_factory=dict[str, bool])
    metadata: dict[str, MetadataValue] = field(default_factory=dict[str, MetadataValue])

    @classmethod
    def of(cls, raw: Mapping[str, object]) -> "_Reading":
        given = {name: value for name, value in raw.items() if value is not None}
        reading = cls(metadata=_metadata(given.pop("metadata", {})))
        for name, value in given.items():
            reading._take(name, value)
        return reading

    def _take(self, name: str, value: object) -> None:
        if name in TEXT_FIELDS:
            # Singular and plural together: the values of both are alternatives.
            if values := _texts(name, value):
                before = self.texts.get(TEXT_FIELDS[name], ())
                self.texts[TEXT_FIELDS[name]] = tuple(dict.fromkeys((*before, *values)))
        elif name in FLAG_FIELDS:
            self.flags[name] = _flag(name, value)
        elif name in self.metadata:
            raise ValueError(f"{name}: {value!r} is given besides another value of metadata[{name!r}]: give it once")
        else:
            self.metadata |= _metadata({name: value})
            check_unlike_fields(name, value)


def check_unlike_fields(name: str, value: object) -> None:
    """Raises ValueError for a name of the metadata that resembles a field's."""
    if near := _near(name):
        raise ValueError(
            f"{name}: is no field of a filter; did you mean {near}? If it is a name of the metadata, "
            f"give metadata={{{name!r}: {value!r}}}"
        )


def _near(name: str) -> str | None:
    """The field that a name abbreviates, writes in another way, or misspells."""
    short = _folded(name).rstrip("s")
    begun = [field for field in _NAMES if len(short) >= _SHORTEST and _folded(field).startswith(short)]
    return next(iter(begun or get_close_matches(name, _NAMES, n=1, cutoff=0.8)), None)


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()


def _texts(name: str, value: object) -> tuple[str, ...]:
    values = tuple(value) if isinstance(value, list | tuple) else (value,)
    texts = tuple(text for text in values if isinstance(text, str))
    if len(texts) < len(values):
        raise TypeError(f"{name}: {value!r} must be a string or a list of strings")
    if "" in texts:
        raise ValueError(f"{name}: {value!r} must hold no empty string: leave the name out to allow every value")
    return texts


def _flag(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError(f"{name}: {value!r} must be True, False or None")


def _metadata(given: object) -> dict[str, MetadataValue]:
    if not isinstance(given, Mapping):
        raise TypeError(f"metadata: {given!r} must be a mapping")
    return {_key(key): _metadata_value(key, value) for key, value in given.items()}


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"metadata: the key {key!r} must be a string")
    return key


def _metadata_value(key: object, value: object) -> MetadataValue:
    if isinstance(value, list | tuple):
        return tuple(_metadata_scalar(key, alternative) for alternative in value)
    return _metadata_scalar(key, value)


def _metadata_scalar(key: object, value: object) -> MetadataScalar:
    if isinstance(value, int) and abs(value) > _LARGEST_EXACT:
        raise ValueError(f"metadata[{key!r}]: {value} is beyond 2**53 and would lose digits: use a string")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"metadata[{key!r}]: {value!r} must be a string, a number, a boolean, None or a list of these")


def _struct(metadata: Mapping[str, MetadataValue]) -> Struct:
    struct = Struct()
    struct.update({key: list(value) if isinstance(value, tuple) else value for key, value in metadata.items()})
    return struct


def _plain(value: object) -> MetadataValue:
    if isinstance(value, ListValue):
        return tuple(cast("MetadataScalar", _plain(alternative)) for alternative in value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return cast("MetadataScalar", value)
