"""Structured logs on stderr: one event a line, as JSON or for human eyes."""

import json
import logging
import sys
from functools import partial
from typing import Literal

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

LogFormat = Literal["json", "console"]
LogLevel = Literal["debug", "info", "warning", "error"]

# Made once: `json.dumps` makes an encoder for each event.
_JSON = json.JSONEncoder(ensure_ascii=False, default=repr)
_GRPC_LOGGER = "grpc._cython.cygrpc"
# The first two log every request that the server itself sends and, at the level debug, what it holds; the last one each
# build of FAISS that is not there.
_TALKATIVE_LOGGERS = ("httpx2", "httpcore2", "faiss.loader")
_UNWANTED = (
    # gRPC quotes metadata that is no UTF-8, which may be a credential.
    "Invalid encoding on",
    # With a traceback for each caller that had gone before it was told an error; the access log has the call.
    "ExecuteBatchError raised in core by servicer method",
    # With a traceback for each path that is no UTF-8; no servicer was asked.
    "Unexpected [UnicodeDecodeError] raised by servicer method",
)


def configure_logging(log_format: LogFormat, log_level: LogLevel, worker: int | None = None) -> None:
    """Sends this process's logs, those of libraries included, to stderr; those of a `worker` have its number.

    Each event is one write, so that processes with the same stderr do not cut each other's lines in two. Tracebacks
    never show the values of local variables: a query or a text may be among them.
    """
    level = logging.getLevelNamesMapping()[log_level.upper()]
    common: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        *([] if worker is None else [partial(_add_worker, worker)]),
    ]
    rendering = _rendering(log_format)
    structlog.configure(
        processors=[*common, *rendering],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*common, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.getLogger(_GRPC_LOGGER).addFilter(lambda record: not str(record.msg).startswith(_UNWANTED))
    for name in _TALKATIVE_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


def _add_worker(number: int, _: WrappedLogger, __: str, event: EventDict) -> EventDict:
    event["worker"] = number
    return event


def _as_json(_: WrappedLogger, __: str, event: EventDict) -> str:
    return _JSON.encode(event)


def _rendering(log_format: LogFormat) -> list[Processor]:
    if log_format == "json":
        return [structlog.processors.format_exc_info, _as_json]
    return [
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
    ]
