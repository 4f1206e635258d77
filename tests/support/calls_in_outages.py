"""Calls of every method while what holds the indexes fails: their answers in full, or how they ended."""

import base64
import time
from dataclasses import dataclass

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from groundwire.v1 import index_pb2, query_pb2
from groundwire.v1 import retrieval_pb2 as messages
from groundwire.v1.scope_pb2 import AccessContext, Bound, IndexScope

TOKEN = "reader:n0-0ne-may-see-this"
_TOLD_AS = (TOKEN, TOKEN.partition(":")[2], base64.b64encode(TOKEN.encode()).decode())
"""The forms in which it might slip out."""
SLACK_SECONDS = 20
PATIENCE_SECONDS = 120
_SCOPE = IndexScope(repository="shop", branch="main")
QUERY = "groundwire.v1.QueryService/Query"
SEARCH = "groundwire.v1.RetrievalService/SearchNodes"
EXPAND = "groundwire.v1.RetrievalService/ExpandDependencyTree"


@dataclass(frozen=True)
class Ended:
    """How a call ended: `answer` is None unless `code` is OK, `reason` what an error says."""

    code: grpc.StatusCode
    answer: bytes | None
    reason: str = ""


Request = tuple[str, Message]


def _ids(*numbers: int) -> list[str]:
    return [f"shop::main::cs::N{number:03}" for number in numbers]


def reading_requests() -> list[Request]:
    """Requests of every method that reads an index, by callers who see different parts of it."""
    retrieval, every = "groundwire.v1.RetrievalService", ["*"]
    callers = AccessContext(), AccessContext(acl_tags_any=["finance"]), AccessContext(collections=Bound(values=["red"]))
    found: list[Request] = []
    for access in callers:
        vector = [1.0, 0.5, -0.25]
        search = messages.SearchNodesRequest(scope=_SCOPE, access=access, query="find the invoice total", top_k=25)
        for kind in ("BM25", "SEMANTIC", "HYBRID"):
            request = messages.SearchNodesRequest()
            request.CopyFrom(search)
            request.search_type = messages.SearchType.Value(f"SEARCH_TYPE_{kind}")
            request.query_vector.extend([] if kind == "BM25" else vector)
            found.append((SEARCH, request))
        query = query_pb2.QueryRequest(
            scope=_SCOPE, access=access, query="create N004 order", query_vector=vector, expand_graph=True
        )
        query.now.FromJsonString("2025-06-01T00:00:00Z")
        found += [
            (QUERY, query),
            (
                EXPAND,
                messages.ExpandDependencyTreeRequest(
                    scope=_SCOPE,
                    access=access,
                    seed_ids=_ids(0, 3),
                    max_depth=3,
                    max_nodes=60,
                    edge_allowlist=every,
                    direction=messages.EDGE_DIRECTION_BOTH,
                ),
            ),
            (
                f"{retrieval}/FindPaths",
                messages.FindPathsRequest(
                    scope=_SCOPE,
                    access=access,
                    from_ids=_ids(0, 3),
                    to_ids=_ids(6, 9),
                    max_hops=4,
                    max_paths=9,
                    max_nodes=60,
                    edge_allowlist=every,
                    direction=messages.EDGE_DIRECTION_BOTH,
                ),
            ),
            (
                f"{retrieval}/FetchNodeTexts",
                messages.FetchNodeTextsRequest(
                    scope=_SCOPE, access=access, seed_ids=_ids(*range(12)), budget_tokens=2_000
                ),
            ),
        ]
    return found


def index_requests() -> list[Request]:
    """A request of every method of IndexService."""
    service, pinned = "groundwire.v1.IndexService", IndexScope(repository="shop", branch="main", active_index="v1")
    return [
        (f"{service}/ListIndexes", index_pb2.ListIndexesRequest()),
        (f"{service}/GetIndex", index_pb2.GetIndexRequest(scope=_SCOPE)),
        (f"{service}/ActivateIndex", index_pb2.ActivateIndexRequest(scope=pinned)),
        (f"{service}/DeleteIndex", index_pb2.DeleteIndexRequest(scope=pinned)),
    ]


def ask(channel: grpc.Channel, request: Request, seconds: float = PATIENCE_SECONDS) -> Ended:
    """Makes a call; the timings are taken out of a query's answer."""
    method, message = request
    called: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{method}")
    began = time.monotonic()
    call = called.future(message.SerializeToString(), timeout=seconds)
    code = call.code()
    assert time.monotonic() - began < seconds + SLACK_SECONDS
    if code is not grpc.StatusCode.OK:
        check_untold(f"{call.details()} {call.trailing_metadata()}")
        return Ended(code, None, _reason(call))
    answer = call.result()
    if method == QUERY:
        response = query_pb2.QueryResponse.FromString(answer)
        response.meta.ClearField("took_ms")
        answer = response.SerializeToString(deterministic=True)
    return Ended(code, answer)


def check_untold(text: str) -> None:
    """Nothing of the token may stand in what is told."""
    assert not any(form in text for form in _TOLD_AS)


def _reason(error: grpc.Call) -> str:
    status, info = rpc_status.from_call(error), error_details_pb2.ErrorInfo()
    for detail in status.details if status else ():
        detail.Unpack(info)
    reason: str = info.reason
    return reason
