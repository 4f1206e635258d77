"""Analysing one code file: from its text to nodes, definitions, calls and string literals."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TypeVar

from tree_sitter import Node, Parser

from groundwire_index.repository_edges.requests import Request
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.chunking import lines_of
from groundwire_ingest.tree.code_facts import Binding, Call, CodeAnalysis, CodeFacts, Import, Reference
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile, StringLiteral
from groundwire_ingest.tree.framework_facts import (
    Mount,
    Registration,
    Route,
    TableChange,
    TableMapping,
    TemplateView,
    Topic,
)
from groundwire_ingest.tree.languages.assembly import contains_edges, nodes_of, row_places
from groundwire_ingest.tree.languages.chunks import ChunkCutter
from groundwire_ingest.tree.languages.field_values import field_values
from groundwire_ingest.tree.languages.findings import Finder, Finding
from groundwire_ingest.tree.languages.nodes import Nodes, collect, line_of
from groundwire_ingest.tree.languages.notices import notice_rows
from groundwire_ingest.tree.languages.outline import Declared, ParsedFile, outline
from groundwire_ingest.tree.languages.places import assign_places
from groundwire_ingest.tree.languages.strings import string_literals
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.urls import requests
from groundwire_ingest.tree.text_facts import BuiltText, PassedTexts, TextValue

FindingT = TypeVar("FindingT", bound=Finding)

MAX_ERROR_SHARE = 0.5
BYTES_A_STEP = 4
LEAST_STEPS = 1000
"""A parser that takes more steps than this, and more than one for every BYTES_A_STEP bytes, is stopped.

