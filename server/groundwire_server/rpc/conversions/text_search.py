"""SearchText between protobuf and the domain."""

from groundwire.v1 import retrieval_pb2
from groundwire_index.limits import RESPONSE_BYTES
from groundwire_index.scope import id_prefix
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.response_size import Room
from groundwire_server.domain.search.search import NodeLabel
from groundwire_server.domain.text_search.text_search import LineMatch, TextSearchRequest, TextSearchResult
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.scope import decode_lifecycle, decode_scopes, encode_scopes, scope_of
from groundwire_server.rpc.conversions.shared_fields import given_fields, shared_fields

_BYTES_OF_A_FIELD = 5
"""The most bytes of the tag and length of a message of the response."""
_given_fields = given_fields(TextSearchRequest, retrieval_pb2.SearchTextRequest)
_match_fields = shared_fields(LineMatch, retrieval_pb2.LineMatch)
_label_fields = shared_fields(NodeLabel, retrieval_pb2.LineMatch)


def decode_text_search(request: retrieval_pb2.SearchTextRequest, access: AccessContext) -> TextSearchRequest:
    """The lines that a caller with `access` looks for."""
    violations = Violations()
    scope, scopes = decode_scopes(request, violations)
    return TextSearchRequest(
        scope=scope,
        scopes=scopes,
        access=access,
        **_given_fields(request),
        filter=decode_filter(request.filter, violations),
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
        broken=violations.noted,
    )


def encode_text_search(result: TextSearchResult) -> retrieval_pb2.SearchTextResponse:
    """The matching lines and the files that they are in, as many as the response has room for."""
    scopes = encode_scopes(result.scopes)
    line_count = sum(file.line_count for file in result.files)
    response = retrieval_pb2.SearchTextResponse(
        line_count=line_count,
        file_count=len(result.files),
        stopped=result.stopped,
        index=result.index,
        scopes=scopes.values(),
    )
    room = Room(RESPONSE_BYTES - response.ByteSize() - _BYTES_OF_A_FIELD)
    # Each part is measured once it is made. So a response takes no more memory than it may have bytes, and one part.
    for match in result.matches:
        line = response.matches.add(
            **_match_fields(match),
            **_label_fields(match.node),
            path=match.node.location.path,
            node_id=match.node.id,
            text=match.shown.text,
            text_column=match.shown.column,
            scope=scope_of(match.node.id, scopes),
            url=_url(match),
        )
        if not room.take(line.ByteSize() + _BYTES_OF_A_FIELD):
            del response.matches[-1]
            break
    for file in result.files:
        counted = response.files.add(
            path=file.path,
            line_count=file.line_count,
            scope=scopes[id_prefix(file.scope)] if scopes else None,
            url=file.url,
        )
        if not room.take(counted.ByteSize() + _BYTES_OF_A_FIELD):
            del response.files[-1]
            break
    response.complete = not result.stopped and len(response.matches) == line_count
    return response


def _url(match: LineMatch) -> str:
    """The link to the lines of a match; a node without lines has numbers of its own."""
    location = match.node.location
    return location.url_of_lines(match.line, match.end_line) if location.start_line else location.url
