"""Reads and decodes a file of a source tree, or says why it cannot be read."""

import codecs
import io
import tokenize
from pathlib import Path

from groundwire_ingest.files_below import read_below, size_below
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.files.languages import MINIFIED_WHEN_LONG
from groundwire_ingest.tree.model import SourceFile
from groundwire_ingest.tree.walk import ListedFile

MAX_FILE_BYTES = 5_000_000
MAX_LINE_CHARACTERS = 20_000

_MINIFIED_WHEN_LONG = MINIFIED_WHEN_LONG | {"javascript", "typescript"}
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_source(root: Path, listed: ListedFile) -> SourceFile | SkippedFile:
    """The decoded text of a listed file below `root`, or why it has none.

    UTF-8 with or without a byte order mark, UTF-16 with one; a Python file may name its encoding as PEP 263
    says. Line ends stay as they are. Files are skipped that are larger than MAX_FILE_BYTES, blank, not decodable, or
    hold NUL characters. JavaScript, TypeScript and most files other than code are also skipped for a line of more than
    MAX_LINE_CHARACTERS, which only programs such as minifiers write.
    """
    try:
        size = size_below(root, listed.path)
        if size > MAX_FILE_BYTES:
            return SkippedFile(listed.path, f"{size} bytes; files of more than {MAX_FILE_BYTES} are not read")
        data = read_below(root, listed.path, MAX_FILE_BYTES)
    except OSError as error:
        return SkippedFile(listed.path, f"cannot be read: {error.strerror}")
    encoding = "utf-8"
    try:
        encoding = _encoding_of(data, listed.language)
        text = data.decode(encoding)
        text.encode()  # a codec such as UTF-7 can yield lone surrogates, which no index can store
    except (SyntaxError, LookupError, UnicodeError) as error:
        why = f"{error.reason} at byte {error.start}" if isinstance(error, UnicodeDecodeError) else error
        return SkippedFile(listed.path, f"not decodable as {encoding.removesuffix('-sig')}: {why}")
    problem = _problem(text, listed.language)
    return SkippedFile(listed.path, problem) if problem else SourceFile(listed.path, text, listed.language)


def _encoding_of(data: bytes, language: str) -> str:
    """The codec's name. Raises SyntaxError for a PEP 263 cookie that names no encoding."""
    if data.startswith(_UTF_16_MARKS):
        return "utf-16"
    if language == "python":
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    return "utf-8-sig"


def _problem(text: str, language: str) -> str | None:
    if not text.strip():
        return "the file is empty"
    if "\0" in text:
        return "contains NUL characters"
    if language in _MINIFIED_WHEN_LONG:
        longest = max(len(line) for line in text.split("\n"))
        if longest > MAX_LINE_CHARACTERS:
            return f"a line of {longest} characters; more than {MAX_LINE_CHARACTERS} means that a program wrote it"
    return None
