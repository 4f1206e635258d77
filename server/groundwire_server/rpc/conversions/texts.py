"""FetchNodeTexts between protobuf and the domain."""

from groundwire.v1 import retrieval_pb2
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.texts.texts import (
    FetchedText,
    FetchRequest,
    FetchResult,
    GraphNode,
    PrioritizationMode,
    SkipReason,
)
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.location import citation, encode_location
from groundwire_server.rpc.conversions.scope import decode_enum, decode_lifecycle, decode_scope, meanings_of, numbers_of

_MODES = meanings_of(PrioritizationMode, retrieval_pb2.PrioritizationMode, PrioritizationMode.BALANCED)
SKIP_REASONS = numbers_of(SkipReason, retrieval_pb2.SkipReason)


def decode_fetch(request: retrieval_pb2.FetchNodeTextsRequest, access: AccessContext) -> FetchRequest:
    """The texts a caller with `access` asks for. Raises InvalidRequestError."""
    violations = Violations()
    decoded = FetchRequest(
        scope=decode_scope(request.scope if request.HasField("scope") else None, violations),
        access=access,
        seed_ids=tuple(request.seed_ids),
        nodes=tuple(GraphNode(node.id, node.depth, node.parent_id) for node in request.nodes),
        budget_tokens=request.budget_tokens if request.HasField("budget_tokens") else None,
        max_chars=request.max_chars if request.HasField("max_chars") else None,
        mode=decode_enum(
            request.prioritization_mode,
            _MODES,
            retrieval_pb2.PrioritizationMode.DESCRIPTOR,
            "prioritization_mode",
            violations,
        ),
        filter=decode_filter(request.filter, violations),
        lifecycle=decode_lifecycle(request, violations),
    )
    violations.raise_any()
    return decoded


def encode_fetch(result: FetchResult) -> retrieval_pb2.FetchNodeTextsResponse:
    """The texts, what was skipped and what the texts use."""
    return retrieval_pb2.FetchNodeTextsResponse(
        texts=[_encode_text(text) for text in result.texts],
        skipped=[
            retrieval_pb2.SkippedNode(id=skipped.id, reason=SKIP_REASONS[skipped.reason]) for skipped in result.skipped
        ],
        used_tokens=result.used_tokens,
        used_chars=result.used_chars,
        index=result.index,
    )


def _encode_text(fetched: FetchedText) -> retrieval_pb2.NodeText:
    stored = fetched.stored
    return retrieval_pb2.NodeText(
        id=fetched.id,
        text=stored.text,
        is_seed=fetched.is_seed,
        depth=fetched.depth,
        parent_id=fetched.parent_id,
        token_count=stored.token_count,
        location=encode_location(stored.location),
        symbol=stored.symbol,
        is_test=stored.is_test,
        is_generated=stored.is_generated,
        citation=citation(fetched.id, stored.location),
    )
