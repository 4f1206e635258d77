"""JSON as sources must write it: what Python's parser lets pass, and would harm an index, is refused with its place."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NoReturn

from groundwire_index.nodes.node import JsonValue
from groundwire_ingest.ingest_errors import IngestError

MAX_NESTING = 64
"""How many lists and objects may be within each other: each of them takes a place on the stack of all later readers."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ESCAPE = "\\u"
_SPACES = frozenset(" \t\n\r")


def parse_json(text: str, place: str) -> JsonValue:
    """The value of a JSON text. `place` is the file, or file and line, that errors name.

    Raises IngestError for malformed JSON, NaN and Infinity, numbers beyond a double, and a key given twice in one
    object. It also raises it for nesting deeper than MAX_NESTING, and for lone surrogates, which no UTF-8 text can
    hold.
    """
    with _refusing(place):
        value: JsonValue = _DECODER.decode(text)
        _check_nesting(value)
        if _ESCAPE in text:
            _check_pairs(value)
        return value


def json_items(text: str, place: str) -> Iterator[JsonValue]:
    """The items of a JSON list, each made when it is asked for: values take some thirty times the memory of their text.

    Raises IngestError as `parse_json` does, where it comes to what is wrong, and for a text that is no list.
    """
    at = _after_space(text, 0)
    if not text.startswith("[", at):
        parse_json(text, place)
        raise IngestError(f"{place}: is no JSON list")
    has_escapes = _ESCAPE in text
    at = _after_space(text, at + 1)
    ended = text.startswith("]", at)
    while not ended:
        with _refusing(place):
            value, at = _DECODER.raw_decode(text, at)
            _check_nesting(value)
            if has_escapes:
                _check_pairs(value)
        yield value
        at = _after_space(text, at)
        ended = text.startswith("]", at)
        if not ended and not text.startswith(",", at):
            raise _malformed(place, json.JSONDecodeError("Expecting ',' delimiter", text, at))
        at = at if ended else _after_space(text, at + 1)
    at = _after_space(text, at + 1)
    if at < len(text):
        raise _malformed(place, json.JSONDecodeError("Extra data", text, at))


def decode_utf8(content: bytes, place: str) -> str:
    """The text of UTF-8 bytes, less a byte order mark at their start. Raises IngestError for any other encoding."""
    try:
        return content.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError as error:
        raise IngestError(
            f"{place}: is not UTF-8 (byte 0x{content[error.start]:02x} at {error.start}); save it as UTF-8"
        ) from error


def numbered_lines(stream: BinaryIO, name: str) -> Iterator[tuple[str, str]]:
    """The lines of a UTF-8 stream that are not blank, each with its place, `name:number`; one line in memory at a time.

    Only a line feed ends a line. Raises IngestError, naming the line, for any other encoding.
    """
    for number, line in enumerate(stream, start=1):
        place = f"{name}:{number}"
        text = decode_utf8(line, place)
        if text.strip():
            yield place, text


@contextmanager
def _refusing(place: str) -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError as error:
        raise IngestError(f"{place}: holds half of a surrogate pair (\\ud800 to \\udfff alone); escape both") from error
    except RecursionError as error:
        raise IngestError(
            f"{place}: is nested too deeply to read; at most {MAX_NESTING} lists and objects may be within each other, "
            "so flatten it"
        ) from error
    except ValueError as error:
        raise _malformed(place, error) from error


def _malformed(place: str, error: ValueError) -> IngestError:
    return IngestError(f"{place}: is not valid JSON ({error})")


def _check_nesting(value: JsonValue) -> None:
    """Raises RecursionError for a value that is nested more deeply than MAX_NESTING, as the parser does at its end."""
    level: list[JsonValue] = [value]
    for _ in range(MAX_NESTING):
        level = [inner for outer in level if isinstance(outer, list | dict) for inner in _inside(outer)]
        if not level:
            return
    raise RecursionError


def _inside(outer: list[JsonValue] | dict[str, JsonValue]) -> Iterable[JsonValue]:
    return (inner for inner in (outer.values() if isinstance(outer, dict) else outer) if isinstance(inner, list | dict))


def _check_pairs(value: JsonValue) -> None:
    """Raises UnicodeEncodeError for half of a surrogate pair."""
    json.dumps(value, ensure_ascii=False).encode()


def _after_space(text: str, at: int) -> int:
    while text[at : at + 1] in _SPACES:
        at += 1
    return at


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:40]} is beyond what a number can hold")
    return number


def _without_repetition(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    record = dict(pairs)
    if len(record) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"key {key!r} is given twice")
    return record


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_without_repetition)
