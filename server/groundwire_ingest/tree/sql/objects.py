"""The SQL objects of a tree by name: which one a reference means, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass

from groundwire_ingest.tree.sql.definitions import ObjectType
from groundwire_ingest.tree.sql.object_names import DEFAULT_SCHEMAS, SqlName
from groundwire_ingest.tree.sql.tree import Relation

EXACT_CONFIDENCE = 1.0
ASSUMED_SCHEMA_CONFIDENCE = 0.9

_ANY = frozenset(ObjectType)
_SOURCES = frozenset({ObjectType.TABLE, ObjectType.VIEW, ObjectType.SYNONYM, ObjectType.FUNCTION})
ADMITTED_TYPES = {
    Relation.READS: _SOURCES,
    Relation.WRITES: frozenset({ObjectType.TABLE, ObjectType.VIEW, ObjectType.SYNONYM}),
    Relation.CALLS: frozenset({ObjectType.FUNCTION}),
    Relation.EXECUTES: frozenset({ObjectType.PROCEDURE, ObjectType.FUNCTION, ObjectType.SYNONYM}),
    Relation.FOREIGN_KEY: frozenset({ObjectType.TABLE}),
    Relation.ON: frozenset({ObjectType.TABLE, ObjectType.VIEW}),
    Relation.SYNONYM_FOR: _ANY,
}
_DEFAULT_SCHEMAS = frozenset(DEFAULT_SCHEMAS.values()) - {""}


@dataclass(frozen=True, slots=True)
class SqlObject:
    """A defined object: the key of its node, its type and its schema, folded; "" where none is known.

    `has_no_schema` tells that its dialect knows none (MySQL), so that a qualifier names the database.
    """

    key: str
    object_type: ObjectType
    schema: str
    has_no_schema: bool


@dataclass(frozen=True, slots=True)
class Resolved:
    """The object that a name means. `confidence` is less than 1 when the name leaves its schema or database open."""

    object: SqlObject
    confidence: float


class ObjectIndex:
    """Objects by folded name; of several definitions of one object only the first."""

    def __init__(self) -> None:
        self._by_name: dict[str, dict[tuple[str, ObjectType], SqlObject]] = {}

    def add(self, name: SqlName, defined: SqlObject) -> None:
        """Makes `defined` known under `name`, unless its schema has an object of that name and type already."""
        same_name = self._by_name.setdefault(name.folded[1], {})
        same_name.setdefault((defined.schema, defined.object_type), defined)

    def knows(self, bare_name: str) -> bool:
        """Whether an object of any schema has this name, given without quotes."""
        return bare_name.casefold() in self._by_name

    def find(
        self, name: SqlName, allowed: frozenset[ObjectType] = _ANY, home_schema: str | None = None
    ) -> Resolved | None:
        """The object of an allowed type that `name` means; None for none, and for several with equal claim.

        A stated schema must be the object's, or a default one where the object's is unknown, or the name of
        the database where there are no schemas (ASSUMED_SCHEMA_CONFIDENCE). Without one the home schema comes
        first (that of the naming file, if given), then dbo and public, then the objects of unknown schema,
        then the only schema that has the name (ASSUMED_SCHEMA_CONFIDENCE).
        """
        schema, bare = name.folded
        objects = [found for found in self._by_name.get(bare, {}).values() if found.object_type in allowed]
        stated_confidence = ASSUMED_SCHEMA_CONFIDENCE if name.is_foreign else EXACT_CONFIDENCE
        searched = [{home_schema}, _DEFAULT_SCHEMAS, {""}]
        if schema:
            searched = [{schema}, {""} if schema in _DEFAULT_SCHEMAS else {schema}]
        for schemas in searched:
            candidates = [candidate for candidate in objects if candidate.schema in schemas]
            if candidates:
                return _unambiguous(candidates, stated_confidence)
        if schema:
            objects = [candidate for candidate in objects if candidate.has_no_schema and not candidate.schema]
        return _unambiguous(objects, ASSUMED_SCHEMA_CONFIDENCE)


def _unambiguous(candidates: Sequence[SqlObject], confidence: float) -> Resolved | None:
    """The first definition when all candidates are of one schema; None otherwise."""
    if len({candidate.schema for candidate in candidates}) != 1:
        return None
    return Resolved(candidates[0], confidence)


def edge_type(relation: Relation, target: SqlObject) -> str:
    """The relation's own, save that a function is called even where it stands in FROM or after EXEC."""
    is_function = target.object_type is ObjectType.FUNCTION
    return Relation.CALLS.value if is_function and relation is not Relation.SYNONYM_FOR else relation.value
