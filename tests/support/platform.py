"""Asks a server over the platform corpus questions, briefly."""

from collections.abc import Sequence
from dataclasses import dataclass

from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, scope_pb2
from support.refusals import with_fields

MAIN = scope_pb2.IndexScope(repository="platform", branch="main")
PLAIN = scope_pb2.IndexScope(repository="platform", branch="plain")
RANKING = scope_pb2.IndexScope(repository="platform", branch="ranking")
BULK = scope_pb2.IndexScope(repository="platform", branch="bulk")
REDEFINED = scope_pb2.IndexScope(repository="platform", branch="redefined")
NOW = "2025-06-01T00:00:00Z"
DENSE, CODE_WORDS, PROSE_WORDS, TRIGRAM = (
    retrieval_pb2.RETRIEVER_DENSE,
    retrieval_pb2.RETRIEVER_BM25_CODE,
    retrieval_pb2.RETRIEVER_BM25_PROSE,
    retrieval_pb2.RETRIEVER_TRIGRAM,
)
EVERYTHING = query_pb2.HybridParameters(top_k=100, min_sim=0, trgm_limit=0)
"""Every node that is not narrowed away is a match, as long as the dense retriever is asked."""


def timestamp(text: str) -> Timestamp:
    """A time as RFC 3339 writes it."""
    message = Timestamp()
    message.FromJsonString(text)
    return message


def keys(response: query_pb2.QueryResponse) -> list[str]:
    """The keys of the matches, `<kind>::<local id>`, without neighbours."""
    return [match.id.removeprefix("platform::main::") for match in response.matches if not match.meta.neighbor]


def match_of(response: query_pb2.QueryResponse, key: str) -> query_pb2.QueryMatch:
    """The match of a key."""
    (match,) = [match for match in response.matches if match.id == f"platform::main::{key}"]
    return match


def timeless(response: query_pb2.QueryResponse) -> bytes:
    """An answer's bytes without its timings."""
    copy = query_pb2.QueryResponse()
    copy.CopyFrom(response)
    copy.meta.took_ms = 0.0
    return copy.SerializeToString()


@dataclass(frozen=True, slots=True)
class Platform:
    """The query service over the platform."""

    stub: query_pb2_grpc.QueryServiceStub

    def request(self, query: str, about: Sequence[float] = (), **fields: object) -> query_pb2.QueryRequest:
        """A query whose topic has the vector `about`, asked at NOW with default parameters."""
        request = query_pb2.QueryRequest(
            scope=MAIN, query=query, query_vector=about, hybrid=query_pb2.HybridParameters(), now=timestamp(NOW)
        )
        return with_fields(request, fields)

    def ask(self, query: str, about: Sequence[float] = (), **fields: object) -> query_pb2.QueryResponse:
        """The answer to that query."""
        return self.stub.Query(self.request(query, about, **fields), timeout=300)
