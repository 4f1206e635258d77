"""GatherEvidence between protobuf and the domain."""

from collections.abc import Mapping
from datetime import datetime

from groundwire.evidence.evidence_nodes import EdgeReason, MatchReason, NamedNode, NameReason, Passage, PassageForm
from groundwire.v1 import evidence_pb2, scope_pb2
from groundwire_index.nodes.node import Node
from groundwire_index.scope import SEPARATOR, Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.evidence.evidence import EvidenceRequest, EvidenceResult, MatchScores, Weakness
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.expansion import encode_edge
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.location import citation, encode_location
from groundwire_server.rpc.conversions.query import decode_retrievers
from groundwire_server.rpc.conversions.scope import decode_lifecycle, decode_scopes, encode_scopes, numbers_of, scope_of
from groundwire_server.rpc.conversions.search import encode_left_out
from groundwire_server.rpc.conversions.shared_fields import given_fields, shared_fields
from groundwire_server.rpc.conversions.timestamps import decode_timestamp

_FORMS = numbers_of(PassageForm, evidence_pb2.PassageForm)
_given_fields = given_fields(EvidenceRequest, evidence_pb2.GatherEvidenceRequest)
_weakness_fields = shared_fields(Weakness, evidence_pb2.Weakness)
_match_fields = shared_fields(MatchScores, evidence_pb2.PassageMatch)


def decode_evidence(
    request: evidence_pb2.GatherEvidenceRequest, access: AccessContext, now: datetime
) -> EvidenceRequest:
    """The question that a caller with `access` asks at the time `now`."""
    violations = Violations()
    scope, scopes = decode_scopes(request, violations)
    return EvidenceRequest(
        scope=scope,
        scopes=scopes,
        access=access,
        **_given_fields(request),
        now=decode_timestamp(request.now, "now", violations) if request.HasField("now") else now,
        retrievers=decode_retrievers(request.retrievers, violations),
        filter=decode_filter(request.filter, violations),
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
        broken=violations.noted,
    )


def encode_evidence(result: EvidenceResult) -> evidence_pb2.GatherEvidenceResponse:
    """Passages, their edges, named nodes, and the text for a prompt."""
    evidence, scopes = result.evidence, encode_scopes(result.scopes)
    numbers = {**result.earlier, **{passage.node.id: passage.number for passage in evidence.passages}}
    return evidence_pb2.GatherEvidenceResponse(
        passages=[_encode_passage(passage, numbers, result, scopes) for passage in evidence.passages],
        edges=[encode_edge(edge) for edge in evidence.edges],
        named=[
            _encode_named(named, result.nodes[named.node.id], _scope(named.node.id, result, scopes))
            for named in evidence.named
        ],
        weak=None if result.weakness is None else evidence_pb2.Weakness(**_weakness_fields(result.weakness)),
        rendered=evidence.rendered,
        used_tokens=evidence.tokens,
        index=result.index,
        scopes=scopes.values(),
        exact=result.exact,
        further_matches=evidence.further,
        left_out=encode_left_out(result.left_out),
        phrasings=result.phrasings,
    )


def _encode_passage(
    passage: Passage, numbers: Mapping[str, int], result: EvidenceResult, scopes: Mapping[str, scope_pb2.IndexScope]
) -> evidence_pb2.Passage:
    node, first = result.nodes[passage.node.id], passage.node.first_line
    reason = passage.reason
    match, edge = None, None
    if isinstance(reason, MatchReason):
        match = evidence_pb2.PassageMatch(**_match_fields(result.scores[passage.node.id]))
    elif isinstance(reason, EdgeReason):
        edge = evidence_pb2.PassageEdge(number=numbers.get(reason.source_id, 0), edge=encode_edge(reason.edge))
    encoded = evidence_pb2.Passage(
        number=passage.number,
        id=node.id,
        scope=_scope(node.id, result, scopes),
        citation=citation(node.id, node.location),
        location=encode_location(node.location),
        symbol=passage.node.symbol,
        kind=node.kind,
        form=_FORMS[passage.excerpt.form],
        parts=[
            evidence_pb2.PassagePart(start_line=first + part.first if first else 0, text="\n".join(part.lines))
            for part in passage.excerpt.parts
        ],
        match=match,
        edge=edge,
        token_count=passage.tokens,
        node_token_count=node.token_count,
        copies=passage.copies,
        is_test=node.is_test,
        is_generated=node.is_generated,
        explanation=passage.explanation,
    )
    if isinstance(reason, NameReason):
        encoded.name = reason.name
    return encoded


def _encode_named(named: NamedNode, node: Node, scope: scope_pb2.IndexScope) -> evidence_pb2.NamedNode:
    return evidence_pb2.NamedNode(
        id=node.id,
        scope=scope,
        citation=citation(node.id, node.location),
        location=encode_location(node.location),
        symbol=named.node.symbol,
        kind=node.kind,
        node_token_count=node.token_count,
        number=named.number,
    )


def _scope(node_id: str, result: EvidenceResult, scopes: Mapping[str, scope_pb2.IndexScope]) -> scope_pb2.IndexScope:
    """The scope of a node, with its index version."""
    among_several = scope_of(node_id, scopes)
    if among_several is not None:
        return among_several
    repository, branch, _ = node_id.split(SEPARATOR, 2)
    return scope_pb2.IndexScope(**Scope(repository, branch, result.index).names)
