"""FetchNodeTexts between protobuf and the domain."""

from groundwire.v1 import retrieval_pb2
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.texts.texts import (
    FetchedText,
    FetchRequest,
    FetchResult,
    PrioritizationMode,
    RequestedText,
    SkipReason,
    StoredText,
)
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.location import citation, encode_location
from groundwire_server.rpc.conversions.scope import (
    decode_lifecycle,
    decode_scopes,
    decoder_of,
    encode_scopes,
    numbers_of,
)
from groundwire_server.rpc.conversions.shared_fields import given_fields, shared_fields

_decode_mode = decoder_of(PrioritizationMode, retrieval_pb2.PrioritizationMode, PrioritizationMode.BALANCED)
SKIP_REASONS = numbers_of(SkipReason, retrieval_pb2.SkipReason)
_given_fields = given_fields(FetchRequest, retrieval_pb2.FetchNodeTextsRequest)
_result_fields = shared_fields(FetchResult, retrieval_pb2.FetchNodeTextsResponse)
_requested_fields = shared_fields(RequestedText, retrieval_pb2.NodeText)
_stored_fields = shared_fields(StoredText, retrieval_pb2.NodeText)


def decode_fetch(request: retrieval_pb2.FetchNodeTextsRequest, access: AccessContext) -> FetchRequest:
    """The texts a caller with `access` asks for."""
    violations = Violations()
    scope, scopes = decode_scopes(request, violations)
    return FetchRequest(
        scope=scope,
        scopes=scopes,
        access=access,
        **_given_fields(request),
        nodes=tuple(RequestedText(node.id, node.depth, node.parent_id) for node in request.nodes),
        mode=_decode_mode(request.prioritization_mode, "prioritization_mode", violations),
        filter=decode_filter(request.filter, violations),
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
        broken=violations.noted,
    )


def encode_fetch(result: FetchResult) -> retrieval_pb2.FetchNodeTextsResponse:
    """The texts, what was skipped and what the texts use."""
    return retrieval_pb2.FetchNodeTextsResponse(
        **_result_fields(result),
        scopes=encode_scopes(result.scopes).values(),
        texts=[_encode_text(text) for text in result.texts],
        skipped=[
            retrieval_pb2.SkippedNode(id=skipped.id, reason=SKIP_REASONS[skipped.reason]) for skipped in result.skipped
        ],
    )


def _encode_text(fetched: FetchedText) -> retrieval_pb2.NodeText:
    requested, stored = fetched.requested, fetched.stored
    return retrieval_pb2.NodeText(
        **_requested_fields(requested),
        **_stored_fields(stored),
        location=encode_location(stored.location),
        citation=citation(requested.id, stored.location),
    )
