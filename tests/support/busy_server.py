"""A retrieval server with mutual TLS that refuses calls as it is told, then gives answers that never change."""

import threading
from collections.abc import Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from support.certificates import Certificate

SEARCHED = retrieval_pb2.SearchNodesResponse(
    hits=[retrieval_pb2.SearchHit(id="shop::main::cs::A", score=0.5, rank=1)], index="v1", exact=True
)
EXPANDED = retrieval_pb2.ExpandDependencyTreeResponse(
    seed_ids=["shop::main::cs::A"], nodes=[retrieval_pb2.ReachedNode(id="shop::main::cs::A")], index="v1"
)
FETCHED = retrieval_pb2.FetchNodeTextsResponse(
    texts=[retrieval_pb2.NodeText(id="shop::main::cs::A", text="class A { }", is_seed=True, token_count=4)],
    used_tokens=4,
    index="v1",
)
# Text that is percent-encoded on its way.
MESSAGE = "too many calls: 100 % Überlast"
_Response = TypeVar("_Response")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call as it came."""

    method: str
    metadata: Mapping[str, str | bytes]
    seconds_left: float


@dataclass(slots=True)
class BusyServer(retrieval_pb2_grpc.RetrievalServiceServicer):
    """Ends calls with `refusals`, one after the other; then all are answered."""

    refusals: list[status_pb2.Status] = field(default_factory=list[status_pb2.Status])
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    hold: threading.Event = field(default_factory=threading.Event)
    """Calls wait until it is set."""
    address: str = ""

    def __post_init__(self) -> None:
        self.hold.set()

    def SearchNodes(self, request: object, context: grpc.ServicerContext) -> retrieval_pb2.SearchNodesResponse:
        return self._answer("SearchNodes", context, SEARCHED)

    def ResolveNodes(self, request: object, context: grpc.ServicerContext) -> retrieval_pb2.ResolveNodesResponse:
        return self._answer("ResolveNodes", context, retrieval_pb2.ResolveNodesResponse())

    def SearchText(self, request: object, context: grpc.ServicerContext) -> retrieval_pb2.SearchTextResponse:
        return self._answer("SearchText", context, retrieval_pb2.SearchTextResponse())

    def ExpandDependencyTree(
        self, request: object, context: grpc.ServicerContext
    ) -> retrieval_pb2.ExpandDependencyTreeResponse:
        return self._answer("ExpandDependencyTree", context, EXPANDED)

    def FindPaths(self, request: object, context: grpc.ServicerContext) -> retrieval_pb2.FindPathsResponse:
        return self._answer("FindPaths", context, retrieval_pb2.FindPathsResponse())

    def FetchNodeTexts(self, request: object, context: grpc.ServicerContext) -> retrieval_pb2.FetchNodeTextsResponse:
        return self._answer("FetchNodeTexts", context, FETCHED)

    def _answer(self, method: str, context: grpc.ServicerContext, answer: _Response) -> _Response:
        self.attempts.append(Attempt(method, dict(context.invocation_metadata()), context.time_remaining() or 0.0))
        self.hold.wait(timeout=300)
        if self.refusals:
            context.abort_with_status(rpc_status.to_status(self.refusals.pop(0)))
        return answer


def refusal(code: grpc.StatusCode, retry_after: timedelta | None = None) -> status_pb2.Status:
    """A status with ErrorInfo, and RetryInfo when callers shall wait."""
    details: list[Message] = [
        error_details_pb2.ErrorInfo(
            reason="ERROR_REASON_OVERLOADED", domain="groundwire", metadata={"method": "SearchNodes"}
        )
    ]
    if retry_after is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromTimedelta(retry_after)
        details.append(retry)
    status = status_pb2.Status(code=code.value[0], message=MESSAGE)
    for detail in details:
        packed = Any()
        packed.Pack(detail)
        status.details.append(packed)
    return status


@contextmanager
def busy_server(identity: Certificate) -> Iterator[BusyServer]:
    """A server that listens while the context lasts."""
    busy = BusyServer()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    retrieval_pb2_grpc.add_RetrievalServiceServicer_to_server(busy, server)
    credentials = grpc.ssl_server_credentials(
        [(identity.key.read_bytes(), identity.certificate.read_bytes())],
        identity.authority.read_bytes(),
        require_client_auth=True,
    )
    busy.address = f"localhost:{server.add_secure_port('127.0.0.1:0', credentials)}"
    server.start()
    try:
        yield busy
    finally:
        busy.hold.set()
        server.stop(grace=None).wait()
