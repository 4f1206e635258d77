"""The edges that SCIP indexes state between the nodes of a tree."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from groundwire_index.nodes.node import CONTAINS
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.scip.overlay import Overlay, TreeFile
from groundwire_ingest.tree.scip.positions import Occurrence
from groundwire_ingest.tree.scip.symbols import constructors, is_module, is_property, is_type, type_of_field
from groundwire_ingest.tree.scip.table import Place, SymbolTable

CALLS, REFERENCES, IMPORTS, INHERITS = "Calls", "References", "Imports", "Inherits"
IMPLEMENTS, IMPLEMENTED_BY = "Implements", "ImplementedBy"
OVERRIDES, OVERRIDDEN_BY = "Overrides", "OverriddenBy"

REPLACED = frozenset({CALLS, REFERENCES, INHERITS, "DecoratedBy"})
"""The edges of the tree's own reading that a compiler's edges replace."""

_ONWARD = frozenset({IMPLEMENTED_BY, OVERRIDDEN_BY})
_NO_DEPENDENCY = frozenset({CONTAINS, IMPORTS})
_MAX_NESTING = 4


class Links:
    """Edges by the pair of their ends and their type, the first of equal ones counting."""

    def __init__(self, table: SymbolTable, files: Mapping[str, TreeFile], own_edges: Iterable[SourceEdge]) -> None:
        self._table = table
        self._files = files
        self._own = tuple(own_edges)
        self._edges: dict[tuple[str, str], dict[str, SourceEdge]] = {}
        self._names = {key: name for file in files.values() for key, name in file.names.items()}
        self._replaceable: defaultdict[str, list[SourceEdge]] = defaultdict(list)
        self._known: set[tuple[str, str, str]] = set()
        self._containers = {edge.to_key: edge.from_key for edge in self._own if edge.edge_type == CONTAINS}
        paths = {span.key: path for path, file in files.items() for span in file.spans}
        for edge in self._own:
            if edge.edge_type in REPLACED and edge.from_key in paths:
                self._replaceable[paths[edge.from_key]].append(edge)

    def add_relations(self) -> None:
        """Adds what symbols state of each other, and the way back from what is implemented to what implements it."""
        for index, symbol, relation in self._table.relations():
            for start in self._table.places(index, symbol):
                for end in self._table.places(index, relation.symbol):
                    if not relation.is_implementation:
                        self._add(start.key, end.key, REFERENCES, start.path, start.line)
                    else:
                        self._add_implementation(start, end, is_type(symbol))

    def _add_implementation(self, start: Place, end: Place, of_type: bool) -> None:
        is_abstract = end.key in self._files[end.path].abstract
        forth = INHERITS if of_type else IMPLEMENTS if is_abstract else OVERRIDES
        self._add(start.key, end.key, forth, start.path, start.line)
        if is_abstract or not of_type:
            self._add(end.key, start.key, IMPLEMENTED_BY if is_abstract else OVERRIDDEN_BY, end.path, end.line)

    def add_references(self, index: int, covered: Overlay) -> None:
        """Adds the references of a document, and records which of the reading's own edges the compiler knows.

        A name on the line of an import, and the first place of a name that the file imports, is an import unless the
        reading sees it used there.
        """
        imported: dict[str, int] = {}
        known = set[tuple[int, str]]()
        for item in covered.references:
            written, line = covered.text.written(item), item.row + 1
            if not self._table.is_trusted(index, item.symbol, written):
                continue
            if not is_property(item.symbol):
                known.add((line, written))
            is_import = item.is_import or is_module(item.symbol)
            if (line, written) not in covered.file.uses:
                is_first = written in covered.file.imports and imported.setdefault(written, line) == line
                is_import |= is_first or line in covered.file.import_lines
            if is_import:
                for place in self._table.places(index, item.symbol):
                    self._add(covered.file.key, self._files[place.path].key, IMPORTS, covered.file.path, line)
            else:
                self._add_use(index, item, covered)
        for edge in self._replaceable[covered.file.path]:
            if (edge.line, self._names.get(edge.to_key)) in known:
                self._known.add((edge.from_key, edge.to_key, edge.edge_type))

    def _add_use(self, index: int, item: Occurrence, covered: Overlay) -> None:
        """Adds a reference, and the call that it may be. The call of a type is one of its constructor.

        The use of a type's fields by its own members adds no edge.
        """
        from_key, line = covered.keys[item.row], item.row + 1
        lines = covered.file.calls.get((from_key, covered.text.written(item)), frozenset())
        is_call = line in lines or (bool(lines) and covered.text.is_before(item, "("))
        places = self._table.places(index, item.symbol)
        made = (self._table.places(index, symbol) for symbol in constructors(item.symbol) if is_type(item.symbol))
        entered = next(filter(None, made), places) if is_call else ()
        for place in entered:
            if place.is_callable:
                self._add(from_key, place.key, CALLS, covered.file.path, line)
        is_field = bool(type_of_field(item.symbol))
        for place in places:
            if not (is_field and self._stands_in(from_key, place.key)):
                self._add(from_key, place.key, REFERENCES, covered.file.path, line)

    def joined(self, covered: frozenset[str]) -> Iterator[SourceEdge]:
        """These edges and those of the tree's own reading, sorted by their ends and type.

        Of the reading's own REPLACED those that a compiler states are certain. Those between `covered` nodes go where
        it knows their names to mean something else, unless they lead on from a callee that it states to what implements
        or overrides that. The type of a reference is the reading's where that has one.
        """
        bases = self._bases()
        joined: dict[tuple[str, str, str], SourceEdge] = {}
        typed = {pair for pair, edges in self._edges.items() if not edges.keys() <= {REFERENCES, IMPORTS}}
        for edge in self._own:
            pair, place = (edge.from_key, edge.to_key), (edge.from_key, edge.to_key, edge.edge_type)
            if edge.edge_type in REPLACED and pair in self._edges:
                edge = replace(edge, confidence=1.0)
            elif place in self._known and covered.issuperset(pair) and not self._leads_on(pair, bases):
                continue
            if edge.edge_type not in _NO_DEPENDENCY:
                typed.add(pair)
            joined[place] = edge
        for pair, edges in self._edges.items():
            for edge_type, edge in edges.items():
                if edge_type != REFERENCES or pair not in typed:
                    joined[(*pair, edge_type)] = edge
        for place in sorted(joined):
            yield joined[place]

    def _bases(self) -> Mapping[str, Sequence[str]]:
        """The members and types that each node implements or overrides."""
        bases: defaultdict[str, list[str]] = defaultdict(list)
        for edge in (*self._own, *(edge for edges in self._edges.values() for edge in edges.values())):
            if edge.edge_type in _ONWARD:
                bases[edge.to_key].append(edge.from_key)
        return bases

    def _stands_in(self, key: str, around: str) -> bool:
        for _ in range(_MAX_NESTING):
            key = self._containers.get(key, "")
            if key == around:
                return True
        return False

    def _leads_on(self, pair: tuple[str, str], bases: Mapping[str, Sequence[str]]) -> bool:
        from_key, to_key = pair
        return any((from_key, base) in self._edges for base in bases.get(to_key, ()))

    def _add(self, from_key: str, to_key: str, edge_type: str, path: str, line: int) -> None:
        if from_key != to_key:
            edges = self._edges.setdefault((from_key, to_key), {})
            edges.setdefault(edge_type, SourceEdge(from_key, to_key, edge_type, f"{path}:{line}", 1.0, line))
