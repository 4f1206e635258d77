"""Ordinary filters: what narrows a search, a walk, a fetch or a query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

MetadataScalar: TypeAlias = str | int | float | bool | None
MetadataValue: TypeAlias = MetadataScalar | Sequence[MetadataScalar]
"""A value, or alternatives of which one is enough."""

_PLURALS = {
    "kind": "kinds",
    "data_type": "data_types",
    "corpus_type": "corpus_types",
    "language": "languages",
    "path_prefix": "path_prefixes",
    "collection_id": "collection_ids",
    "document_id": "document_ids",
    "service_name": "service_names",
    "repo_name": "repo_names",
    "tenant_id": "tenant_ids",
    "case_id": "case_ids",
    "document_version_id": "document_version_ids",
}
TEXT_FIELDS: Mapping[str, str] = _PLURALS | {plural: plural for plural in _PLURALS.values()}
"""The names, singular and plural, of the fields that hold strings, and the field of `Filter` that each means."""

FLAG_FIELDS = ("is_latest", "is_test", "is_generated")
"""The fields of `Filter` that hold a boolean or None."""

_LARGEST_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class Filter:
    """Narrows what is asked: values of one field are alternatives, fields must all hold, an empty field admits all.

    Values are exact and case-sensitive; `path_prefixes` are prefixes such as `src/Billing/`. `is_latest` True keeps
    the latest versions of documents, False the earlier ones, None both; so do `is_test` with tests and `is_generated`
    with what a tool wrote. Of `metadata` a node's own must have every key with that value, or with a list that holds
    it; a list here gives alternatives.

    Raises:
        TypeError: A flag is no boolean, or `metadata` no mapping from strings to strings, numbers, booleans, None
            or lists of them.
        ValueError: A whole number of `metadata` lies beyond 2**53, where the wire loses digits.
    """

    kinds: tuple[str, ...] = ()
    data_types: tuple[str, ...] = ()
    corpus_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    path_prefixes: tuple[str, ...] = ()
    collection_ids: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    service_names: tuple[str, ...] = ()
    repo_names: tuple[str, ...] = ()
    tenant_ids: tuple[str, ...] = ()
    case_ids: tuple[str, ...] = ()
    document_version_ids: tuple[str, ...] = ()
    is_latest: bool | None = None
    is_test: bool | None = None
    is_generated: bool | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict[str, MetadataValue], hash=False)

    def __post_init__(self) -> None:
        for name in FLAG_FIELDS:
            _flag(name, getattr(self, name))
        # A copy of its own: a mapping may change, and a filter does not.
        object.__setattr__(self, "metadata", _metadata(self.metadata))

    @classmethod
    def from_mapping(cls, raw: Mapping[str, object], /, **context: object) -> "Filter":
        """The filter that loose values mean.

        Names are those of the fields, singular or plural, such as `collection_id` or `collection_ids`; their values are
        a string or a list of strings. Flags such as `is_test` are booleans and `metadata` is a mapping. Any other name
        is one of the metadata. None and empty lists are as if absent.

        Args:
            raw: What was asked for.
            context: What the caller knows for sure, by the same names; it wins over `raw`, field by field and metadata
                key by key.

        Raises:
            TypeError: A name or a value is of a wrong type.
            ValueError: A string is empty, a field is named twice, or a number does not fit the wire.
        """
        asked, known = _Reading.of(raw), _Reading.of(context)
        flags = {**asked.flags, **known.flags}
        return cls(
            is_latest=flags.get("is_latest"),
            is_test=flags.get("is_test"),
            is_generated=flags.get("is_generated"),
            metadata={**asked.metadata, **known.metadata},
            **{**asked.texts, **known.texts},
        )


@dataclass(slots=True)
class _Reading:
    """A mapping, sorted into what a filter has."""

    texts: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    flags: dict[str, bool | None] = field(default_factory=dict[str, "bool | None"])
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
            values = _texts(name, value)
            if values and TEXT_FIELDS[name] in self.texts:
                raise ValueError(f"{name}: {value!r} comes besides another value of {TEXT_FIELDS[name]}: name it once")
            if values:
                self.texts[TEXT_FIELDS[name]] = values
        elif name in FLAG_FIELDS:
            self.flags[name] = _flag(name, value)
        elif name in self.metadata:
            raise ValueError(f"{name}: {value!r} comes besides another value of metadata[{name!r}]: name it once")
        else:
            self.metadata |= _metadata({name: value})


def _texts(name: str, value: object) -> tuple[str, ...]:
    values = tuple(value) if isinstance(value, list | tuple) else (value,)
    texts = tuple(text for text in values if isinstance(text, str))
    if len(texts) < len(values):
        raise TypeError(f"{name}: {value!r} must be a string or a list of strings")
    if "" in texts:
        raise ValueError(f"{name}: {value!r} must hold no empty string: leave the name out to admit all")
    return texts


def _flag(name: str, value: object) -> bool | None:
    if value is None or isinstance(value, bool):
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
        raise ValueError(f"metadata[{key!r}]: {value} lies beyond 2**53, where the wire loses digits: use a string")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"metadata[{key!r}]: {value!r} must be a string, a number, a boolean, None or a list of these")
