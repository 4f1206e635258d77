"""Reads and decodes a file of a source tree, or says why it cannot be read."""

import codecs
import re
from pathlib import Path

from groundwire_ingest.files_below import read_below, size_below
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.languages import MINIFIED_WHEN_LONG
from groundwire_ingest.tree.walk import ListedFile

MAX_FILE_BYTES = 5_000_000
MAX_LINE_CHARACTERS = 20_000
MAX_LOST_SHARE = 0.3
"""A file of which more than this share of the characters cannot be decoded, or are control characters, is no text."""

_MINIFIED_WHEN_LONG = MINIFIED_WHEN_LONG | {"javascript", "typescript"}
_MINIFIED = frozenset({"javascript", "typescript", "css"})
"""The languages for which there are minifiers."""
_DENSE_CHARACTERS = 1_000
_DENSE_SIGNS = re.compile(r";|(?<!\\u)\{(?!\d)")
_CHARACTERS_OF_A_SIGN = 200
"""A line is dense that has more than _DENSE_CHARACTERS, and a `;` or `{` for each so many of them.

People write no such line. A long text in a string, a picture in base64 or a drawing in SVG has almost no such sign.
A `{` of a regular expression, as in `\\d{1,3}` and `\\u{1F600}`, is no sign.
"""
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF_8 = "utf-8-sig"
_WESTERN = "cp1252"
_LOST = "\N{REPLACEMENT CHARACTER}"

