"""The result of reading one file: its nodes, the paths that it names, and the facts for joining it with code."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from groundwire_index.repository_edges.requests import Request
from groundwire_ingest.records import SourceNode
from groundwire_ingest.tree.code_facts import CodeFacts
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.files.facts_about_code import (
    ComponentFacts,
    MapperFacts,
    ProjectFacts,
    ProtoFacts,
    Setting,
    TemplateNames,
)

Facts: TypeAlias = CodeFacts | ComponentFacts | MapperFacts | ProjectFacts | ProtoFacts | TemplateNames


@dataclass(frozen=True, slots=True)
class PathReference:
    """A path that a file names, before it is looked for among the files of the tree.

    `written` holds the spellings to try, the likeliest first (a partial may leave out its suffix). `line` is its line
    in `path`, the file that names it.
    """

    path: str
    written: tuple[str, ...]
    edge_type: str
    line: int


@dataclass(frozen=True, slots=True)
class FileReading:
    """One file as read: nodes in the order of their lines, each whole before its parts.

    `requests` have no keys of nodes.
    """

    analysis: FileAnalysis
    references: tuple[PathReference, ...] = ()
    settings: tuple[Setting, ...] = ()
    facts: Facts | None = None
    requests: tuple[Request, ...] = ()

    def keys_by_line(self, file: SourceFile) -> tuple[str, ...]:
        """For each line of the file the key of the innermost node that holds it."""
        return keys_by_line(self.analysis.nodes, file)


def keys_by_line(nodes: Iterable[SourceNode], file: SourceFile) -> tuple[str, ...]:
    """The key of the innermost node at each line of `file`, "" where none is; line 1 is at index 0.

    `nodes` are in the order of their lines, each whole before its parts.
    """
    keys = [""] * (file.text.count("\n") + 1)
    for node in nodes:
        keys[node.start_line - 1 : node.end_line] = [node.key] * (node.end_line - node.start_line + 1)
    return tuple(keys)
