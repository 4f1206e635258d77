"""A real gRPC server in this process with hand-written answers, and callers through both clients."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypedDict, TypeVar, Unpack

import grpc
import pytest
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import status_pb2
from grpc_status import rpc_status

from groundwire.v1 import (
    evidence_pb2,
    index_pb2,
    index_pb2_grpc,
    query_pb2,
    query_pb2_grpc,
    retrieval_pb2,
    retrieval_pb2_grpc,
)
from groundwire_client import TLS, AccessContext, AsyncGroundwireClient, GroundwireClient

_Answer = TypeVar("_Answer", bound=Message)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a call as the server saw it; `time_remaining` in seconds."""

    method: str
    request: Message
    metadata: Mapping[str, str | bytes]
    time_remaining: float


@dataclass
class FakeServer(
    retrieval_pb2_grpc.RetrievalServiceServicer,
    query_pb2_grpc.QueryServiceServicer,
    index_pb2_grpc.IndexServiceServicer,
):
    """Records every attempt; fails with the next of `failures` while there is one, else gives the answer of its type.

    Every name is that of one node, whose id is the name; calls of ResolveNodes are not recorded.
    While `hangs` is set, handlers wait until the test is over.
    """

    target: str = ""
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    failures: deque[status_pb2.Status] = field(default_factory=deque[status_pb2.Status])
    refusals: dict[str, status_pb2.Status] = field(default_factory=dict[str, status_pb2.Status])
    answers: dict[type[Message], Message] = field(default_factory=dict[type[Message], Message])
    hangs: bool = False
    test_is_over: threading.Event = field(default_factory=threading.Event)
    _running: grpc.Server | None = None

    def start(self, credentials: grpc.ServerCredentials | None = None) -> None:
        """Listens at `target`; the first time at a free port, which becomes the target."""
        self._running = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
        retrieval_pb2_grpc.add_RetrievalServiceServicer_to_server(self, self._running)
        query_pb2_grpc.add_QueryServiceServicer_to_server(self, self._running)
        index_pb2_grpc.add_IndexServiceServicer_to_server(self, self._running)
        address = self.target or "127.0.0.1:0"
        if credentials is None:
            port = self._running.add_insecure_port(address)
        else:
            port = self._running.add_secure_port(address, credentials)
        self.target = f"127.0.0.1:{port}"
        self._running.start()

    def stop(self) -> None:
        """Drops its connections and listens no more."""
        assert self._running is not None
        self._running.stop(grace=None).wait()

    @property
    def methods(self) -> list[str]:
        """The methods of the attempts, in order."""
        return [attempt.method for attempt in self.attempts]

    @property
    def actions(self) -> list[Message]:
        """The requests in order, without those that only ask what names an index has."""
        return [attempt.request for attempt in self.attempts if attempt.method != "GetIndex"]

    def answer(self, response: Message) -> None:
        """Calls whose response is of this type get this one."""
        self.answers[type(response)] = response

    def fail(
        self, code: grpc.StatusCode, message: str = "broken", details: Sequence[Message] = (), times: int = 1
    ) -> None:
        """The next attempts fail with this status."""
        status = status_pb2.Status(code=code.value[0], message=message)
        for detail in details:
            any_pb2.Any.Pack(status.details.add(), detail)
        self.failures.extend([status] * times)

    def refuse(self, method: str, code: grpc.StatusCode, message: str) -> None:
        """Every attempt of a method fails with this status."""
        self.refusals[method] = status_pb2.Status(code=code.value[0], message=message)

    def _handle(self, method: str, kind: type[_Answer], request: Message, context: grpc.ServicerContext) -> _Answer:
        metadata = dict(context.invocation_metadata())
        self.attempts.append(Attempt(method, request, metadata, context.time_remaining()))
        if self.hangs:
            self.test_is_over.wait(30)
        failure = self.refusals.get(method) or (self.failures.popleft() if self.failures else None)
        if failure is not None:
            status = rpc_status.to_status(failure)
            request_id = ("x-request-id", f"request {len(self.attempts)}")
            context.set_trailing_metadata((request_id, *status.trailing_metadata))
            context.abort(status.code, status.details)
        answer = self.answers.get(kind, kind())
        assert isinstance(answer, kind)
        return answer

    def SearchNodes(
        self, request: retrieval_pb2.SearchNodesRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.SearchNodesResponse:
        return self._handle("SearchNodes", retrieval_pb2.SearchNodesResponse, request, context)

    def ResolveNodes(
        self, request: retrieval_pb2.ResolveNodesRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.ResolveNodesResponse:
        names = [
            retrieval_pb2.ResolvedName(
                name=name, match=retrieval_pb2.NAME_MATCH_ID, nodes=[retrieval_pb2.ResolvedNode(id=name)], node_count=1
            )
            for name in request.names
        ]
        return retrieval_pb2.ResolveNodesResponse(names=names, index=request.scope.active_index, scopes=request.scopes)

    def SearchText(
        self, request: retrieval_pb2.SearchTextRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.SearchTextResponse:
        return self._handle("SearchText", retrieval_pb2.SearchTextResponse, request, context)

    def ExpandDependencyTree(
        self, request: retrieval_pb2.ExpandDependencyTreeRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.ExpandDependencyTreeResponse:
        return self._handle("ExpandDependencyTree", retrieval_pb2.ExpandDependencyTreeResponse, request, context)

    def FindPaths(
        self, request: retrieval_pb2.FindPathsRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.FindPathsResponse:
        return self._handle("FindPaths", retrieval_pb2.FindPathsResponse, request, context)

    def FetchNodeTexts(
        self, request: retrieval_pb2.FetchNodeTextsRequest, context: grpc.ServicerContext
    ) -> retrieval_pb2.FetchNodeTextsResponse:
        return self._handle("FetchNodeTexts", retrieval_pb2.FetchNodeTextsResponse, request, context)

    def Query(self, request: query_pb2.QueryRequest, context: grpc.ServicerContext) -> query_pb2.QueryResponse:
        return self._handle("Query", query_pb2.QueryResponse, request, context)

    def GatherEvidence(
        self, request: evidence_pb2.GatherEvidenceRequest, context: grpc.ServicerContext
    ) -> evidence_pb2.GatherEvidenceResponse:
        return self._handle("GatherEvidence", evidence_pb2.GatherEvidenceResponse, request, context)

    def ListIndexes(
        self, request: index_pb2.ListIndexesRequest, context: grpc.ServicerContext
    ) -> index_pb2.ListIndexesResponse:
        return self._handle("ListIndexes", index_pb2.ListIndexesResponse, request, context)

    def GetIndex(self, request: index_pb2.GetIndexRequest, context: grpc.ServicerContext) -> index_pb2.GetIndexResponse:
        return self._handle("GetIndex", index_pb2.GetIndexResponse, request, context)

    def ActivateIndex(
        self, request: index_pb2.ActivateIndexRequest, context: grpc.ServicerContext
    ) -> index_pb2.ActivateIndexResponse:
        return self._handle("ActivateIndex", index_pb2.ActivateIndexResponse, request, context)

    def DeleteIndex(
        self, request: index_pb2.DeleteIndexRequest, context: grpc.ServicerContext
    ) -> index_pb2.DeleteIndexResponse:
        return self._handle("DeleteIndex", index_pb2.DeleteIndexResponse, request, context)


def _serve(credentials: grpc.ServerCredentials | None) -> Iterator[FakeServer]:
    fake = FakeServer()
    fake.start(credentials)
    yield fake
    fake.test_is_over.set()
    fake.stop()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """A plaintext server."""
    yield from _serve(None)


@pytest.fixture
def certificates() -> Path:
    """The folder of the certificates for TLS tests."""
    return Path(__file__).parent / "certificates"


@pytest.fixture(params=["tls", "mtls"])
def tls_server(request: pytest.FixtureRequest, certificates: Path) -> Iterator[FakeServer]:
    """A server that proves itself, once without and once with asking the same of its callers."""
    pair = ((certificates / "server.key").read_bytes(), (certificates / "server.pem").read_bytes())
    mutual = request.param == "mtls"
    roots = (certificates / "authority.pem").read_bytes() if mutual else None
    yield from _serve(grpc.ssl_server_credentials([pair], roots, require_client_auth=mutual))


class ClientOptions(TypedDict, total=False):
    """The keyword arguments of both clients."""

    credentials: TLS | None
    timeout: float
    metadata: Sequence[tuple[str, str | bytes]]
    token: str | Callable[[], str] | None
    plaintext_token: bool
    access: AccessContext | None
    wait_for_ready: bool


class Caller(Protocol):
    """What `action` makes of a new client with these options, connected to `target`."""

    def __call__(
        self, target: str | None, action: Callable[[Any], Any], **options: Unpack[ClientOptions]
    ) -> object: ...


def _call_sync(target: str | None, action: Callable[[Any], Any], **options: Unpack[ClientOptions]) -> object:
    with GroundwireClient(target, **options) as client:
        return action(client)


def _call_async(target: str | None, action: Callable[[Any], Any], **options: Unpack[ClientOptions]) -> object:
    async def run() -> object:
        async with AsyncGroundwireClient(target, **options) as client:
            return await action(client)

    return asyncio.run(run())


@pytest.fixture(params=[_call_sync, _call_async], ids=["sync", "aio"])
def call(request: pytest.FixtureRequest) -> Caller:
    """Calls through the sync and the asyncio client by turns."""
    caller: Caller = request.param
    return caller
