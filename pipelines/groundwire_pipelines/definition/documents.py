"""Pipeline files as plain values with their lines.

Only the JSON-like part of YAML is allowed: mappings with unique text keys, lists, texts, numbers, true, false and null.
Tags, merge keys and a second document are refused, so that an editor with a JSON Schema sees the same values, and
reading a file runs no code.
"""

from pathlib import Path

import yaml
from yaml.reader import ReaderError

from groundwire_pipelines.definition.composer import Composer
from groundwire_pipelines.definition.values import Located
from groundwire_pipelines.errors import DefinitionError, Problem

MAX_FILE_BYTES = 1_000_000


def read_text(path: Path) -> str:
    """The text of a pipeline file.

    Raises:
        DefinitionError: It cannot be read, is larger than 1 MB, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _refused(path, 1, "file", f"cannot be read: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise _refused(path, 1, "file", f"is larger than {MAX_FILE_BYTES:,} bytes; a pipeline's file holds no data")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _refused(path, line, "file", f"is not UTF-8 at byte {error.start}; save it as UTF-8") from error


def read_document(path: Path) -> Located:
    """The one YAML document of a file.

    Raises:
        DefinitionError: The file cannot be read, is not YAML, or holds something that pipeline files may not; names all
            places of the latter, but only the first place that is not YAML.
    """
    text = read_text(path)
    try:
        return Composer(str(path), text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        reason = ", ".join(filter(None, (error.context, error.problem)))
        raise _refused(path, line, "yaml", f"{reason} (column {column})") from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _refused(path, line, "yaml", f"the character U+{ord(text[error.position]):04X} is not allowed") from error


def _refused(path: Path, line: int, key: str, message: str) -> DefinitionError:
    return DefinitionError((Problem(str(path), line, key, message),))
