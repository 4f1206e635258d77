"""Where a caller's access comes from (design §4): the server's configuration decides, never the request."""

from typing import Protocol, TypeAlias, TypeVar

import grpc.aio

from groundwire.v1 import index_pb2, query_pb2, retrieval_pb2
from groundwire_server.domain.access import AccessContext
from groundwire_server.rpc.conversions.scope import decode_access

Response = TypeVar("Response")

AccessRequest: TypeAlias = (
    retrieval_pb2.SearchNodesRequest
    | retrieval_pb2.ExpandDependencyTreeRequest
    | retrieval_pb2.FetchNodeTextsRequest
    | query_pb2.QueryRequest
    | index_pb2.ListIndexesRequest
    | index_pb2.GetIndexRequest
)
AccessRequestT = TypeVar("AccessRequestT", bound=AccessRequest)


class AccessResolver(Protocol):
    """Decides what the caller of a request may see.

    An implementation may read the caller's identity from `context` (metadata, peer certificate) and whether the
    request has an `access` at all; it runs on the event loop, so it must be quick and must not block.
    """

    def resolve(
        self, request: AccessRequestT, context: grpc.aio.ServicerContext[AccessRequestT, Response]
    ) -> AccessContext:
        """The access to answer with. Raises InvalidRequestError when the request's own breaks the contract."""
        ...


class TrustedAccess:
    """Mode `trusted`: the request's AccessContext as it stands, for a mesh that has authenticated the caller.

    An absent one is the empty one, which sees public nodes only.
    """

    def resolve(
        self, request: AccessRequestT, context: grpc.aio.ServicerContext[AccessRequestT, Response]
    ) -> AccessContext:
        """What the request claims. Raises InvalidRequestError."""
        return decode_access(request.access)
