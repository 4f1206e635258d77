"""MyBatis: edges between the statements of its mapper files and the methods that they stand for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.code_facts import CodeFacts
from groundwire_ingest.tree.file_facts import FileFacts
from groundwire_ingest.tree.files.facts_about_code import MapperFacts
from groundwire_ingest.tree.folders import path_in

_LANGUAGES = frozenset({"java", "kotlin"})
_MAX_METHODS = 3
STATED_CONFIDENCE = 0.9
"""The namespace of the mapper is the full name of the interface."""
ONE_OF_SEVERAL_CONFIDENCE = 0.5


class _Statement(NamedTuple):
    """The node of a statement, its line, and the full name of the method that it stands for."""

    key: str
    line: int
    method: str


def mapper_edges(files: Sequence[FileFacts], code: Sequence[CodeFacts]) -> Iterator[SourceEdge]:
    """ImplementedBy edges from methods to their statements, and Implements edges back."""
    listed = tuple(_statements(files))
    wanted = {statement.method for statement in listed}
    methods: defaultdict[str, list[str]] = defaultdict(list)
    for facts in code if wanted else ():
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


def _statements(files: Iterable[FileFacts]) -> Iterator[_Statement]:
    for file in files:
        if isinstance(file.of_format, MapperFacts):
            for item in file.of_format.statements:
                yield _Statement(file.keys[item.line - 1], item.line, f"{file.of_format.interface}.{item.name}")


MYBATIS = Framework(languages="java kotlin", file_edges=mapper_edges)
