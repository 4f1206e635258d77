"""The collections of an index in Milvus: their names and their fields.

Milvus holds, for each index version, a collection of nodes, one of edges and one of facts, and one catalogue of all
versions. Strings that an expression compares are hexadecimal (`packing.hexed`), so that no text is ever part of one.
"""

import hashlib
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import Final

from groundwire_index.scope import Scope
from groundwire_milvus.dense_index import EXACT, DenseIndex

MOST_STRING_BYTES: Final = 65_535
"""The size limit of a string field."""
DIGEST_LENGTH: Final = 32
"""The characters of a digest (`packing.digest`)."""
MOST_METADATA_TERMS: Final = 4_096
"""How many metadata terms a node may have: what an array of Milvus holds."""
UNUSED: Final = "unused"
"""A vector field of collections that need none: Milvus demands one."""
UNUSED_VECTOR: Final = (0.0, 0.0)
NO_DIMENSION: Final = 4_294_967_294
"""The dimension of a sparse vector's only entry where it would have none, which Milvus refuses; no query has it."""
CATALOGUE: Final = "groundwire_catalogue"

FILTERED_STRINGS: Final = (
    "kind",
    "data_type",
    "corpus_type",
    "language",
    "collection_id",
    "document_id",
    "service_name",
    "repo_name",
    "case_id",
    "document_version_id",
    "path",
)
"""Fields of a node that hold the hexadecimal of the string of that name."""
FLAGS: Final = ("is_latest", "is_test", "is_generated", "has_vector")
NUMBERS: Final = ("token_count", "char_count", "text_bytes", "timestamp", "code_length", "prose_length")
SPARSE: Final = ("code", "prose", "trigrams")
PACKED: Final = ("code_terms", "prose_terms", "names", "label", "rest", "text")
"""Fields of a node that only this program reads; one that is too long for a field is spilled to the facts."""


class FieldKind(Enum):
    """The type of a field; the size of a string field counts bytes, of digests their number, of a vector dimensions."""

    INTEGER = auto()
    FLAG = auto()
    STRING = auto()
    DIGESTS = auto()
    DENSE = auto()
    SPARSE = auto()


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a collection; `index` is that of dense vectors."""

    name: str
    kind: FieldKind
    size: int = 0
    index: DenseIndex = EXACT


@dataclass(frozen=True)
class CollectionSchema:
    """The fields of a collection; the first is the primary key. `order` numbers the rows from 0 without a gap."""

    order: str
    fields: tuple[Field, ...]

    @property
    def primary(self) -> Field:
        """The field of the primary key."""
        return self.fields[0]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(field.name for field in self.fields)


def nodes_schema(dimension: int | None, index: DenseIndex = EXACT) -> CollectionSchema:
    """The nodes of an index with vectors of this dimension, None for one without; `index` is that of the vectors."""
    vector = _UNUSED_FIELD if dimension is None else Field("vector", FieldKind.DENSE, dimension, index)
    return CollectionSchema(
        "row",
        (
            Field("row", FieldKind.INTEGER),
            _string("id"),
            *(Field(name, FieldKind.INTEGER) for name in ("class", "document", "place")),
            *map(_string, FILTERED_STRINGS),
            *(Field(name, FieldKind.FLAG) for name in FLAGS),
            *(Field(name, FieldKind.INTEGER) for name in NUMBERS),
            Field("metadata", FieldKind.DIGESTS, MOST_METADATA_TERMS),
            _string("workflows"),
            *map(_string, PACKED),
            vector,
            *(Field(name, FieldKind.SPARSE) for name in SPARSE),
        ),
    )


def _string(name: str, size: int = MOST_STRING_BYTES) -> Field:
    return Field(name, FieldKind.STRING, size)


_UNUSED_FIELD = Field(UNUSED, FieldKind.DENSE, len(UNUSED_VECTOR))

EDGES_SCHEMA: Final = CollectionSchema(
    "number",
    (
        Field("key", FieldKind.INTEGER),
        Field("number", FieldKind.INTEGER),
        Field("near", FieldKind.INTEGER),
        _string("content"),
        _UNUSED_FIELD,
    ),
)
FACTS_SCHEMA: Final = CollectionSchema(
    "number",
    (
        _string("key", 128),
        Field("number", FieldKind.INTEGER),
        Field("parts", FieldKind.INTEGER),
        _string("content"),
        _UNUSED_FIELD,
    ),
)
CATALOGUE_SCHEMA: Final = CollectionSchema(
    "",
    (
        _string("key", 128),
        _string("scope", 64),
        *map(_string, ("repository", "branch", "version")),
        _string("state", 16),
        _string("build", 16),
        Field("beat", FieldKind.INTEGER),
        Field("parts", FieldKind.INTEGER),
        _string("content"),
        _UNUSED_FIELD,
    ),
)


@dataclass(frozen=True, slots=True)
class VersionCollections:
    """The names of the collections of one build of one version.

    Each build has names of its own, so that what is left of one that died never mixes with the next.
    """

    version_key: str
    build: str

    @property
    def nodes(self) -> str:
        """The collection of the nodes."""
        return f"groundwire_{self.version_key}_{self.build}_nodes"

    @property
    def edges(self) -> str:
        """The collection of the edges."""
        return f"groundwire_{self.version_key}_{self.build}_edges"

    @property
    def facts(self) -> str:
        """The collection of the facts."""
        return f"groundwire_{self.version_key}_{self.build}_facts"

    @property
    def all(self) -> tuple[str, ...]:
        """All of them, the nodes first."""
        return self.nodes, self.edges, self.facts

    @staticmethod
    def of_nodes(name: str) -> "VersionCollections | None":
        """The collections of the version whose collection of nodes has this name; None for another name."""
        parts = name.split("_")
        if len(parts) != 4 or parts[0] != "groundwire" or parts[3] != "nodes":
            return None
        return VersionCollections(parts[1], parts[2])


def version_key(scope: Scope) -> str:
    """The key of the version that `scope` pins: 20 hexadecimal digits of its names, each with its length."""
    return _digest(scope.repository, scope.branch, scope.active_index)


def scope_key(scope: Scope) -> str:
    """The key of repository and branch: 20 hexadecimal digits."""
    return _digest(scope.repository, scope.branch)


def active_alias(scope: Scope) -> str:
    """The alias for the nodes of the active version."""
    return f"groundwire_active_{scope_key(scope)}"


def building_alias(scope: Scope) -> str:
    """The alias that the one build of a version holds while it runs."""
    return f"groundwire_building_{version_key(scope)}"


def _digest(*names: str) -> str:
    hashed = hashlib.blake2b(digest_size=10)
    for name in names:
        encoded = name.encode()
        hashed.update(len(encoded).to_bytes(8, "little") + encoded)
    return hashed.hexdigest()
