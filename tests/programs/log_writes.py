"""Logs long lines, and prints the size of each write to standard error."""

import io
import logging
import sys
from typing import Any

import structlog

from groundwire_server.rpc.telemetry.logs import configure_logging


class Counting(io.FileIO):
    def write(self, data: Any) -> int:
        print(len(data))
        return super().write(data)


sys.stderr = io.TextIOWrapper(io.BufferedWriter(Counting(2, "w", closefd=False)), line_buffering=True)
configure_logging("json", "info")
structlog.get_logger().info("x" * 100_000)
logging.getLogger("some.library").info("x" * 100_000)
