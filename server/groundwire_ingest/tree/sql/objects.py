"""The SQL objects of a tree by name: which one a reference means, and how sure that is."""

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.repository_edges.nearest import nearest
from groundwire_index.repository_edges.tables import OfferedTable, TableUse
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.sql.definitions import ObjectType
from groundwire_ingest.tree.sql.object_names import ANY_SCHEMA, DEFAULT_SCHEMAS, Relation, SqlName
from groundwire_ingest.tree.sql.standing import Standing

EXACT_CONFIDENCE = 1.0
ASSUMED_SCHEMA_CONFIDENCE = 0.9
ONE_OF_SEVERAL_CONFIDENCE = 0.5
MAX_SCHEMAS = 3

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
    Relation.ALTERS: _ANY - {ObjectType.INDEX, ObjectType.TRIGGER},
}
_SHARED = frozenset({ObjectType.TABLE, ObjectType.VIEW})
_SHARING = frozenset({Relation.READS, Relation.WRITES, Relation.FOREIGN_KEY, Relation.ON, Relation.ALTERS})
_VARIABLE = "$("
_DEFAULT_SCHEMAS = frozenset(DEFAULT_SCHEMAS.values()) - {""}


@dataclass(frozen=True, slots=True)
class SqlObject:
    """A defined object: the key of its node, its type and its schema, folded; "" where none is known.

    `has_no_schema` is set if its dialect has none (MySQL), so that a qualifier names the database.
    `variant` distinguishes equal names: the table of an index or trigger, the parameters of a routine that may be
    overloaded. `standing` and `origin` are the definition's place, `parts` the keys of a long one's further nodes.
    """

    key: str
    object_type: ObjectType
    schema: str
    has_no_schema: bool
    standing: Standing
    origin: str
    variant: str = ""
    parts: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The path of the file that defines it."""
        return self.standing.path


@dataclass(slots=True)
class _Defined:
    """The definitions of one object by what they demand of a caller, sorted by path, and the keys of all."""

    first: SqlObject
    by_demand: dict[NodeAccess, list[SqlObject]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The object that a name means. `confidence` is less than 1 when the name leaves its schema or database open.

    `object` is its first definition; `keys` are those of the nodes of all its definitions.
    """

    object: SqlObject
    definitions: Collection[Sequence[SqlObject]]
    keys: Set[str]
    confidence: float

    def near(self, path: str) -> list[str]:
        """The keys of the definitions that a reference in a file leads to: of those with the same demand the nearest.

        That is one in the file itself, else one that shares the most folders with it, and of several the current one.
        Of routines that may be overloaded the first by path counts.
        """
        return [_current_of_first(nearest(path, each, lambda item: item.path)).key for each in self.definitions]

    def edges(self, path: str, from_key: str, edge_type: str, origin: str, confidence: float) -> Iterator[SourceEdge]:
        """The edges of a reference in a file to the object; `confidence` is that of the reference."""
        for key in self.near(path):
            yield SourceEdge(from_key, key, edge_type, origin, min(confidence, self.confidence))


