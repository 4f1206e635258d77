"""JSON as sources must write it: what Python's parser lets pass, and would harm an index, is refused with its place."""

import json
import math
from collections.abc import Iterator
from typing import BinaryIO, NoReturn

from groundwire_server.domain.errors import IngestError
from groundwire_server.domain.nodes import JsonValue

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def parse_json(text: str, place: str) -> JsonValue:
    """The value of a JSON text. `place` is the file, or file and line, that errors name.

    Raises IngestError for malformed JSON, NaN and Infinity, numbers beyond a double, a key given twice in one object,
    nesting too deep to read, and lone surrogates, which no UTF-8 text can hold.
    """
    try:
        value: JsonValue = json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_without_repetition
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise IngestError(f"{place}: holds half of a surrogate pair (\\ud800 to \\udfff alone); escape both") from error
    except RecursionError as error:
        raise IngestError(f"{place}: is nested too deeply to read; flatten it") from error
    except ValueError as error:
        raise IngestError(f"{place}: is not valid JSON ({error})") from error
    return value


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
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in keys if keys.count(key) > 1)!r} is given twice")
    return record
