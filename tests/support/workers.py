"""Connections to a server of several workers, and what its log tells of them."""

import json
from typing import Any

import grpc

from support.patience import PATIENCE_SECONDS, await_true
from support.program import Server


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
    await_true(
        lambda: len(events(server, event, **fields)) >= count,
        lambda: f"{count} lines of {event!r}:\n{''.join(server.log)}",
    )
    return events(server, event, **fields)


def await_ended(server: Server) -> None:
    """Returns once nobody writes to the log any more, the server's own process nor a worker."""
    assert server.log_ended.wait(PATIENCE_SECONDS), f"somebody still holds the log:\n{''.join(server.log)}"
