"""Reads the file that `JsonLinesSink` writes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from groundwire_pipelines.engine.trace import EVENT_NAMES, TraceEvent
from groundwire_pipelines.errors import PipelineError

_EVENTS: Final[Mapping[str, TypeAdapter[TraceEvent]]] = {name: TypeAdapter(kind) for kind, name in EVENT_NAMES.items()}


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
