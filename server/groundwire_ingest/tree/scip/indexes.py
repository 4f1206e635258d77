"""The SCIP indexes of a source tree, and the edges that they make between its nodes.

A reference to a symbol leads from the innermost node around it to the node that holds the symbol's definition, with
confidence 1. Where the tree's own reading and the compiler disagree on the meaning of a name, the compiler is right.
Other parts stay as they are: SQL, configuration, values of unknown type, files that are not in the index.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from groundwire_ingest.files_below import size_below
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_ingest.tree.code_facts import CodeFacts
from groundwire_ingest.tree.code_languages import CODE_LANGUAGES
from groundwire_ingest.tree.decoding import read_source
from groundwire_ingest.tree.scip.documents import DocumentPlace, Outline, document_at, outline
from groundwire_ingest.tree.scip.links import Links
from groundwire_ingest.tree.scip.overlay import Overlay, TreeFile, overlay, spans_of, tree_file
from groundwire_ingest.tree.scip.positions import Span
from groundwire_ingest.tree.scip.table import IndexSymbols, SymbolTable
from groundwire_ingest.tree.walk import ListedFile
from groundwire_ingest.workers import GivenUp, Workers

MAX_DOCUMENTS_OF_A_FILE = 3
"""How many documents, of one index or of several, are laid over one file."""

_DOCUMENTS_TO_PLACE = 1_000
_FOLDERS_TO_PLACE = 20
"""How many documents, and folders in which they may lie, are looked at to find what an index is about."""


@dataclass(frozen=True, slots=True)
class _Index:
    """An index that has been read: where it lies, what it defines, and which file each of its documents covers."""

    path: str
    symbols: IndexSymbols
    covered: Sequence[tuple[DocumentPlace, str]]


class CompilerIndexes:
    """The indexes at `paths`, relative to `root`, of one source tree.

    Give it the nodes of every file, then let it join the edges. Everything about an index that cannot be used is
    yielded as a SkippedFile, and the tree's own reading counts for what it would have covered.
    """

    def __init__(self, root: Path, paths: Iterable[str]) -> None:
        self._root = root
        self._paths = tuple(paths)
        self._spans: dict[str, tuple[ListedFile, tuple[Span, ...]]] = {}
        self._files: dict[str, TreeFile] = {}
        self._tried: Counter[str] = Counter()

    def keep(self, listed: ListedFile, nodes: Sequence[SourceNode]) -> None:
        """Notes which rows of a file of code its nodes hold."""
        if self._paths and listed.language in CODE_LANGUAGES:
            self._spans[listed.path] = (listed, spans_of(nodes))

    def join(
        self, own_edges: Iterable[SourceEdge], facts: Iterable[CodeFacts], workers: Workers
    ) -> Iterator[SourceEdge | SkippedFile]:
        """The edges of the tree's own reading, in its order, joined with what the indexes state; workers parse them."""
        if not self._paths:
            yield from own_edges
            return
        self._files = {
            each.path: tree_file(*self._spans[each.path], each) for each in facts if each.path in self._spans
        }
        indexes: list[_Index] = []
        for path in self._paths:
            try:
                indexes.append((yield from self._read(path, workers)))
            except (IngestError, OSError) as error:
                yield SkippedFile(path, self._why(path, error))
        links = Links(SymbolTable([index.symbols for index in indexes]), self._files, own_edges)
        links.add_relations()
        for number, index in enumerate(indexes):
            for place, file in index.covered:
                laid = self._overlay(index.path, place, self._files[file], workers)
                if isinstance(laid, Overlay):
                    links.add_references(number, laid)
                else:
                    yield laid
        paths = {path for index in indexes for _, path in index.covered}
        yield from links.joined(frozenset(span.key for path in paths for span in self._files[path].spans))

    def _read(self, path: str, workers: Workers) -> Generator[SkippedFile, None, _Index]:
        """The definitions of an index, after all of it has been read; yields the parts that cannot be used."""
        held = held_by(self._root, path, workers)
        yield from (SkippedFile(path, why) for why in held.skipped)
        index, covered = IndexSymbols(), list[tuple[DocumentPlace, str]]()
        base = base_folder(held, path, self._files)
        for place in held.documents:
            file = self._files.get(base + place.path)
            if file is None or self._tried[file.path] == MAX_DOCUMENTS_OF_A_FILE:
                continue
            self._tried[file.path] += 1
            laid = self._overlay(path, place, file, workers)
            if isinstance(laid, Overlay):
                index.add(laid)
                covered.append((place, file.path))
            else:
                yield laid
        if not covered:
            yield SkippedFile(path, "covers no file of the tree; put it into the folder that its indexer was run in")
        return _Index(path, index, covered)

    def _overlay(self, path: str, place: DocumentPlace, file: TreeFile, workers: Workers) -> Overlay | SkippedFile:
        """A document laid over its file. One at a time is read: it may be large."""
        try:
            (document,) = workers.map(partial(document_at, self._root, path), [place], lambda place: place.length)
        except (IngestError, OSError) as error:
            return SkippedFile(path, self._why(path, error))
        if isinstance(document, GivenUp):
            return SkippedFile(path, f"its document about {file.path} {document.why}")
        source = read_source(self._root, file.listed)
        laid = None if isinstance(source, SkippedFile) else overlay(document, file, source.text)
        why = f"{path} was made from another version of this file and is left out; run its indexer again"
        return laid or SkippedFile(file.path, why)

    def _why(self, path: str, error: IngestError | OSError) -> str:
        if isinstance(error, OSError):
            return f"cannot be read: {error.strerror}"
        return str(error).removeprefix(f"{self._root / path}: ")


def held_by(root: Path, path: str, workers: Workers) -> Outline:
    """What an index holds. Raises IngestError and OSError as `outline`, and where no worker can read it."""
    size = size_below(root, path)
    (held,) = workers.map(partial(outline, root), [path], lambda _: size)
    if isinstance(held, GivenUp):
        raise IngestError(f"{root / path}: {held.why}")
    return held


def base_folder(held: Outline, path: str, known: Iterable[str]) -> str:
    """The folder that the paths of an index start from, relative to the tree, with a slash at its end; empty: the tree.

    That is the folder of the index, or one below it that the indexer was run in. The folder with the most of the
    index's first documents among the `known` paths is chosen, the folder of the index first.
    """
    known = frozenset(known)
    home = path[: path.rfind("/") + 1]
    folders = held.folders[-_FOLDERS_TO_PLACE:]
    tails = ["/".join(folders[start:]) + "/" for start in range(len(folders) - 1, -1, -1)]
    first = [place.path for place in held.documents[:_DOCUMENTS_TO_PLACE]]
    return max(
        (home, *(home + tail for tail in tails)),
        key=lambda base: sum(base + document_path in known for document_path in first),
    )
