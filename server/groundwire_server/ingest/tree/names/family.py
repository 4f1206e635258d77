"""The edges of one language family, file by file."""

from collections.abc import Iterator

from groundwire_server.ingest.records import SourceEdge
from groundwire_server.ingest.tree.model import EntityMapping
from groundwire_server.ingest.tree.names.calls import CallResolution
from groundwire_server.ingest.tree.names.lookup import Lookup
from groundwire_server.ingest.tree.names.rules import WILDCARD, NameRules
from groundwire_server.ingest.tree.names.table import NOTHING


class FamilyEdges:
    """Resolves what the files of a table say of each other."""

    def __init__(self, rules: NameRules) -> None:
        self._rules = rules
        self._table = rules.table
        self._lookup = Lookup(rules)
        self._calls = CallResolution(rules, self._lookup)

    def edges(self) -> Iterator[SourceEdge | EntityMapping]:
        """Imports, Inherits and Calls of each file, the tables it maps, and members adopted from other files."""
        for file, facts in enumerate(self._table.files):
            edges = _FileEdges(facts.path)
            self._add_imports(file, edges)
            used = self._add_bases(file, edges) | self._add_calls(file, edges) | self._variable_types(file)
            self._add_namespace_imports(file, used, edges)
            yield from edges.sorted()
            yield from self._mappings(file)
        for owner, member in self._rules.adopted():
            definition = self._table.definitions[member]
            origin = f"{self._table.path_of(member)}:{definition.line}"
            yield SourceEdge(self._key(owner), definition.key, "Contains", origin)

    def _add_imports(self, file: int, edges: "_FileEdges") -> None:
        for item, found in self._rules.imported(file):
            for number in found.numbers:
                edges.add(self._file_key(file), self._key_of_file_with(number), "Imports", item.line, found.confidence)

    def _add_bases(self, file: int, edges: "_FileEdges") -> set[int]:
        """Adds the Inherits edges and returns the types that they lead to."""
        used: set[int] = set()
        first = self._table.module_of(file)
        for number, definition in enumerate(self._table.files[file].definitions, first):
            for name in definition.bases:
                found = self._lookup.type_named(number, name) or NOTHING
                for base in found.numbers:
                    edges.add(definition.key, self._key(base), "Inherits", definition.line, found.confidence)
                    used.add(base)
        return used

    def _add_calls(self, file: int, edges: "_FileEdges") -> set[int]:
        """Adds the Calls edges and returns what they lead to."""
        used: set[int] = set()
        first = self._table.module_of(file)
        for call in self._table.files[file].calls:
            found = self._calls.called(first + call.scope, call) or NOTHING
            for number in found.numbers:
                edges.add(call.from_key, self._key(number), "Calls", call.line, found.confidence)
                used.add(number)
        return used

    def _variable_types(self, file: int) -> set[int]:
        first = self._table.module_of(file)
        bindings = self._table.files[file].bindings
        types = (self._lookup.type_named(first + binding.scope, binding.type_name) for binding in bindings)
        return {number for found in types if found for number in found.numbers}

    def _add_namespace_imports(self, file: int, used: set[int], edges: "_FileEdges") -> None:
        for number in sorted(used):
            item = self._rules.namespace_import(file, number)
            if item is not None:
                edges.add(self._file_key(file), self._key_of_file_with(number), "Imports", item.line, WILDCARD)

    def _mappings(self, file: int) -> Iterator[EntityMapping]:
        """The nodes that state a mapping, and the entity types that they state it of."""
        first = self._table.module_of(file)
        found: dict[tuple[str, str], float] = {}
        for mapping in self._table.files[file].mappings:
            entity = self._lookup.type_named(first + mapping.scope, mapping.entity) if mapping.entity else None
            for key in (mapping.from_key, *map(self._key, entity.numbers if entity else ())):
                place = (key, mapping.table)
                found[place] = max(found.get(place, 0.0), mapping.confidence)
        for (key, table), confidence in sorted(found.items()):
            yield EntityMapping(key, table, confidence)

    def _key(self, number: int) -> str:
        return self._table.definitions[number].key

    def _file_key(self, file: int) -> str:
        return self._key(self._table.module_of(file))

    def _key_of_file_with(self, number: int) -> str:
        return self._file_key(self._table.file_of(number))


class _FileEdges:
    """The edges that start in one file, none from a node to itself and the surest of several between two nodes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._edges: dict[tuple[str, str, str], SourceEdge] = {}

    def add(self, from_key: str, to_key: str, edge_type: str, line: int, confidence: float) -> None:
        place = (from_key, to_key, edge_type)
        known = self._edges.get(place)
        if from_key != to_key and (known is None or known.confidence < confidence):
            self._edges[place] = SourceEdge(from_key, to_key, edge_type, f"{self._path}:{line}", confidence)

    def sorted(self) -> Iterator[SourceEdge]:
        """The edges by their ends and type."""
        for place in sorted(self._edges):
            yield self._edges[place]
