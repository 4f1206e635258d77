"""A SCIP index that is named by itself as something that can be indexed."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from groundwire_ingest.errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceRecord
from groundwire_ingest.scip.documents import Document, documents
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.walk import COMPILER_INDEX_SUFFIX


class ScipSource:
    """The files that a SCIP index describes, joined by what it states.

    An index seldom holds texts. If the index is in the folder that its indexer was run in, that folder is read as a
    source tree. Else the texts must be in the index itself. Raises IngestError where they are in neither, and where the
    file is no index.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def description(self) -> str:
        """`SCIP index` and the file's name."""
        return f"SCIP index {self._path.name}"

    def read(self) -> Iterator[SourceRecord]:
        """Nodes and skipped files, then edges between nodes that have been yielded."""
        held = texts = 0
        for document in documents(self._path):
            if isinstance(document, Document):
                held += self._is_beside(document)
                texts += bool(document.text)
        if held and self._path.suffix == COMPILER_INDEX_SUFFIX:
            yield from TreeSource(self._path.parent).read()
        elif texts:
            yield from self._read_texts()
        else:
            raise IngestError(
                f"{self._path}: holds no texts, and its files are not next to it; move it into the folder that its "
                f"indexer was run in, as index{COMPILER_INDEX_SUFFIX}, and name that folder"
            )

    def _is_beside(self, document: Document) -> bool:
        try:
            return (self._path.parent / document.path).is_file()
        except OSError:  # such as a name longer than any file's
            return False

    def _read_texts(self) -> Iterator[SourceRecord]:
        with TemporaryDirectory() as name:
            folder = Path(name)
            for document in documents(self._path):
                if isinstance(document, SkippedFile):
                    yield document
                elif document.text:
                    self._write(folder / document.path, document)
                else:
                    yield SkippedFile(document.path, f"{self._path.name} does not hold its text")
            shutil.copyfile(self._path, folder / f"index{COMPILER_INDEX_SUFFIX}")
            yield from TreeSource(folder).read()

    def _write(self, file: Path, document: Document) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(document.text.encode())
        except OSError as error:
            raise IngestError(
                f"{self._path}: the text of document {document.path[:200]!r} cannot be unpacked ({error.strerror}); "
                "shorten its path, or put the index into the folder of its sources"
            ) from error
