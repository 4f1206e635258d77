"""The edges between declarations of one thing: a type and what another file adds to it, a declaration and its body."""

from collections.abc import Iterator

from groundwire_index.nodes.node import CONTAINS
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.names.inheritance import MAX_IMPLEMENTATIONS
from groundwire_ingest.tree.names.rules import EXACT, GUESSED, NameRules
from groundwire_ingest.tree.names.table import SymbolTable


def declared_edges(rules: NameRules) -> Iterator[SourceEdge]:
    """Types and the members that they have in other files, bodies and what declares them, parts of types."""
    table = rules.table
    for owner, member in rules.adopted():
        yield _edge(table, owner, member, CONTAINS)
    yield from _bodies(rules)
    for first, other in rules.parts():
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
