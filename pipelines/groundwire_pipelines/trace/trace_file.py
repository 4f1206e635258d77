"""The file of a trace: one event a line, as JSON. `JsonLinesSink` writes it, `read_trace` reads it."""

import errno
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TextIO

from pydantic import TypeAdapter, ValidationError

from groundwire_pipelines.errors import PipelineError
from groundwire_pipelines.trace.events import EVENT_NAMES, TraceEvent, event_as_json

_EVENTS: Final[Mapping[str, TypeAdapter[TraceEvent]]] = {name: TypeAdapter(kind) for kind, name in EVENT_NAMES.items()}


class JsonLinesSink:
    """Writes events to a file at once, as one line of JSON each. Use it as a context manager.

    The file is emptied first, and readable by its owner only. A symbolic link is refused.

    Raises:
        PipelineError: The file cannot be written; also raised during the run.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._writing():
            self._file = open_private(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._writing():
            self._file.close()

    def __call__(self, event: TraceEvent) -> None:
        """Writes one event."""
        with self._writing():
            self._file.write(json.dumps(event_as_json(event)) + "\n")
            self._file.flush()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise PipelineError(f"the trace {self._path} cannot be written: {error.strerror}") from error


def read_trace(path: Path) -> tuple[TraceEvent, ...]:
    """The events of a trace, in order. A last line that is still being written is left out.

    Raises:
        PipelineError: The file cannot be read, or a line is no event; the message has its number.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise PipelineError(f"the trace {path} cannot be read: {reason}") from error
    return tuple(_event(path, number, line) for number, line in enumerate(lines[:-1], start=1))


def _event(path: Path, number: int, line: str) -> TraceEvent:
    try:
        fields: object = json.loads(line)
        if isinstance(fields, dict) and (adapter := _EVENTS.get(str(fields.pop("event", "")))):
            return adapter.validate_python(fields)
    except (ValueError, RecursionError) as error:
        raise PipelineError(f"{path}:{number}: no event of a trace: {_first_line(error)}") from error
    raise PipelineError(
        f"{path}:{number}: no event of a trace: give a file that `groundwire run --trace FILE` has written"
    )


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors())
    return str(error)


def open_private(path: Path) -> TextIO:
    """Opens a text file for writing, emptied, that only its owner may read; the mode of an existing file is changed.

    A symbolic link is refused: in a folder that others may write to, it could lead to another file of the user. Raises
    OSError, also for a file that another user owns, who could read what is written.
    """
    flags = os.O_WRONLY | os.O_CREAT
    if sys.platform != "win32":
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(error.errno, "it is a symbolic link; name the file itself") from error
        raise
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            if sys.platform != "win32":
                os.fchmod(handle, 0o600)
            os.ftruncate(handle, 0)
        return os.fdopen(handle, "w", encoding="utf-8")
    except BaseException:
        os.close(handle)
        raise
