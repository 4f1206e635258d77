"""Edges between the statements of MyBatis and the methods of the interfaces that they stand for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.facts import CodeFacts
from groundwire_ingest.tree.folders import path_in

_LANGUAGES = frozenset({"java", "kotlin"})
_MAX_METHODS = 3
STATED_CONFIDENCE = 0.9
"""The namespace of the mapper is the full name of the interface."""
ONE_OF_SEVERAL_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True)
class MappedStatement:
    """The node of a statement, its line, and the full name of the method that it stands for."""

    key: str
    line: int
    method: str


def mapper_edges(statements: Iterable[MappedStatement], files: Iterable[CodeFacts]) -> Iterator[SourceEdge]:
    """ImplementedBy edges from methods to their statements, and Implements edges back."""
    listed = tuple(statements)
    wanted = {statement.method for statement in listed}
    methods: defaultdict[str, list[str]] = defaultdict(list)
    for facts in files if wanted else ():
        for definition in facts.definitions if facts.language in _LANGUAGES else ():
            if definition.construct == "callable" and definition.symbol in wanted:
                methods[definition.symbol].append(definition.key)
    for statement in listed:
        keys = methods.get(statement.method, [])
        confidence = STATED_CONFIDENCE if len(keys) == 1 else ONE_OF_SEVERAL_CONFIDENCE
        origin = f"{path_in(statement.key)}:{statement.line}"
        for key in keys if len(keys) <= _MAX_METHODS else ():
            yield SourceEdge(key, statement.key, "ImplementedBy", origin, confidence, statement.line)
            yield SourceEdge(statement.key, key, "Implements", origin, confidence, statement.line)
