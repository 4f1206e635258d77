"""From names to what is read of them: the nodes that they mean, the lines of files, the places where a text occurs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from groundwire.evidence.question_words import has_word
from groundwire.v1.query_pb2 import QueryResponse
from groundwire.v1.retrieval_pb2 import ExpandDependencyTreeResponse, NameMatch, NodeText, ResolvedName, Retriever
from groundwire_client._helpers import symbol_beside
from groundwire_client._reading import ReadText, Unread
from groundwire_client._resolution import problem_of
from groundwire_client._several import is_id
from groundwire_client._source_lines import FileNode, Run, missing_lines, runs_of

MOST_FILE_NODES = 200
"""Nodes that a name means, at most."""
MOST_DEPTH, MOST_INNER_NODES = 16, 2_000
"""How deep the nodes of a file are nested, and how many there are, at most."""
MOST_TOKENS = 10_000_000
"""The largest budget of a fetch."""
WORDS_OF_CODE = (Retriever.RETRIEVER_BM25_CODE,)
"""How texts are searched for a name."""
MOST_SEARCHED = 5
"""Names whose text is searched for, at most."""
MOST_MATCHES = 30
"""Texts that are searched for a name."""

_PLACE = re.compile(r"(?P<path>.+):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?")
_SYMBOL = re.compile(r"(?:[\w$]+(?:\.|::|->|#))*(?P<last>[A-Za-z_$][\w$]+)(?:\(\))?")
_AROUND = 10
"""Lines to show before and after a single one that is in an outline alone."""
_MOST_OCCURRENCES = 12
_LONGEST_LINE = 160


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines of a file, such as `src/a.py:10-40`; a single one stands for the node around it."""

    path: str
    first: int
    last: int
    is_single: bool

    @classmethod
    def parse(cls, name: str) -> "LineRange | None":
        """The lines that a name means; None for a name without any."""
        place = None if is_id(name) else _PLACE.fullmatch(name.strip())
        if place is None:
            return None
        first = int(place["first"])
        last = int(place["last"] or first)
        return cls(place["path"], first, last, place["last"] is None) if 0 < first <= last else None

    def around(self) -> "LineRange":
        """A single line with some before and after it; other lines as they are."""
        if not self.is_single:
            return self
        return LineRange(self.path, max(self.first - _AROUND, 1), self.last + _AROUND, is_single=True)


@dataclass(frozen=True, slots=True)
class Target:
    """What a name means.

    Attributes:
        name: The name.
        ids: The nodes to show.
        lines: The lines of a file to show instead, in the file's whole path; None for nodes.
        file_ids: Nodes of that file, its outermost ones among them.
    """

    name: str
    ids: tuple[str, ...]
    lines: LineRange | None = None
    file_ids: tuple[str, ...] = ()


def names_to_resolve(names: Sequence[str]) -> list[str]:
    """The names that the server must read: those that are given, and the files of lines."""
    ranges = [lines.path for name in names if (lines := LineRange.parse(name))]
    return list(dict.fromkeys([*names, *ranges]))


def target_of(name: str, named: Mapping[str, ResolvedName]) -> Target | Unread:
    """What a name means; `named` has what the server read, an id is taken as it is."""
    if name not in named:
        return Target(name, (name,))
    lines, resolved = LineRange.parse(name), named[name]
    file = named[lines.path] if lines else None
    if lines is None or file is None or file.match != NameMatch.NAME_MATCH_PLACE:
        problem = problem_of(resolved)
        return Unread(name, str(problem)) if problem else Target(name, tuple(node.id for node in resolved.nodes))
    if file.ambiguous:
        paths = sorted({node.location.path for node in file.nodes})
        more = [f"  {path}:{name.strip().rpartition(':')[2]}" for path in paths[:_MOST_OCCURRENCES]]
        return Unread(name, "\n".join([f"{name!r} is ambiguous: give the whole path, such as one of", *more]))
    path = file.nodes[0].location.path
    inner = tuple(node.id for node in resolved.nodes if node.location.path == path)
    file_ids = dict.fromkeys([*(node.id for node in file.nodes), *inner])
    whole = LineRange(path, lines.first, lines.last, lines.is_single)
    return Target(name, inner if lines.is_single else (), whole, tuple(file_ids))


def nodes_of_file(walked: ExpandDependencyTreeResponse, path: str) -> list[FileNode]:
    """The nodes of a file that a walk has found, without their texts."""
    return [
        FileNode(node.id, node.symbol, node.location.start_line, node.location.end_line)
        for node in walked.nodes
        if node.location.path == path and node.location.start_line
    ]


def with_texts(nodes: Iterable[FileNode], texts: Mapping[str, NodeText]) -> list[FileNode]:
    """The nodes with their texts, as far as these are there."""
    return [
        FileNode(node.id, node.symbol, node.first, node.last, texts[node.id].text if node.id in texts else "")
        for node in nodes
    ]


def text_of_node(text: NodeText, repository: str) -> ReadText:
    """A whole text; `repository` is its repository and branch if several were asked."""
    at, node = text.location, file_node(text)
    marks = [word for word, holds in (("test", text.is_test), ("generated", text.is_generated)) if holds]
    is_outline = node.first > 0 and node.is_outline
    if is_outline and at.path:
        marks.append(f"outline; {text.citation} as a place gives all lines")
    symbol = "" if at.path.endswith(text.symbol) else symbol_beside(at.path, text.symbol)
    return ReadText(text.id, text.citation or text.id, symbol, repository, (node.run(),), tuple(marks))


def text_of_lines(lines: LineRange, nodes: Sequence[FileNode], repository: str) -> ReadText:
    """Lines of a file, those that are in no text as runs without lines."""
    runs = runs_of(nodes, lines.first, lines.last)
    missing = [Run(first, last, ()) for first, last in missing_lines(runs, lines.first, lines.last)]
    span = f"{lines.first}-{lines.last}" if lines.last > lines.first else str(lines.first)
    ordered = tuple(sorted([*runs, *missing], key=lambda run: run.first))
    return ReadText("", f"{lines.path}:{span}", "", repository, ordered)


def file_node(text: NodeText) -> FileNode:
    """A node with its text and lines."""
    return FileNode(text.id, text.symbol, text.location.start_line, text.location.end_line, text.text)


def sought_name(name: str) -> str:
    """The last part of a symbol, to search texts for; empty for a name that is no symbol."""
    symbol = _SYMBOL.fullmatch(name.strip())
    return symbol["last"] if symbol else ""


def occurrences_of(sought: str, response: QueryResponse) -> tuple[str, ...]:
    """The lines of texts that have a name, with their places: those that begin with it first."""
    lines: dict[str, bool] = {}
    for match in response.matches:
        node = FileNode(match.id, match.symbol, match.location.start_line, match.location.end_line, match.text)
        for offset, line in enumerate(node.lines):
            if has_word(line, sought):
                outline = match.citation if not node.first or node.is_outline else ""
                place = outline or f"{match.location.path}:{node.first + offset}"
                code = line.strip()
                lines.setdefault(f"{place}  {code[:_LONGEST_LINE]}", not code.startswith(sought))
    return tuple(sorted(lines, key=lambda line: lines[line])[:_MOST_OCCURRENCES])
