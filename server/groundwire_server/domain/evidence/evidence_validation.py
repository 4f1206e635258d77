"""The rules of GatherEvidence (see `groundwire.v1.GatherEvidenceRequest`)."""

from groundwire.blank_text import is_blank
from groundwire_server.domain import limits
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.evidence.evidence import EvidenceRequest
from groundwire_server.domain.query.query_validation import check_retrievers
from groundwire_server.domain.search.validation import check_filter
from groundwire_server.domain.validation import Violations, check_ids, check_scopes


def check_evidence(request: EvidenceRequest) -> None:
    """Checks a request for evidence. Raises InvalidRequestError."""
    violations = Violations(request.broken)
    check_scopes(request, violations)
    check_filter(request.filter, violations)
    if is_blank(request.question):
        violations.require("question", "give the question; blank text matches nothing")
    if len(request.text) > limits.MAX_QUERY_CHARS:
        rule = f"has {len(request.text)} characters with its phrasings; at most {limits.MAX_QUERY_CHARS} are allowed"
        violations.add("question", Reason.VALUE_OUT_OF_RANGE, rule)
    violations.bound_count("phrasings", request.phrasings, limits.MAX_PHRASINGS)
    for position, phrasing in enumerate(request.phrasings[: limits.MAX_PHRASINGS]):
        if is_blank(phrasing):
            violations.require(f"phrasings[{position}]", "a blank phrasing says nothing; leave it out")
    violations.bound_required(
        "budget_tokens", request.budget_tokens, limits.MIN_EVIDENCE_TOKENS, limits.MAX_EVIDENCE_TOKENS
    )
    violations.bound_share("graph_share", request.graph_share)
    violations.bound_count("shown_ids", request.shown_ids, limits.MAX_SEEDS)
    check_ids("shown_ids", request.shown_ids[: limits.MAX_SEEDS], violations)
    if len(set(request.shown_ids)) < len(request.shown_ids):
        violations.add("shown_ids", Reason.FIELDS_CONFLICT, "has an id twice; a number means one node, so name it once")
    check_retrievers(request.retrievers, request.query_vector, violations)
    violations.raise_any()
