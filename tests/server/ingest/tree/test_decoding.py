from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.decoding import MAX_FILE_BYTES, read_source
from groundwire_ingest.tree.model import SourceFile
from groundwire_ingest.tree.walk import ListedFile

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture
def read(make_tree: TreeMaker) -> Callable[..., SourceFile | SkippedFile]:
    def read(content: bytes, path: str = "a.cs", language: str = "csharp") -> SourceFile | SkippedFile:
        return read_source(make_tree({path: content}), ListedFile(path, language))

    return read


Reader = Callable[..., SourceFile | SkippedFile]


@pytest.mark.parametrize(
    "content",
    [
        "// é\r\nclass A {}".encode(),
        b"\xef\xbb\xbf" + "// é\r\nclass A {}".encode(),
        "// é\r\nclass A {}".encode("utf-16"),
        b"\xfe\xff" + "// é\r\nclass A {}".encode("utf-16-be"),
    ],
    ids=["utf-8", "utf-8 with mark", "utf-16 little endian", "utf-16 big endian"],
)
def test_decodes_and_keeps_line_ends(read: Reader, content: bytes) -> None:
    assert read(content) == SourceFile("a.cs", "// é\r\nclass A {}", "csharp")


def test_python_names_its_encoding(read: Reader) -> None:
    content = "# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1")
    assert read(content, "a.py", "python") == SourceFile("a.py", "# -*- coding: latin-1 -*-\nname = 'é'\n", "python")


@pytest.mark.parametrize(
    ("content", "path", "language", "why"),
    [
        (b"caf\xe9 {}", "a.cs", "csharp", "not decodable as utf-8: invalid continuation byte at byte 3"),
        (b"# coding: klingon\n", "a.py", "python", "not decodable as utf-8: unknown encoding: klingon"),
        (b"# coding: utf-7\nx = '+2AA-'\n", "a.py", "python", "not decodable as utf-7: "),
        (b"x = 1\nname = '\xe9'\n", "a.py", "python", "not decodable as utf-8: "),
        (b"\xff\xfea", "a.cs", "csharp", "not decodable as utf-16: truncated data at byte"),
        (b"class A\0 {}", "a.cs", "csharp", "contains NUL characters"),
        (b"", "a.py", "python", "the file is empty"),
        (b" \r\n\t\n", "a.py", "python", "the file is empty"),
        (
            b"a;" * 10_001,
            "a.js",
            "javascript",
            "a line of 20002 characters; more than 20000 means that a program wrote it",
        ),
    ],
)
def test_what_cannot_be_read_is_skipped_with_the_reason(
    read: Reader, content: bytes, path: str, language: str, why: str
) -> None:
    skipped = read(content, path, language)
    assert isinstance(skipped, SkippedFile)
    assert skipped.path == path
    assert skipped.why.startswith(why)


def test_a_file_that_is_too_large_is_skipped_unread(read: Reader) -> None:
    skipped = read(b"x" * (MAX_FILE_BYTES + 1), "a.py", "python")
    assert skipped == SkippedFile("a.py", "5000001 bytes; files of more than 5000000 are not read")


def test_long_lines_are_read_in_other_languages(read: Reader) -> None:
    assert isinstance(read(b"x = '" + b"a" * 30_000 + b"'", "a.py", "python"), SourceFile)
