"""A SCIP index that is named by itself as something that can be indexed."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from groundwire_ingest.files_below import open_below, size_below
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceRecord
from groundwire_ingest.tree.scip.documents import DocumentPlace, Outline, text_at
from groundwire_ingest.tree.scip.indexes import held_by
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.walk import COMPILER_INDEX_SUFFIX
from groundwire_ingest.workers import FILE_READERS, GivenUp, Workers


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
        folder = self._path.parent
        with Workers(FILE_READERS) as workers:
            held = held_by(folder, self._path.name, workers)
            is_beside = self._path.suffix == COMPILER_INDEX_SUFFIX and any(map(self._is_beside, held.documents))
            if not is_beside and not any(place.has_text for place in held.documents):
                raise IngestError(
                    f"{self._path}: holds no texts, and its files are not next to it; move it into the folder that its "
                    f"indexer was run in, as index{COMPILER_INDEX_SUFFIX}, and name that folder"
                )
            if not is_beside:
                yield from self._read_texts(held, workers)
        if is_beside:
            yield from TreeSource(folder).read()

    def _is_beside(self, place: DocumentPlace) -> bool:
        try:
            return size_below(self._path.parent, place.path) >= 0
        except OSError:  # such as a name longer than any file's
            return False

    def _read_texts(self, held: Outline, workers: Workers) -> Iterator[SourceRecord]:
        with TemporaryDirectory() as name:
            folder = Path(name)
            places = [place for place in held.documents if place.has_text]
            texts = workers.map(
                partial(text_at, self._path.parent, self._path.name), places, lambda place: place.length
            )
            for place, text in zip(places, texts, strict=True):
                if isinstance(text, GivenUp):
                    yield SkippedFile(place.path, text.why)
                else:
                    self._write(folder / place.path, place.path, text)
            for place in held.documents:
                if not place.has_text:
                    yield SkippedFile(place.path, f"{self._path.name} does not hold its text")
            with (
                open_below(self._path.parent, self._path.name) as index,
                (folder / f"index{COMPILER_INDEX_SUFFIX}").open("wb") as copy,
            ):
                shutil.copyfileobj(index, copy)
            yield from TreeSource(folder).read()

    def _write(self, file: Path, path: str, text: str) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        except OSError as error:
            raise IngestError(
                f"{self._path}: the text of document {path[:200]!r} cannot be unpacked ({error.strerror}); "
                "shorten its path, or put the index into the folder of its sources"
            ) from error
