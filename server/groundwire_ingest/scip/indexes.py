"""The SCIP indexes of a source tree, and the edges that they make between its nodes.

A reference to a symbol leads from the innermost node around it to the node that holds the symbol's definition, with
confidence 1. Where the tree's own reading and the compiler disagree on the meaning of a name, the compiler is right.
Other parts stay as they are: SQL, configuration, values of unknown type, files that are not in the index.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from groundwire_ingest.errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_ingest.scip.documents import Document, documents, project_folders
from groundwire_ingest.scip.links import Links
from groundwire_ingest.scip.overlay import Overlay, TreeFile, overlay, spans_of, tree_file
from groundwire_ingest.scip.positions import Span
from groundwire_ingest.scip.table import IndexSymbols, SymbolTable
from groundwire_ingest.tree.code_languages import CODE_LANGUAGES
from groundwire_ingest.tree.decoding import read_source
from groundwire_ingest.tree.facts import CodeFacts
from groundwire_ingest.tree.walk import ListedFile

MAX_DOCUMENTS_OF_A_FILE = 3
"""How many documents, of one index or of several, are laid over one file."""

_DOCUMENTS_TO_PLACE = 1_000
_FOLDERS_TO_PLACE = 20
"""How many documents, and folders in which they may lie, are looked at to find what an index is about."""


@dataclass(frozen=True, slots=True)
class _Index:
    """An index that has been read: where it lies, what it defines, and which files its documents cover, by position."""

    path: str
    symbols: IndexSymbols
    covered: Mapping[int, str]


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

    def join(self, own: Iterable[SourceEdge], facts: Iterable[CodeFacts]) -> Iterator[SourceEdge | SkippedFile]:
        """The edges of the tree's own reading, in its order, joined with what the indexes state."""
        if not self._paths:
            yield from own
            return
        self._files = {
            each.path: tree_file(*self._spans[each.path], each) for each in facts if each.path in self._spans
        }
        indexes: list[_Index] = []
        for path in self._paths:
            try:
                indexes.append((yield from self._read(path)))
            except IngestError as error:
                yield SkippedFile(path, str(error).removeprefix(f"{self._root / path}: "))
            except OSError as error:
                yield SkippedFile(path, f"cannot be read: {error.strerror}")
        links = Links(SymbolTable([index.symbols for index in indexes]), self._files, own)
        links.add_relations()
        for number, index in enumerate(indexes):
            for position, document in enumerate(documents(self._root / index.path)):
                if position in index.covered and isinstance(document, Document):
                    covered = self._overlay(document, self._files[index.covered[position]])
                    if covered is not None:
                        links.add_references(number, covered)
        paths = {path for index in indexes for path in index.covered.values()}
        yield from links.joined(frozenset(span.key for path in paths for span in self._files[path].spans))

    def _read(self, path: str) -> Generator[SkippedFile, None, _Index]:
        """The definitions of an index, after all of it has been read; yields the parts that cannot be used."""
        index, covered = IndexSymbols(), dict[int, str]()
        base = base_folder(self._root, path, self._files)
        for position, document in enumerate(documents(self._root / path)):
            if isinstance(document, SkippedFile):
                yield SkippedFile(path, document.why)
                continue
            file = self._files.get(base + document.path)
            if file is None or self._tried[file.path] == MAX_DOCUMENTS_OF_A_FILE:
                continue
            self._tried[file.path] += 1
            laid = self._overlay(document, file)
            if laid is None:
                why = f"{path} was made from another version of this file and is left out; run its indexer again"
                yield SkippedFile(file.path, why)
            else:
                index.add(laid)
                covered[position] = file.path
        if not covered:
            yield SkippedFile(path, "covers no file of the tree; put it into the folder that its indexer was run in")
        return _Index(path, index, covered)

    def _overlay(self, document: Document, file: TreeFile) -> Overlay | None:
        source = read_source(self._root, file.listed)
        return None if isinstance(source, SkippedFile) else overlay(document, file, source.text)


def base_folder(root: Path, path: str, known: Iterable[str]) -> str:
    """The folder that the paths of an index start from, relative to the tree, with a slash at its end; empty: the tree.

    That is the folder of the index, or one below it that the indexer was run in. The folder with the most of the
    index's first documents among the `known` paths is chosen, the folder of the index first.
    """
    known = frozenset(known)
    home = path[: path.rfind("/") + 1]
    folders = project_folders(root / path)[-_FOLDERS_TO_PLACE:]
    tails = ["/".join(folders[start:]) + "/" for start in range(len(folders) - 1, -1, -1)]
    first = [
        document.path
        for document in islice(documents(root / path), _DOCUMENTS_TO_PLACE)
        if isinstance(document, Document)
    ]
    return max((home, *(home + tail for tail in tails)), key=lambda base: sum(base + one in known for one in first))