class ObjectIndex:
    """Objects by folded name, with their definitions in the order in which they are added, which is that of paths.

    `demand_of` returns the access rules of a file's nodes. Definitions with the same demand are seen by the same
    callers. So what a caller sees of the links below is what an index would have that never held the others.
    """

    def __init__(self, demand_of: Callable[[str], NodeAccess]) -> None:
        self.demand_of = demand_of
        self._by_name: dict[str, dict[tuple[str, ObjectType], _Defined]] = {}
        self._in_code: set[str] = set()
        self._same: dict[tuple[str, str, ObjectType, str, str], list[SqlObject]] = {}

    def define(self, name: SqlName, defined: SqlObject) -> None:
        """Makes `defined` known under `name`."""
        bare, object_type = name.folded[1], defined.object_type
        same_name = self._by_name.setdefault(bare, {})
        known = same_name.setdefault((defined.schema, object_type), _Defined(defined))
        known.by_demand.setdefault(self.demand_of(defined.path), []).append(defined)
        known.keys.add(defined.key)
        schema = "" if defined.schema in _DEFAULT_SCHEMAS else defined.schema
        same = bare, schema, object_type, defined.variant, defined.standing.system
        self._same.setdefault(same, []).append(defined)

    def define_in_code(self, name: SqlName, defined: SqlObject) -> None:
        """Makes what code defines known under `name`, unless an SQL file defines something of that name."""
        bare = name.folded[1]
        if bare not in self._by_name or bare in self._in_code:
            self._in_code.add(bare)
            known = self._by_name.setdefault(bare, {}).setdefault(("", defined.object_type), _Defined(defined))
            known.by_demand.setdefault(self.demand_of(defined.path), []).append(defined)
            known.keys.add(defined.key)

    def redefinitions(self) -> Iterator[tuple[SqlObject, SqlObject]]:
        """Pairs of definitions of one object: each older one with a demand and the current one with the same demand.

        The current ones of all demands are paired with each other, an older one first. dbo, public and no schema count
        as one. Definitions for several database systems are those of several objects.
        """
        for definitions in self._same.values():
            by_demand: dict[NodeAccess, list[SqlObject]] = {}
            for defined in definitions:
                by_demand.setdefault(self.demand_of(defined.path), []).append(defined)
            current = {demand: _current(same) for demand, same in by_demand.items()}
            for demand, same in by_demand.items():
                yield from ((defined, current[demand]) for defined in same if defined is not current[demand])
            yield from combinations(sorted(current.values(), key=lambda item: item.standing), 2)

    @property
    def is_empty(self) -> bool:
        """True if nothing is defined."""
        return not self._by_name

    def knows(self, bare_name: str) -> bool:
        """True if an object of any schema has this name, given without quotes; case does not matter."""
        return bare_name.casefold() in self._by_name

    def tables(self) -> Iterator[OfferedTable]:
        """The tables and views for other trees: of each the current definition of those with the same demand."""
        for bare, objects in self._by_name.items():
            for (schema, object_type), defined in objects.items():
                for same in defined.by_demand.values() if object_type in _SHARED else ():
                    current = _current_of_first(same)
                    yield OfferedTable(bare, schema, object_type.value, current.key, current.has_no_schema)

    def shared_use(
        self,
        name: SqlName,
        relation: Relation,
        place: tuple[NodeAccess, str, int],
        confidence: float,
        home_schema: str | None = None,
    ) -> TableUse | None:
        """The use of a table that other trees may define; None for one that the tree defines for all who see the use.

        `place` has the access rules of the node that names it, the node and the line.
        """
        demand, key, line = place
        object_types = tuple(sorted(item.value for item in ADMITTED_TYPES[relation] & _SHARED))
        schema, bare = name.folded
        answered_by: dict[str, None] = {}
        for defined in self._by_name.get(bare, {}).values():
            if demand in defined.by_demand:
                return None
            answered_by |= dict.fromkeys(item.key for same in defined.by_demand.values() for item in same)
        if not object_types or relation not in _SHARING:
            return None
        return TableUse(
            bare,
            schema,
            object_types,
            key,
            relation.value,
            line,
            confidence,
            home_schema,
            name.is_foreign,
            tuple(answered_by),
        )

    def find(
        self, name: SqlName, allowed: frozenset[ObjectType] = _ANY, home_schema: str | None = None
    ) -> Resolved | None:
        """The object of an allowed type that `name` means; None for none, and for several with equal claim.

        A stated schema must be the object's, or a default one where the object's is unknown, or the name of
        the database where there are no schemas (ASSUMED_SCHEMA_CONFIDENCE). Without one the order is: the home schema
        (that of the naming file, if given), dbo and public, the objects of unknown schema, and the only schema that has
        the name (ASSUMED_SCHEMA_CONFIDENCE). ANY_SCHEMA means the object of that name whose
        schema is a variable of the script, or else the only one, dbo, public and no schema counting as one
        (ASSUMED_SCHEMA_CONFIDENCE), or one of MAX_SCHEMAS at most (ONE_OF_SEVERAL_CONFIDENCE).
        """
        schema, bare = name.folded
        objects = [
            named_object
            for named_object in self._by_name.get(bare, {}).values()
            if named_object.first.object_type in allowed
        ]
        if schema == ANY_SCHEMA:
            return _in_any_schema(objects)
        stated_confidence = ASSUMED_SCHEMA_CONFIDENCE if name.is_foreign else EXACT_CONFIDENCE
        searched = [{home_schema}, _DEFAULT_SCHEMAS, {""}]
        if schema:
            searched = [{schema}, {""} if schema in _DEFAULT_SCHEMAS else {schema}]
        for schemas in searched:
            candidates = [candidate for candidate in objects if candidate.first.schema in schemas]
            if candidates:
                return _unambiguous(candidates, stated_confidence)
        if schema:
            objects = [item for item in objects if item.first.has_no_schema and not item.first.schema]
        return _unambiguous(objects, ASSUMED_SCHEMA_CONFIDENCE)


def _current(definitions: Sequence[SqlObject]) -> SqlObject:
    """The one with the greatest standing; of several in one file the last."""
    return max(reversed(definitions), key=lambda item: item.standing)


def _current_of_first(definitions: Sequence[SqlObject]) -> SqlObject:
    """The current definition of what the first one defines.

    Others of its name may have other parameters, or be for another database system.
    """
    first = definitions[0]
    return _current(
        [
            defined
            for defined in definitions
            if (defined.variant, defined.standing.system) == (first.variant, first.standing.system)
        ]
    )


def _unambiguous(candidates: Sequence[_Defined], confidence: float) -> Resolved | None:
    """The first candidate when all are of one schema; None otherwise."""
    if len({candidate.first.schema for candidate in candidates}) != 1:
        return None
    surest = candidates[0]
    return Resolved(surest.first, surest.by_demand.values(), surest.keys, confidence)


def _in_any_schema(objects: Sequence[_Defined]) -> Resolved | None:
    """What a name means whose schema the code inserts; see `ObjectIndex.find`."""
    variable = [item for item in objects if item.first.schema.startswith(_VARIABLE)]
    default = [item for item in objects if item.first.schema in _DEFAULT_SCHEMAS]
    candidates = variable or objects
    schemas = {item.first.schema for item in candidates}
    if default and schemas <= _DEFAULT_SCHEMAS | {""}:
        candidates = default[:1]
        schemas = {default[0].first.schema}
    if not 1 < len(schemas) <= MAX_SCHEMAS:
        return _unambiguous(candidates, ASSUMED_SCHEMA_CONFIDENCE)
    definitions = [of_demand for item in candidates for of_demand in item.by_demand.values()]
    keys = frozenset(key for item in candidates for key in item.keys)
    return Resolved(candidates[0].first, definitions, keys, ONE_OF_SEVERAL_CONFIDENCE)


def edge_type(relation: Relation, target: SqlObject) -> str:
    """The relation's own, but a function is called even in FROM or after EXEC."""
    is_used = relation not in (Relation.SYNONYM_FOR, Relation.ALTERS)
    return Relation.CALLS.value if is_used and target.object_type is ObjectType.FUNCTION else relation.value
