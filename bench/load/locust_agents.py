"""A locustfile: agents that search, walk from what they found, fetch the texts, and think in between.

Locust runs it in an environment of its own, with the contract on the path. The variable GROUNDWIRE_LOAD names a JSON
object: `address`, `calls` (a file of `bench.load.offered`), and `tls` with the files of CA, key and certificate.
"""

# pyright: basic, reportMissingImports=false
# What it imports stands in an environment of its own.
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import grpc.experimental.gevent
from locust import User, between, task

from bench.load.offered import read_offered
from groundwire.v1 import retrieval_pb2 as messages
from groundwire.v1 import retrieval_pb2_grpc

grpc.experimental.gevent.init_gevent()
LOAD = json.loads(os.environ["GROUNDWIRE_LOAD"])
SEARCHES = [
    messages.SearchNodesRequest.FromString(call.content)
    for call in read_offered(Path(LOAD["calls"]))
    if call.method.endswith("/SearchNodes")
]
SEEDS, BUDGET_TOKENS, MAX_NODES, DEADLINE_SECONDS = 3, 4_000, 60, 10.0


def connect() -> grpc.Channel:
    """The one connection of all agents of this process."""
    if not LOAD["tls"]:
        return grpc.insecure_channel(LOAD["address"])
    credentials = grpc.ssl_channel_credentials(*(Path(path).read_bytes() for path in LOAD["tls"]))
    return grpc.secure_channel(LOAD["address"], credentials, [("grpc.ssl_target_name_override", "localhost")])


class Agent(User):  # type: ignore[misc]
    """One agent; its next question follows half a second later on average."""

    wait_time = between(0.1, 0.9)

    def on_start(self) -> None:
        """Takes a place on the connection."""
        self._stub = retrieval_pb2_grpc.RetrievalServiceStub(connect())

    @task  # type: ignore[untyped-decorator]
    def research(self) -> None:
        """One question: three calls, each made of what the one before it answered."""
        asked = random.choice(SEARCHES)
        found = self._timed("search", self._stub.SearchNodes, asked)
        seeds = [hit.id for hit in found.hits[:SEEDS]] if found else []
        if not seeds:
            return
        common: dict[str, Any] = {"scope": asked.scope, "access": asked.access, "seed_ids": seeds}
        walk = messages.ExpandDependencyTreeRequest(max_depth=1, max_nodes=MAX_NODES, edge_allowlist=["*"], **common)
        walked = self._timed("expand", self._stub.ExpandDependencyTree, walk)
        nodes = [
            messages.ReachedNode(id=node.id, depth=node.depth, parent_id=node.parent_id)
            for node in (walked.nodes if walked else ())
            if node.depth
        ]
        fetch = messages.FetchNodeTextsRequest(nodes=nodes, budget_tokens=BUDGET_TOKENS, **common)
        self._timed("fetch", self._stub.FetchNodeTexts, fetch)

    def _timed(self, name: str, call: Callable[..., Any], request: Any) -> Any:  # noqa: ANN401 - three kinds of call
        started, response, error = time.perf_counter(), None, None
        try:
            response = call(request, timeout=DEADLINE_SECONDS)
        except grpc.RpcError as failed:
            error = failed
        self.environment.events.request.fire(
            request_type="grpc",
            name=name,
            response_time=1_000.0 * (time.perf_counter() - started),
            response_length=response.ByteSize() if response else 0,
            exception=error,
        )
        return response
