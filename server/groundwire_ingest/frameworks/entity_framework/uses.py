"""What code does with the entities of Entity Framework: `context.Orders.Where(...)`, `context.Orders.Add(order)`."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from groundwire_index.repository_edges.confidences import INFERRED, WILDCARD
from groundwire_ingest.tree.code_facts import Call
from groundwire_ingest.tree.framework_facts import EntityUse
from groundwire_ingest.tree.languages.types import arguments, head
from groundwire_ingest.tree.names.lookup import Lookup

_SETS = frozenset({"DbSet", "IDbSet"})
_OF_TYPE = "Set"
_WRITES = frozenset(
    """Add AddAsync AddRange AddRangeAsync AddOrUpdate Update UpdateRange Remove RemoveRange ExecuteDelete
    ExecuteDeleteAsync ExecuteUpdate ExecuteUpdateAsync BulkInsert BulkInsertAsync BulkUpdate BulkUpdateAsync
    BulkDelete BulkDeleteAsync""".split()
)
_BY_QUERY = frozenset({"ExecuteDelete", "ExecuteDeleteAsync", "ExecuteUpdate", "ExecuteUpdateAsync"})
_NEITHER = frozenset({"Attach", "AttachRange", "Entry", "AsQueryable", "Local"})


class _Set(NamedTuple):
    """A property of a context that holds the entities of a type."""

    context: int
    entity: str


class _Place(NamedTuple):
    """A node and a path in it that is a set of entities, as it is written there."""

    from_key: str
    scope: int
    path: str


def entity_uses(lookup: Lookup) -> Iterator[EntityUse]:
    """What the code of a table does with entities, file by file."""
    uses = _EntityUses(lookup)
    for file in range(len(lookup.table.files)):
        yield from uses.of_file(file)


class _EntityUses:
    """Answers for one table."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._table = lookup.table
        self._sets: defaultdict[str, list[_Set]] = defaultdict(list)
        for number, definition in enumerate(self._table.definitions):
            is_set = definition.construct == "value" and head(definition.result).rpartition(".")[2] in _SETS
            owner = self._table.owner_of(number)
            if is_set and owner >= 0 and len(arguments(definition.result)) == 1:
                self._sets[definition.name].append(_Set(owner, arguments(definition.result)[0]))
        self._contexts = frozenset(item.context for sets in self._sets.values() for item in sets)

    def of_file(self, file: int) -> Iterator[EntityUse]:
        """The uses in a file."""
        if not self._sets:
            return
        first, facts = self._table.module_of(file), self._table.files[file]
        called: defaultdict[_Place, list[Call]] = defaultdict(list)
        for call in facts.calls:
            path = self._path_of_set(call.receiver)
            if path:
                called[_Place(call.from_key, call.scope, path)].append(call)
            elif call.name in _WRITES:
                yield from self._through_context(first + call.scope, call)
        for place, calls in called.items():
            for entity, confidence in self._entities(first + place.scope, place.path):
                for call, writes in _verbs(place.path, calls):
                    yield EntityUse(place.from_key, entity, call.line, writes, confidence)
        for reference in facts.references:
            place = _Place(reference.from_key, reference.scope, reference.name)
            is_set = reference.role == "value" and self._path_of_set(reference.name) == reference.name
            is_read = is_set and place not in called
            for entity, confidence in self._entities(first + place.scope, place.path) if is_read else ():
                yield EntityUse(place.from_key, entity, reference.line, False, confidence)

    def _path_of_set(self, path: str) -> str:
        """The start of a path that ends with a set of entities; empty where it has none."""
        segments = path.split(".")
        for position, segment in enumerate(segments):
            is_made = head(segment) == _OF_TYPE and segment.endswith(">()")
            if segment in self._sets or is_made:
                return ".".join(segments[: position + 1])
        return ""

    def _entities(self, scope: int, path: str) -> Iterator[tuple[str, float]]:
        """The keys of the types of entities that a set is of."""
        receiver, _, name = path.rpartition(".")
        contexts, at_most = self._contexts_at(scope, receiver)
        if name in self._sets:
            named = ((item.context, item.entity) for item in self._sets[name] if item.context in contexts)
        else:
            given = arguments(name.removesuffix("()").replace("::", "."))
            named = ((scope, given[0]) for _ in range(bool(contexts & self._contexts and len(given) == 1)))
        for where, entity in dict.fromkeys(named):
            resolved = self._lookup.type_named(where, entity)
            types = (
                {self._table.parts(number)[0] for number in resolved.numbers} if resolved is not None else set[int]()
            )
            for number in types if len(types) == 1 else ():
                yield self._table.definitions[number].key, min(at_most, WILDCARD)

    def _contexts_at(self, scope: int, receiver: str) -> tuple[frozenset[int], float]:
        """The types, with their bases, of what a set is taken from; those around if nothing is written."""
        if receiver in ("", "this", "base"):
            around = self._table.enclosing_type(scope)
            return (self._lookup.lineages((around,)) if around is not None else frozenset()), WILDCARD
        value = self._lookup.value(scope, receiver)
        if value is None or value.is_itself:
            return frozenset(), WILDCARD
        return self._lookup.lineages(value.resolved.numbers), value.resolved.confidence

    def _through_context(self, scope: int, call: Call) -> Iterator[EntityUse]:
        """`context.Add(order)`: what is given is an entity, or there is no table for it."""
        if not call.receiver or not call.arguments or call.receiver.startswith("?"):
            return
        contexts, _ = self._contexts_at(scope, call.receiver)
        if contexts.isdisjoint(self._contexts):
            return
        numbers = self._lookup.argument(scope, call.arguments[0])
        if len(numbers) == 1:
            key = self._table.definitions[numbers[0]].key
            yield EntityUse(call.from_key, key, call.line, True, INFERRED)


def _verbs(path: str, calls: Sequence[Call]) -> Iterator[tuple[Call, bool]]:
    """The calls on a set that read it or, with True, write it; a query for what to change reads nothing."""
    for call in calls:
        if call.name in _WRITES and (call.receiver == path or call.name in _BY_QUERY):
            yield call, True
        elif call.receiver == path and call.name not in _NEITHER:
            start = f"{path}.{call.name}"
            after = (other for other in calls if other.receiver.startswith(start))
            if not any(other.name in _BY_QUERY for other in after):
                yield call, False
