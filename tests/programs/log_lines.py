"""Logs, as the server and as libraries do: `log_lines FORMAT LEVEL [WORKER]`."""

import logging
import sys

import structlog

from groundwire_server.config import Settings
from groundwire_server.rpc.telemetry.logs import configure_logging

settings = Settings.model_validate({"log_format": sys.argv[1], "log_level": sys.argv[2]})
configure_logging(settings.log_format, settings.log_level, *map(int, sys.argv[3:]))
structlog.get_logger().info("own", number=1)
logging.getLogger("some.library").info("a library's %s", "word")
try:
    secret = "hidden-" + "value"
    raise ValueError("broken")
except ValueError:
    logging.getLogger("some.library").exception("failed")
    logging.getLogger("grpc._cython.cygrpc").exception("ExecuteBatchError raised in core by servicer method [/a/B]")
    logging.getLogger("grpc._cython.cygrpc").error("Invalid encoding on hidden-value")
    logging.getLogger("grpc._cython.cygrpc").error("Unexpected [UnicodeDecodeError] raised by servicer method [/x]")
