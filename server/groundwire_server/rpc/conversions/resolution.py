"""ResolveNodes between protobuf and the domain."""

from collections.abc import Iterator, Mapping, Sequence

from groundwire.v1 import retrieval_pb2, scope_pb2
from groundwire_index.limits import RESPONSE_BYTES
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.response_size import Room
from groundwire_server.domain.search.resolution import NamedNode, NameMatch, ResolvedName, ResolveRequest, ResolveResult
from groundwire_server.domain.search.search import Declaration, NodeLabel
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.location import citation, encode_location
from groundwire_server.rpc.conversions.scope import decode_lifecycle, decode_scopes, encode_scopes, numbers_of, scope_of
from groundwire_server.rpc.conversions.shared_fields import given_fields, shared_fields

_BYTES_OF_A_LENGTH = 5
"""The tag and length of a node within a name, and as much again for what it adds to the length of the name."""
_NAME_MATCHES = numbers_of(NameMatch, retrieval_pb2.NameMatch)
_given_fields = given_fields(ResolveRequest, retrieval_pb2.ResolveNodesRequest)
_name_fields = shared_fields(ResolvedName, retrieval_pb2.ResolvedName)
_label_fields = shared_fields(NodeLabel, retrieval_pb2.ResolvedNode)
_declaration_fields = shared_fields(Declaration, retrieval_pb2.ResolvedNode)


def decode_resolve(request: retrieval_pb2.ResolveNodesRequest, access: AccessContext) -> ResolveRequest:
    """The names that a caller with `access` asks for."""
    violations = Violations()
    scope, scopes = decode_scopes(request, violations)
    return ResolveRequest(
        scope=scope,
        scopes=scopes,
        access=access,
        **_given_fields(request),
        filter=decode_filter(request.filter, violations),
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
        broken=violations.noted,
    )


def encode_resolution(result: ResolveResult) -> retrieval_pb2.ResolveNodesResponse:
    """What each name means, with as many nodes as the response has room for, those of the first names first."""
    scopes = encode_scopes(result.scopes)
    response = retrieval_pb2.ResolveNodesResponse(
        names=[
            retrieval_pb2.ResolvedName(
                **_name_fields(name),
                match=_NAME_MATCHES[name.match] if name.match else retrieval_pb2.NAME_MATCH_UNSPECIFIED,
                ambiguous=name.is_ambiguous,
                exact=name.is_exact,
            )
            for name in result.names
        ],
        index=result.index,
        scopes=scopes.values(),
    )
    room = Room(RESPONSE_BYTES - response.ByteSize() - 2 * _BYTES_OF_A_LENGTH * len(result.names))
    for message, name in zip(response.names, result.names, strict=True):
        message.nodes.extend(_fitting(name.nodes, scopes, room))
        message.similar.extend(_fitting(name.similar, scopes, room))
    return response


def _fitting(
    nodes: Sequence[NamedNode], scopes: Mapping[str, scope_pb2.IndexScope], room: Room
) -> Iterator[retrieval_pb2.ResolvedNode]:
    """The first nodes for which there is room."""
    for node in nodes:
        message = _encode_node(node, scopes)
        if not room.take(message.ByteSize() + 2 * _BYTES_OF_A_LENGTH):
            return
        yield message


def _encode_node(node: NamedNode, scopes: Mapping[str, scope_pb2.IndexScope]) -> retrieval_pb2.ResolvedNode:
    label = node.label
    return retrieval_pb2.ResolvedNode(
        **_label_fields(label),
        **_declaration_fields(node.declaration),
        location=encode_location(label.location),
        citation=citation(label.id, label.location),
        scope=scope_of(label.id, scopes),
    )
