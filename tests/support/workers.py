"""Connections to a server of several workers, and what its log tells of them."""

import json
import time
from collections.abc import Iterator
from typing import Any

import grpc

from support.program import Server

PATIENCE_SECONDS = 60


def separate_channel(address: str) -> grpc.Channel:
    """A channel with a connection of its own: channels of one process share connections otherwise."""
    return grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])


def events(server: Server, event: str, **fields: object) -> list[dict[str, Any]]:
    """The lines of that event, with those fields, in the log as it is now."""
    wanted = {"event": event, **fields}.items()
    return [line for line in map(json.loads, list(server.log)) if wanted <= line.items()]


def worker_pids(server: Server) -> dict[int, int]:
    """The process id of each worker that has listened, the latest under its number."""
    return {line["worker"]: line["pid"] for line in events(server, "worker listening")}


def await_events(server: Server, event: str, count: int, **fields: object) -> list[dict[str, Any]]:
    """The lines of that event, with those fields, once there are `count` of them."""
    for _ in _patience():
        if len(found := events(server, event, **fields)) >= count:
            return found
    raise AssertionError(f"{count} lines of {event!r} never came:\n{''.join(server.log)}")


def await_ended(server: Server) -> None:
    """Returns once nobody writes to the log any more, the server's own process nor a worker."""
    for _ in _patience():
        if server.log_ended.is_set():
            return
    raise AssertionError(f"somebody still holds the log:\n{''.join(server.log)}")


def _patience() -> Iterator[None]:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        yield
        time.sleep(0.02)