A step is a report of the parser's progress, after a hundred of its operations or so. Real code takes one for 50 bytes;
some texts that are no code at all make it try ever more ways to understand them.
"""

_PIECE_BYTES = 1 << 10
"""Small, since tree-sitter asks for a whole piece again for the text of each node."""


class CodeReader:
    """Reads the files of one language. Holds a parser, so a reader serves one thread at a time."""

    def __init__(self, syntax: Syntax, finders: Sequence[Finder]) -> None:
        """`finders` are those of frameworks; facts come in their order."""
        self._syntax = syntax
        self._finders = finders
        self._parser = Parser(syntax.grammar)

    def read(self, file: SourceFile) -> CodeAnalysis:
        """The analysis of a file that is not blank; without nodes or facts when most of it cannot be parsed.

        A lesser syntax error is noted as a SkippedFile that names its line, and the rest is read.
        """
        syntax, source = self._syntax, file.text.encode()
        syntax.begin_file()
        prepared = syntax.prepared(source)
        root = self._root(prepared)
        if root is None:
            why = f"cannot be parsed as {file.language} in the steps that its length allows"
            return CodeAnalysis(FileAnalysis(skipped=(SkippedFile(file.path, why),)))
        declared = outline(syntax, root)
        errors = _errors(root)
        if _error_bytes(errors, declared) + _lost_bytes(root, prepared) > MAX_ERROR_SHARE * len(source):
            why = f"cannot be parsed as {file.language}"
            return CodeAnalysis(FileAnalysis(skipped=(SkippedFile(file.path, why),)))
        parsed = ParsedFile(syntax, file, root, source, lines_of(file.text), declared)
        notices = notice_rows(parsed)
        chunks = tuple(ChunkCutter(parsed, notices).cut(assign_places(parsed, notices)))
        places = row_places(parsed, chunks)
        nodes = tuple(nodes_of(parsed, chunks, places.definitions))
        edges = tuple(contains_edges(nodes, chunks, places.definitions))
        nodes_by_type = collect(root)
        findings = [finding for find in self._finders for finding in find(syntax, nodes_by_type, places)]
        routes, mounts, stated = _of(Route, findings), _of(Mount, findings), _of(Request, findings)
        lines_taken = {item.line for item in routes} | {item.line for item in mounts}
        lines_taken |= {item.line for item in stated if item.service}
        facts = CodeFacts(
            path=file.path,
            language=file.language,
            definitions=places.definitions,
            imports=(*syntax.imports(nodes_by_type), *_of(Import, findings)),
            bindings=(*_of(Binding, findings), *syntax.bindings(nodes_by_type, places)),
            calls=(*_calls(syntax, nodes_by_type, places), *syntax.implied_calls(nodes_by_type, places)),
            references=_distinct(syntax.references(nodes_by_type, places)),
            kept_parameters=tuple(syntax.kept_parameters(nodes_by_type, places)),
            field_values=tuple(field_values(syntax, nodes_by_type, places)),
            stated_implementations=tuple(syntax.stated_implementations(nodes_by_type, places)),
            routes=routes,
            mounts=mounts,
            requests=(*requests(syntax, nodes_by_type, places, routes, lines_taken), *stated),
            registrations=_of(Registration, findings),
            topics=_of(Topic, findings),
            mappings=_of(TableMapping, findings),
            table_changes=_of(TableChange, findings),
            text_values=_of(TextValue, findings),
            built_texts=_of(BuiltText, findings),
            passed_texts=_of(PassedTexts, findings),
            template_views=_of(TemplateView, findings),
        )
        literals = tuple(string_literals(syntax, nodes_by_type, source, places))
        analysis = FileAnalysis(nodes, edges, _syntax_notes(file, errors))
        return CodeAnalysis(analysis, facts, literals, _of(StringLiteral, findings))

    def _root(self, source: bytes) -> Node | None:
        """The syntax tree of a source; None where it takes too many steps."""
        steps = count()
        most = max(LEAST_STEPS, len(source) // BYTES_A_STEP)

        def piece(offset: int, _: object) -> bytes:
            return source[offset : offset + _PIECE_BYTES]

        def is_enough(_offset: int, _has_error: bool) -> bool:
            return next(steps) >= most

        try:
            return self._parser.parse(piece, progress_callback=is_enough).root_node
        except ValueError:
            # It would go on with this source otherwise.
            self._parser.reset()
            return None


def _of(kind: type[FindingT], findings: Iterable[Finding]) -> tuple[FindingT, ...]:
    return tuple(finding for finding in findings if isinstance(finding, kind))


def _calls(syntax: Syntax, nodes_by_type: Nodes, places: Places) -> Iterator[Call]:
    """The distinct calls of each chunk, the first of equal ones standing for all."""
    seen: set[Call] = set()
    for node, form, callee in syntax.called(nodes_by_type):
        arguments, types = syntax.arguments(node), syntax.type_arguments(node)
        call = Call(places.key(node), places.scope(node), *callee, 0, form.constructs, arguments, types)
        if call not in seen:
            seen.add(call)
            yield replace(call, line=line_of(node))


def _distinct(references: Iterable[Reference]) -> tuple[Reference, ...]:
    """The references of each chunk, the first of equal ones standing for all."""
    reference_of_key: dict[tuple[str, int, str, str], Reference] = {}
    for item in references:
        reference_of_key.setdefault((item.from_key, item.scope, item.name, item.role), item)
    return tuple(reference_of_key.values())


def _errors(root: Node) -> list[Node]:
    """The outermost nodes that the parser could not make sense of, or had to imagine."""
    errors: list[Node] = []
    pending = [root] if root.has_error else []
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            errors.append(node)
        elif node.has_error:
            pending.extend(node.children)
    return sorted(errors, key=lambda node: node.start_byte)


def _error_bytes(errors: Sequence[Node], declared: Sequence[Declared]) -> int:
    """The number of bytes in `errors` and in no declaration that was recognised inside of them."""
    total = sum(error.end_byte - error.start_byte for error in errors)
    starts = [error.start_byte for error in errors]
    counted_to = 0
    for item in declared:
        start, end = max(item.node.start_byte, counted_to), item.node.end_byte
        around = bisect_right(starts, start) - 1
        if around >= 0 and start < end <= errors[around].end_byte:
            total -= end - start
            counted_to = end
    return total


def _lost_bytes(root: Node, source: bytes) -> int:
    """How many bytes of the text that was parsed the parser left out without a word, where there are errors."""
    lost = at = 0
    for child in root.children if root.has_error else ():
        lost += len(source[at : child.start_byte].strip())
        at = max(at, child.end_byte)
    return lost + len(source[at:].strip()) if root.has_error else 0


def _syntax_notes(file: SourceFile, errors: Sequence[Node]) -> tuple[SkippedFile, ...]:
    if not errors:
        return ()
    line = line_of(errors[0])
    return (SkippedFile(file.path, f"syntax error at line {line}; the rest of the file is indexed"),)
