"""Calls of every method while what holds the indexes fails: their answers in full, or how they ended."""

import base64
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2
from grpc_status import rpc_status

from groundwire.v1 import evidence_pb2, index_pb2, query_pb2
from groundwire.v1 import retrieval_pb2 as messages
from groundwire.v1.scope_pb2 import AccessContext, Bound, IndexScope
from support.jsonl import edge, node

TOKEN = "reader:n0-0ne-may-see-this"
_TOLD_AS = (TOKEN, TOKEN.partition(":")[2], base64.b64encode(TOKEN.encode()).decode())
"""The forms in which it might slip out."""
SLACK_SECONDS = 120
PATIENCE_SECONDS = 300
AT_ONCE_SECONDS = 60
"""Much more than it takes to say what needs no Milvus."""
OUTAGES = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}
_WORDS = ("invoice", "tax", "order", "user", "total", "create", "find")
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


def records() -> list[dict[str, object]]:
    """The nodes and edges that the requests ask for, as lines of JSONL with vectors."""
    chance = random.Random(5)
    nodes = [
        node(
            f"N{number:03}",
            f"void {' '.join(chance.choices(_WORDS, k=30))}",
            [chance.gauss(0, 1) for _ in range(3)],
            path=f"src/{number % 7}.cs",
            acl_tags=["finance"] if number % 5 == 4 else [],
            collection_id="red" if number % 3 == 0 else "",
            service_name=f"service{number % 4}",
        )
        for number in range(120)
    ]
    edges = [
        edge(f"cs::N{number:03}", f"cs::N{chance.randrange(120):03}", "Calls")
        for number in range(120)
        for _ in range(3)
    ]
    return [*nodes, *edges]


def reading_requests() -> list[Request]:
    """Requests of every method that reads an index, by callers who see different parts of it."""
    retrieval, every = "groundwire.v1.RetrievalService", ["*"]
    callers = AccessContext(), AccessContext(acl_tags_any=["finance"]), AccessContext(collections=Bound(values=["red"]))
    requests: list[Request] = []
    for access in callers:
        vector = [1.0, 0.5, -0.25]
        search = messages.SearchNodesRequest(scope=_SCOPE, access=access, query="find the invoice total", top_k=25)
        for kind in ("BM25", "SEMANTIC", "HYBRID"):
            request = messages.SearchNodesRequest()
            request.CopyFrom(search)
            request.search_type = messages.SearchType.Value(f"SEARCH_TYPE_{kind}")
            request.query_vector.extend([] if kind == "BM25" else vector)
            requests.append((SEARCH, request))
        query = query_pb2.QueryRequest(
            scope=_SCOPE, access=access, query="create N004 order", query_vector=vector, expand_graph=True
        )
        query.now.FromJsonString("2025-06-01T00:00:00Z")
        evidence = evidence_pb2.GatherEvidenceRequest(
            scope=_SCOPE, access=access, question="create N004 order", query_vector=vector, budget_tokens=1_000
        )
        evidence.now.CopyFrom(query.now)
        lines = messages.SearchTextRequest(scope=_SCOPE, access=access, pattern="order", max_matches=100)
        requests += [
            ("groundwire.v1.RetrievalService/SearchText", lines),
            (QUERY, query),
            ("groundwire.v1.QueryService/GatherEvidence", evidence),
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
                f"{retrieval}/ResolveNodes",
                messages.ResolveNodesRequest(scope=_SCOPE, access=access, names=[*_ids(0), "N004"], max_nodes=9),
            ),
            (
                f"{retrieval}/FetchNodeTexts",
                messages.FetchNodeTextsRequest(
                    scope=_SCOPE, access=access, seed_ids=_ids(*range(12)), budget_tokens=2_000
                ),
            ),
        ]
    return requests


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


def health(channel: grpc.Channel, service: str) -> int:
    """The status that health tells now."""
    check: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/grpc.health.v1.Health/Check")
    request = health_pb2.HealthCheckRequest(service=service)
    return health_pb2.HealthCheckResponse.FromString(check(request.SerializeToString(), timeout=AT_ONCE_SECONDS)).status


def await_readiness(channel: grpc.Channel, status: int) -> None:
    """Returns once `readiness` is told so."""
    end = time.monotonic() + PATIENCE_SECONDS
    while health(channel, "readiness") != status:
        assert time.monotonic() < end
        time.sleep(0.1)


def await_answers(channel: grpc.Channel, requests: Sequence[Request]) -> list[bytes]:
    """The answers to requests, each asked again for as long as Milvus is said to be away."""
    answers: list[bytes] = []
    end = time.monotonic() + PATIENCE_SECONDS
    for request in requests:
        while (ended := ask(channel, request)).answer is None:
            assert ended.code in OUTAGES, ended
            assert time.monotonic() < end, ended
            time.sleep(0.1)
        answers.append(ended.answer)
    return answers


def check_untold(text: str) -> None:
    """Nothing of the token may stand in what is told."""
    assert not any(form in text for form in _TOLD_AS)


def _reason(error: grpc.Call) -> str:
    status, info = rpc_status.from_call(error), error_details_pb2.ErrorInfo()
    for detail in status.details if status else ():
        detail.Unpack(info)
    reason: str = info.reason
    return reason
