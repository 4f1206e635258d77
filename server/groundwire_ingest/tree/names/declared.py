"""The edges between declarations: parts of a type, a declaration and its body, tests and what they are named after."""

import re
from collections import defaultdict
from collections.abc import Iterator

from groundwire_index.nodes.node import CONTAINS
from groundwire_index.repository_edges.confidences import EXACT, GUESSED, INFERRED
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.names.inheritance import MAX_IMPLEMENTATIONS
from groundwire_ingest.tree.names.rules import NameRules
from groundwire_ingest.tree.names.table import SymbolTable


def declared_edges(rules: NameRules) -> Iterator[SourceEdge]:
    """Types and the members that they have in other files, bodies and what declares them, parts of types."""
    table = rules.table
    for owner, member in rules.adopted:
        yield _edge(table, owner, member, CONTAINS)
    yield from _bodies(rules)
    for first, other in rules.parts:
        yield _edge(table, first, other, "PartialOf")
        yield _edge(table, other, first, "PartialOf")


def _bodies(rules: NameRules) -> Iterator[SourceEdge]:
    """Between declarations without a body and the definitions that have it."""
    table = rules.table
    seen: set[tuple[str, str]] = set()
    for number, definition in enumerate(table.definitions):
        bodies = rules.bodies(number)
        confidence = EXACT if len(bodies) == 1 else GUESSED
        for body in bodies if len(bodies) <= MAX_IMPLEMENTATIONS else ():
            ends = (definition.key, table.definitions[body].key)
            if ends[0] != ends[1] and ends not in seen:
                seen.add(ends)
                yield _edge(table, number, body, "ImplementedBy", confidence)
                yield _edge(table, body, number, "Implements", confidence)


def _edge(table: SymbolTable, start: int, end: int, edge_type: str, confidence: float = EXACT) -> SourceEdge:
    """An edge that the declarations themselves make, which is sure unless several fit."""
    first, last = table.definitions[start], table.definitions[end]
    return SourceEdge(first.key, last.key, edge_type, f"{table.path_of(start)}:{first.line}", confidence, first.line)


_TYPE_AFFIX = re.compile(
    r"(?:(?:Unit|Integration|Functional|Acceptance|Web|Api|API){0,4}(?:Tests?|Specs?|IT)|Fixture)$|^Tests?(?=[A-Z])"
)
_FILE_AFFIX = re.compile(r"^tests?_|_(?:tests?|spec)$|[.](?:tests?|spec|e2e|cy)$|Tests?$")
_SUFFIXES = re.compile(r"(?:\.d)?\.[A-Za-z]+$")


class Tested:
    """Finds the types and files of a table that tests are named after."""

    def __init__(self, table: SymbolTable) -> None:
        self._table = table
        self._types: defaultdict[str, list[int]] = defaultdict(list)
        self._files: defaultdict[str, list[int]] = defaultdict(list)
        for number, definition in enumerate(table.definitions):
            if table.is_test(number):
                continue
            if definition.construct == "type":
                self._types[definition.name].append(number)
            elif definition.construct == "module":
                self._files[_stem(table.path_of(number))].append(number)

    def by(self, number: int) -> Iterator[tuple[int, float]]:
        """The subject of the tests in a definition; none where several things have the name."""
        definition = self._table.definitions[number]
        if not self._table.is_test(number) or definition.construct not in ("type", "module"):
            return
        if definition.construct == "type":
            written, affix, numbers_by_name = definition.name, _TYPE_AFFIX, self._types
        else:
            written, affix, numbers_by_name = _stem(self._table.path_of(number)), _FILE_AFFIX, self._files
        name = affix.sub("", written)
        same = numbers_by_name.get(name, ()) if name not in ("", written) else ()
        nearest = self._table.nearest(self._table.file_of(number), tuple(same))
        if len(nearest) == 1:
            yield nearest[0], INFERRED


def _stem(path: str) -> str:
    return _SUFFIXES.sub("", path.rpartition("/")[2])
