"""Looks after a fuzzed server: that its process lives on, and that nothing in its log speaks of a defect."""

import json

import grpc

from groundwire.v1 import query_pb2
from support.fuzzing.valid_requests import QUERIES, READS, ValidRequest
from support.platform import timeless
from support.program import Server


class ServerWatch:
    """Reads the log as it is written, and forgets what is in order: a million calls make a million lines."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def look(self) -> list[str]:
        """What is wrong since the last look: the process ended, or a line of its log is no report of a call."""
        ended = self._server.process.poll()
        complaints = [] if ended is None else [f"the server ended with {ended}"]
        lines = self._server.log[:]
        del self._server.log[: len(lines)]
        return complaints + [f"the server's log says: {line}" for line in lines if _tells_defect(line)]


def _tells_defect(line: str) -> bool:
    if not line.startswith("{"):
        return "Traceback" in line or "Check failed" in line  # gRPC's core also says there what it cannot parse
    record = json.loads(line)
    return record["level"] == "error" or "exception" in record


def canonical_answers(address: str) -> list[bytes]:
    """The answers to the valid requests, queries' timings left out."""
    with grpc.insecure_channel(address) as channel:
        return [_answer(channel, request) for request in READS]


def _answer(channel: grpc.Channel, request: ValidRequest) -> bytes:
    method: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(request.method)
    try:
        answer = method(request.message.SerializeToString(), timeout=300)
    except grpc.RpcError as error:
        # An index in Milvus has no texts of files, which is an answer like others.
        is_without_files = isinstance(error, grpc.Call) and error.code() is grpc.StatusCode.FAILED_PRECONDITION
        if not (is_without_files and request.method.endswith("/SearchText")):
            raise
        return b""
    return timeless(query_pb2.QueryResponse.FromString(answer)) if request.method == f"{QUERIES}Query" else answer
