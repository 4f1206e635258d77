"""Which nodes of a tree define the symbols of its SCIP indexes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from groundwire_ingest.tree.code_facts import Definition
from groundwire_ingest.tree.scip.documents import Relation
from groundwire_ingest.tree.scip.overlay import Overlay
from groundwire_ingest.tree.scip.positions import Occurrence
from groundwire_ingest.tree.scip.symbols import is_callable as is_callable_symbol
from groundwire_ingest.tree.scip.symbols import is_module, is_of_unnamed_package, is_type, plain_name, type_of_field

MAX_DEFINITIONS = 3
"""A symbol that more nodes than this define, such as a package of many files, leads to none of them."""


@dataclass(frozen=True, slots=True)
class Place:
    """The node that holds a definition, and the definition's place; the line is 1-based.

    `is_callable` is set for a function, a constant that is one, and a type.
    """

    key: str
    path: str
    line: int
    is_test: bool
    is_callable: bool


class IndexSymbols:
    """The definitions of one index in the tree by symbol, their names, and their symbols' statements about others."""

    def __init__(self) -> None:
        self.definitions: dict[str, tuple[Place, ...]] = {}
        self.relations: dict[str, Sequence[Relation]] = {}
        self.names: set[str] = set()

    def add(self, covered: Overlay) -> None:
        """Adds the definitions and relations of a document. A module is the node of its file.

        Additions of a test to a symbol that is defined elsewhere do not define it.
        """
        types: dict[str, str] = {}
        bodies = _bodies(covered)
        for item in covered.definitions:
            place = _place(bodies.get(item.symbol, item), covered, types)
            if is_type(item.symbol):
                types[item.symbol] = place.key
            self._define(item.symbol, place)
        self.relations.update((symbol, stated) for symbol, stated in covered.document.relations.items() if stated)

    def _define(self, symbol: str, place: Place) -> None:
        known = self.definitions.get(symbol, ())
        if known and known[0].is_test != place.is_test:
            self.definitions[symbol] = known if place.is_test else (place,)
        elif len(known) <= MAX_DEFINITIONS and all(place.key != other.key for other in known):
            self.definitions[symbol] = (*known, place)
        self.names.add(plain_name(symbol))


def _bodies(covered: Overlay) -> Mapping[str, Occurrence]:
    """For callables that an index defines where the tree declares nothing: where the tree does.

    Such are the signatures of an overload, whose function some indexers take for a reference to the first of them.
    """
    stubs = {
        item.symbol
        for item in covered.definitions
        if is_callable_symbol(item.symbol) and _declared(item, covered) is None
    }
    items = (*covered.references[::-1], *covered.definitions[::-1])
    return {item.symbol: item for item in items if item.symbol in stubs and _declared(item, covered) is not None}


def _declared(item: Occurrence, covered: Overlay) -> Definition | None:
    return covered.file.declared.get((item.row + 1, plain_name(item.symbol)))


def _place(item: Occurrence, covered: Overlay, types: Mapping[str, str]) -> Place:
    """Where a symbol is defined: the node of what the tree declares there, or around it.

    A field without a node of its own belongs to its type; `types` are the nodes of those before it.
    """
    file, declared = covered.file, _declared(item, covered)
    is_callable = declared.construct in ("callable", "type") if declared else is_callable_symbol(item.symbol)
    field_of = types.get(type_of_field(item.symbol))
    if is_module(item.symbol):
        key = file.key
    elif declared and declared.symbol in file.keys_by_symbol:
        # An overload that is only a signature has no node of its own; what it is one of has.
        key = file.keys_by_symbol[declared.symbol]
    elif field_of:
        key = field_of
    else:
        key = declared.key if declared else covered.keys[item.row]
    return Place(key, file.path, item.row + 1, file.is_test, is_callable)


class SymbolTable:
    """The symbols of all indexes of a tree."""

    def __init__(self, indexes: Sequence[IndexSymbols]) -> None:
        self._indexes = indexes
        self._homes: dict[str, int | None] = {}
        for number, index in enumerate(indexes if len(indexes) > 1 else ()):
            for symbol in index.definitions:
                self._homes[symbol] = None if symbol in self._homes else number

    def places(self, index: int, symbol: str) -> tuple[Place, ...]:
        """Where a symbol that an index names is defined, MAX_DEFINITIONS at most.

        An index speaks of its own symbols first, then of those that one other index alone defines, unless their package
        has no name: such symbols mean something else in each index.
        """
        home = self._home(index, symbol)
        places = () if home is None else self._indexes[home].definitions.get(symbol, ())
        return places if len(places) <= MAX_DEFINITIONS else ()

    def is_trusted(self, index: int, symbol: str, written: str) -> bool:
        """True if a symbol may be at a written name: under its own name or one that nothing else has.

        Some indexers follow a chain of wildcard imports to the wrong symbol.
        """
        name = plain_name(symbol)
        return not name or written == name or written not in self._indexes[index].names

    def relations(self) -> Iterator[tuple[int, str, Relation]]:
        """Each symbol's statements about others, with the number of its index.

        Statements that follow from others are left out: that a type implements the base of its base.
        """
        for number, index in enumerate(self._indexes):
            for symbol, stated in index.relations.items():
                bases = [relation.symbol for relation in stated if relation.is_implementation]
                implied = {further for base in bases for further in self._bases(number, base) if base != further}
                for relation in stated:
                    if not (relation.is_implementation and relation.symbol in implied):
                        yield number, symbol, relation

    def _bases(self, index: int, symbol: str) -> Iterator[str]:
        home = self._home(index, symbol)
        stated = () if home is None else self._indexes[home].relations.get(symbol, ())
        return (relation.symbol for relation in stated if relation.is_implementation)

    def _home(self, index: int, symbol: str) -> int | None:
        if symbol in self._indexes[index].definitions:
            return index
        return None if is_of_unnamed_package(symbol) else self._homes.get(symbol)
