"""Analysing one code file: from its text to nodes, definitions, calls and string literals."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node, Parser

from groundwire_server.domain.scope import node_key
from groundwire_server.ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_server.ingest.tree.chunking import lines_of
from groundwire_server.ingest.tree.facts import Call, CodeAnalysis, CodeFacts, Definition
from groundwire_server.ingest.tree.languages.chunks import Chunk, cut_chunks
from groundwire_server.ingest.tree.languages.outline import Declared, outline
from groundwire_server.ingest.tree.languages.places import Place, assign_places
from groundwire_server.ingest.tree.languages.strings import string_literals
from groundwire_server.ingest.tree.languages.syntax import Nodes, Places, Syntax, collect
from groundwire_server.ingest.tree.model import FileAnalysis, SourceFile

MAX_SIGNATURE_CHARACTERS = 300
MAX_ERROR_SHARE = 0.5

_SIGNATURE_END = re.compile(r"[\s{:;=]+(?:=>)?\s*$|\s*=>\s*$")


@dataclass(frozen=True, slots=True)
class _RowPlaces(Places):
    """For each 0-based row, the key of the chunk that holds it and the index of the innermost definition."""

    keys: Sequence[str]
    scopes: Sequence[int]
    definitions: Sequence[Definition]

    def key(self, node: Node) -> str:
        return self.keys[node.start_point.row]

    def scope(self, node: Node) -> int:
        return self.scopes[node.start_point.row]

    def type_scope(self, node: Node) -> int:
        scope = self.scope(node)
        while scope and self.definitions[scope].construct != "type":
            scope = self.definitions[scope].parent
        return scope


class CodeReader:
    """Reads the files of one language. Holds a parser, so one reader serves one thread."""

    def __init__(self, syntax: Syntax) -> None:
        self._syntax = syntax
        self._parser = Parser(syntax.grammar)
        self._wanted = syntax.facts | syntax.strings | frozenset(syntax.calls)

    def read(self, file: SourceFile) -> CodeAnalysis:
        """The analysis of a file that is not blank; without nodes when most of it cannot be parsed.

        A smaller syntax error is noted as a SkippedFile that names its line, and the rest is read.
        """
        syntax, source = self._syntax, file.text.encode()
        root = self._parser.parse(source).root_node
        declared = outline(syntax, root)
        errors = _errors(root)
        if _error_bytes(errors, declared) > MAX_ERROR_SHARE * len(source):
            return CodeAnalysis(FileAnalysis(skipped=(SkippedFile(file.path, f"cannot be parsed as {file.language}"),)))
        lines = lines_of(file.text)
        places = assign_places(declared, len(lines))
        chunks = tuple(cut_chunks(syntax, file.path, root, places, lines))
        ...
