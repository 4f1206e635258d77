"""Typed errors: each names a reason, and bad input names the field and the rule.

The reasons mirror `groundwire.v1.ErrorReason`; the wire statuses they map to have their
one home in `groundwire_server.rpc.error_table`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a call was refused. Each is a `groundwire.v1.ErrorReason` without its prefix."""

    FIELD_REQUIRED = "FIELD_REQUIRED"
    VALUE_OUT_OF_RANGE = "VALUE_OUT_OF_RANGE"
    VALUE_MALFORMED = "VALUE_MALFORMED"
    VALUE_UNKNOWN = "VALUE_UNKNOWN"
    FIELDS_CONFLICT = "FIELDS_CONFLICT"
    SCOPE_NOT_FOUND = "SCOPE_NOT_FOUND"
    INDEX_NOT_FOUND = "INDEX_NOT_FOUND"
    INDEX_GONE = "INDEX_GONE"
    INDEX_DAMAGED = "INDEX_DAMAGED"
    INDEX_ACTIVE = "INDEX_ACTIVE"
    VECTORS_MISSING = "VECTORS_MISSING"
    LEXICAL_MISSING = "LEXICAL_MISSING"
    SOURCES_MISSING = "SOURCES_MISSING"
    EMBEDDER_MISMATCH = "EMBEDDER_MISMATCH"
    RERANKER_NOT_CONFIGURED = "RERANKER_NOT_CONFIGURED"
    PHRASING_NOT_CONFIGURED = "PHRASING_NOT_CONFIGURED"
    OVERLOADED = "OVERLOADED"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    CANCELLED = "CANCELLED"
    ADMINISTRATION_DISABLED = "ADMINISTRATION_DISABLED"
    NO_MATCHES = "NO_MATCHES"
    LIFECYCLE_NOT_GRANTED = "LIFECYCLE_NOT_GRANTED"
    IDENTITY_REQUIRED = "IDENTITY_REQUIRED"
    IDENTITY_REFUSED = "IDENTITY_REFUSED"
    IDENTITY_UNAVAILABLE = "IDENTITY_UNAVAILABLE"
    SCOPE_NOT_GRANTED = "SCOPE_NOT_GRANTED"
    TENANT_NOT_GRANTED = "TENANT_NOT_GRANTED"
    ADMINISTRATION_NOT_GRANTED = "ADMINISTRATION_NOT_GRANTED"
    AUDIT_UNAVAILABLE = "AUDIT_UNAVAILABLE"
    RERANKER_UNAVAILABLE = "RERANKER_UNAVAILABLE"
    PHRASING_UNAVAILABLE = "PHRASING_UNAVAILABLE"
    BACKEND_UNAVAILABLE = "BACKEND_UNAVAILABLE"
    EMBEDDER_UNAVAILABLE = "EMBEDDER_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One broken rule of a request: the field's proto path, what was wrong and what to do."""

    field: str
    reason: Reason
    description: str


class GroundwireError(Exception):
    """Base of every error that a caller may see. The message is safe to send to the caller."""

    def __init__(self, reason: Reason, message: str, metadata: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.metadata: Mapping[str, str] = dict(metadata or {})


class InvalidRequestError(GroundwireError):
    """The request violates the contract; nothing was done."""

    def __init__(self, violations: tuple[FieldViolation, ...]) -> None:
        first = violations[0]
        super().__init__(
            first.reason,
            "; ".join(f"{violation.field}: {violation.description}" for violation in violations),
            {"field": first.field},
        )
        self.violations = violations


class NotFoundError(GroundwireError):
    """The scope or index does not exist, or the caller may not know that it does."""


class UnauthenticatedError(GroundwireError):
    """The caller is not identified. Messages say which rule failed and never what was presented."""


class IdentityUnavailableError(GroundwireError):
    """The server cannot identify the caller at present; another try makes sense."""


class AuditUnavailableError(GroundwireError):
    """Calls must be recorded, and this one cannot be; its answer is withheld."""

    def __init__(self) -> None:
        super().__init__(
            Reason.AUDIT_UNAVAILABLE, "this call must be recorded and cannot be at present; try again later"
        )


class RerankerUnavailableError(GroundwireError):
    """The reranker that the server asks gives no usable scores; `rule` says what it did, and holds nothing it sent."""

    def __init__(self, rule: str) -> None:
        super().__init__(Reason.RERANKER_UNAVAILABLE, f"the reranker {rule}; try again later, or ask without `rerank`")
        self.rule = rule


class PhrasingUnavailableError(GroundwireError):
    """The model that the server asks gives no phrasings; `rule` says what it did, and holds nothing it sent."""

    def __init__(self, rule: str) -> None:
        super().__init__(
            Reason.PHRASING_UNAVAILABLE,
            f"the phrasing service {rule}; try again later, or send `phrasings` in place of `phrase`",
        )
        self.rule = rule


class EmbeddingServiceUnavailableError(GroundwireError):
    """The service that embeds queries gives no usable vector; `rule` says what it did, and holds nothing it sent."""

    def __init__(self, rule: str) -> None:
        super().__init__(
            Reason.EMBEDDER_UNAVAILABLE,
            f"the embedding service {rule}; try again later, send query_vector, or search by words (BM25)",
        )


class BackendUnavailableError(GroundwireError):
    """The storage of the indexes does not answer, or refuses the request; another try makes sense.

    `cause` is for the log only, and has no part of the request.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(
            Reason.BACKEND_UNAVAILABLE,
            "the storage of the indexes does not answer, or refuses the request; try again later",
        )
        self.cause = cause


class PermissionDeniedError(GroundwireError):
    """The server's configuration, or what the caller's identity grants, does not allow the call."""


class PreconditionError(GroundwireError):
    """The index or the server lacks what the call needs."""


class LimitError(GroundwireError):
    """A limit was hit; `retry_after_seconds` says when another try makes sense."""

    def __init__(
        self, reason: Reason, message: str, retry_after_seconds: float, metadata: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(reason, message, metadata)
        self.retry_after_seconds = retry_after_seconds


class DeadlineError(GroundwireError):
    """The caller's deadline, or a limit of the server's, passed before the call was done."""

    def __init__(self, message: str = "the deadline passed before the call was done") -> None:
        super().__init__(Reason.DEADLINE_EXCEEDED, message)


class CancelledError(GroundwireError):
    """The caller gave the call up; work stopped between two stages."""

    def __init__(self) -> None:
        super().__init__(Reason.CANCELLED, "the caller cancelled the call")
