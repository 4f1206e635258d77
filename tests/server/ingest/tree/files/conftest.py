"""Reads one file that is no code, whose language its name tells."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.single_file import FILE_READERS
from groundwire_ingest.tree.walk import language_of

FileRead: TypeAlias = Callable[[str, str], FileReading]


@pytest.fixture
def read() -> FileRead:
    def read(path: str, text: str) -> FileReading:
        language = language_of(path)
        return FILE_READERS[language](SourceFile(path, text, language))

    return read


@pytest.fixture
def chunks(read: FileRead) -> Callable[[str, str], list[tuple[str, int, int]]]:
    """The symbol and lines of each node, in order."""

    def chunks(path: str, text: str) -> list[tuple[str, int, int]]:
        return [(node.symbol, node.start_line, node.end_line) for node in read(path, text).analysis.nodes]

    return chunks
