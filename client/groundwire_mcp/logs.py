"""What is written to standard error: never an argument, a text or a token."""

import logging
from types import TracebackType
from typing import TypeAlias

_ExceptionInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class _WithoutMessages(logging.Formatter):
    """Of an exception its type and where it was raised; its message may quote what a caller sent."""

    def formatException(self, ei: _ExceptionInfo) -> str:  # noqa: N802 - the name of the base class
        kind, _, trace = ei
        frames: list[str] = []
        while trace is not None:
            code = trace.tb_frame.f_code
            frames.append(f"  {code.co_filename}:{trace.tb_lineno} in {code.co_name}")
            trace = trace.tb_next
        return "\n".join([f"{kind.__name__ if kind else 'exception'}, raised at", *frames])


def log_to_stderr() -> None:
    """Warnings and errors of this process and its libraries, one line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(_WithoutMessages("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