# What PEP 263 allows a comment in the first two lines to say.
_STATED = re.compile(rb"\A(?:[ \t\f]*(?:#[^\r\n]*)?\r?\n)?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)")
_LINE_ENDS = re.compile(r"-(?:unix|dos|mac)$")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# Words of western languages have two letters beyond ASCII in a row at most; those of other scripts have more.
_MANY_IN_A_ROW = re.compile(rb"[\x80-\xff]{3}")
_OF_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_LEAST_TELLING_BYTES = 16
_MOST_MESS = 0.3
"""The largest share of unlikely characters that a guess may give, as charset-normalizer counts them."""
_DETECTED = ["gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "koi8_r", "cp1250", "cp1253"]
"""The encodings that are told apart: those that code in East Asia, Eastern Europe and Greece was written in."""
_MIN_UTF_16_BYTES = 8
_UTF_16_SHARE = 0.7
_SAMPLE_BYTES = 4096


def read_source(root: Path, listed: ListedFile) -> SourceFile | SkippedFile:
    """The decoded text of a listed file below `root`, or why it has none.

    UTF-8 with or without a byte order mark; UTF-16 with one, or with a zero in most characters; a Python file may name
    its encoding as PEP 263 says. Any other file is read as Windows-1252 if it looks like it, else in an encoding of
    another script if there is enough text to tell, else as UTF-8 with U+FFFD for what is none; its `note` says so.

    Line ends stay as they are, unless all are the lone carriage returns of old systems, which become line feeds. Files
    are skipped that are larger than MAX_FILE_BYTES, blank, hold NUL characters, or are no text by MAX_LOST_SHARE.
    JavaScript, TypeScript and most files other than code are also skipped for a line of more than MAX_LINE_CHARACTERS,
    which only programs such as minifiers write. JavaScript, TypeScript and style sheets are skipped if more than half
    of the characters are in dense lines, as a minifier writes them.
    """
    try:
        size = size_below(root, listed.path)
        if size > MAX_FILE_BYTES:
            return SkippedFile(listed.path, f"{size} bytes; files of more than {MAX_FILE_BYTES} are not read")
        data = read_below(root, listed.path, MAX_FILE_BYTES)
    except OSError as error:
        return SkippedFile(listed.path, f"cannot be read: {error.strerror}")
    encoding, note = _encoding_of(data, listed.language)
    try:
        text = data.decode(encoding, "replace" if note else "strict")
        text.encode()  # a codec such as UTF-7 can yield lone surrogates, which no index can store
    except (LookupError, UnicodeError) as error:
        why = f"{error.reason} at byte {error.start}" if isinstance(error, UnicodeDecodeError) else error
        return SkippedFile(listed.path, f"not decodable as {encoding.removesuffix('-sig')}: {why}")
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    problem = _problem(text, listed.language, note)
    return SkippedFile(listed.path, problem) if problem else SourceFile(listed.path, text, listed.language, note)


def _encoding_of(data: bytes, language: str) -> tuple[str, str]:
    """The codec's name, and a note if it is a guess, after which what cannot be decoded is replaced."""
    if data.startswith(_UTF_16_MARKS):
        return "utf-16", ""
    utf_16 = _unmarked_utf_16(data)
    if utf_16:
        return utf_16, ""
    stated = _STATED.match(data.removeprefix(codecs.BOM_UTF8)) if language == "python" else None
    name = stated[1].decode().lower().replace("_", "-") if stated else "utf-8"
    name = _LINE_ENDS.sub("", name)  # as editors say it
    if name not in ("utf-8", "utf8", _UTF_8):
        return name, ""
    if data.decode(errors="ignore").encode() == data:
        return _UTF_8, ""
    if _OF_UTF_8.search(data) is None and _MANY_IN_A_ROW.search(data) is None:
        return _WESTERN, "not UTF-8; read as Windows-1252"
    detected = _detected_encoding(data)
    if detected:
        return detected, f"not UTF-8; read as {detected}, which is a guess"
    return _UTF_8, "not UTF-8; what cannot be decoded is read as U+FFFD"


def _detected_encoding(data: bytes) -> str:
    """The encoding that text in letters of another script is likely in; empty where there is too little to tell.

    A file is UTF-8 with a bad byte if more of its letters are UTF-8 than are not.
    """
    replaced = data.decode(errors="replace").count(_LOST)
    if len(_OF_UTF_8.findall(data)) > replaced:
        return ""
    telling_lines = b"\n".join(line for line in data.split(b"\n") if _NOT_ASCII.search(line) is not None)
    if len(telling_lines) > _SAMPLE_BYTES:  # cut at the end of a line, as a character may have several bytes
        telling_lines = telling_lines[:_SAMPLE_BYTES].rpartition(b"\n")[0]
    if len(_NOT_ASCII.findall(telling_lines)) < _LEAST_TELLING_BYTES:
        return ""
    from charset_normalizer import from_bytes  # takes a tenth of a second to load, and few trees need it

    best = from_bytes(telling_lines, cp_isolation=_DETECTED, threshold=_MOST_MESS).best()
    return best.encoding if best is not None else ""


def _unmarked_utf_16(data: bytes) -> str:
    """The codec of UTF-16 without a mark, in which every second byte of western text is zero; empty for others."""
    sample = data[:_SAMPLE_BYTES]
    if len(sample) < _MIN_UTF_16_BYTES or len(data) % 2:
        return ""
    low, high = sample[::2], sample[1::2]
    for codec, zero, other in (("utf-16-le", high, low), ("utf-16-be", low, high)):
        if zero.count(0) >= _UTF_16_SHARE * len(zero) and not other.count(0):
            return codec
    return ""


def _problem(text: str, language: str, note: str) -> str | None:
    if not text.strip():
        return "the file is empty"
    if "\0" in text:
        return "contains NUL characters"
    lost = text.count(_LOST) + len(_CONTROL.findall(text)) if note else 0
    if lost > MAX_LOST_SHARE * len(text):
        return "not decodable as utf-8, and no text in a known encoding"
    if language in _MINIFIED_WHEN_LONG:
        longest = max(len(line) for line in text.split("\n"))
        if longest > MAX_LINE_CHARACTERS:
            return f"a line of {longest} characters; more than {MAX_LINE_CHARACTERS} means that a program wrote it"
    if language in _MINIFIED:
        dense = sum(len(line) for line in text.split("\n") if _is_dense(line))
        if 2 * dense > len(text):
            return f"minified: {dense} of {len(text)} characters are in long lines of many statements"
    return None


def _is_dense(line: str) -> bool:
    return len(line) > _DENSE_CHARACTERS and len(_DENSE_SIGNS.findall(line)) * _CHARACTERS_OF_A_SIGN >= len(line)
