"""The audit: a record of who read what, for each call of Groundwire's own services.

A record is a line of JSON. It says who asked for what with which access, which index version answered, how the call
ended and how much the answer held. It never has a text, a query or a credential, and ids only where the settings ask
for them. docs/audit.md has its fields.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

import structlog
from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, index_pb2, query_pb2, retrieval_pb2
from groundwire_index.scope import SEPARATOR
from groundwire_server.config import Settings, SettingsError
from groundwire_server.domain.access.access import BOUNDS, AccessContext
from groundwire_server.domain.access.name_sets import ANY, Names
from groundwire_server.domain.errors import AuditUnavailableError
from groundwire_server.rpc.audit_file import AuditFile
from groundwire_server.rpc.conversions.indexes import answering_index
from groundwire_server.rpc.telemetry.call_record import CallRecord, Outcome

BEGUN = "BEGUN"
"""The status in a record that is written before a call changes something."""
_ADMINISTRATION = frozenset({"ActivateIndex", "DeleteIndex"})
_MOST_NAMES = 32
"""How many tags or labels of an access a record has; the number of all is recorded too."""

_Value: TypeAlias = str | int | Sequence[str] | Mapping[str, int] | Mapping[str, str | int | Sequence[str]]
_Record: TypeAlias = dict[str, _Value]
_SEVERAL = (
    retrieval_pb2.SearchNodesResponse
    | retrieval_pb2.ResolveNodesResponse
    | retrieval_pb2.SearchTextResponse
    | retrieval_pb2.ExpandDependencyTreeResponse
    | retrieval_pb2.FindPathsResponse
    | retrieval_pb2.FetchNodeTextsResponse
    | query_pb2.QueryResponse
    | evidence_pb2.GatherEvidenceResponse
)
"""The responses to requests that may be about several scopes."""
_KINDS = ("hits", "nodes", "texts", "matches", "passages", "named", "indexes")
"""The fields of responses that have their parts."""


class AuditLog:
    """Writes records to a file, or to standard output, at once; they are not forced to disk."""

    def __init__(self, settings: Settings) -> None:
        """Raises SettingsError when the file cannot be opened."""
        self._required = settings.audit == "required"
        self._with_ids = settings.audit_ids
        try:
            self._file = AuditFile(settings.audit_file)
        except OSError as error:
            raise SettingsError(
                f"audit_file: {settings.audit_file}: {error.strerror}; name a file that this user may append to"
            ) from error
        self._log = structlog.get_logger()
        self._fails = False
        self.failures = 0
        """How many records could not be written."""

    def begun(self, call: CallRecord) -> None:
        """A call is about to be worked on: those that change something are recorded before they do.

        Raises AuditUnavailableError.
        """
        if call.method_name in _ADMINISTRATION:
            self._write({**_of_call(call), "code": BEGUN})

    def answered(self, call: CallRecord, response: Message) -> None:
        """A call is about to be answered. Raises AuditUnavailableError."""
        kinds = _of_response(response)
        record = {**_of_call(call), "code": "OK", "index": answering_index(response)}
        record["counts"] = {kind: len(parts) for kind, parts in kinds.items()}
        if isinstance(response, _SEVERAL) and response.scopes:
            record["indexes"] = [
                SEPARATOR.join((scope.repository, scope.branch, scope.active_index)) for scope in response.scopes
            ]
        if self._with_ids:
            record["ids"] = [_id(part) for parts in kinds.values() for part in parts]
        self._write(record)

    def refused(self, call: CallRecord, outcome: Outcome) -> None:
        """A call has ended without an answer. Never raises."""
        self._try({**_of_call(call), "code": outcome.code.name, "reason": outcome.reason})

    def close(self) -> None:
        """Writes no more."""
        self._file.close()

    def _write(self, record: _Record) -> None:
        if not self._try(record) and self._required:
            raise AuditUnavailableError

    def _try(self, record: _Record) -> bool:
        """True if the record was written. The log says when writing begins to fail, and when it works again."""
        try:
            self._file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            self.failures += 1
            if not self._fails:
                self._log.error("calls cannot be recorded", problem=str(error), required=self._required)
            self._fails = True
            return False
        if self._fails:
            self._log.info("calls can be recorded again")
        self._fails = False
        return True


def _of_call(call: CallRecord) -> _Record:
    record: _Record = {
        "time": datetime.now(UTC).isoformat(timespec="microseconds"),
        "request_id": call.headers.request_id,
        "method": call.method,
        "peer": call.peer,
        "subject": call.caller.subject,
    }
    if len(call.scopes) == 1:
        record |= call.scopes[0].names
    elif call.scopes:
        record["scopes"] = [SEPARATOR.join(scope.names.values()) for scope in call.scopes]
    if call.access is not None:
        record["access"] = _of_access(call.access)
    return record


def _of_access(access: AccessContext) -> Mapping[str, str | int | Sequence[str]]:
    return {
        "tenant_id": access.tenant_id,
        "acl_tags": sorted(access.acl_tags_any)[:_MOST_NAMES],
        "acl_tags_count": len(access.acl_tags_any),
        "classification_labels": sorted(access.classification_labels_all)[:_MOST_NAMES],
        "classification_labels_count": len(access.classification_labels_all),
        "clearance_level": access.clearance_level,
        **{key: value for name in BOUNDS for key, value in _of_bound(name, getattr(access.bounds, name)).items()},
    }


def _of_bound(name: str, names: Names | None) -> Mapping[str, int | Sequence[str]]:
    """The caller's bounds, as an operator writes them; nothing for a caller without bounds."""
    if names is None:
        return {}
    patterns = sorted((*names.listed, *(f"{prefix}{ANY}" for prefix in names.prefixes)))
    return {name: patterns[:_MOST_NAMES], f"{name}_count": len(patterns)}


def _of_response(response: Message) -> Mapping[str, Sequence[Message]]:
    """The parts of an answer, by kind."""
    parts = {kind: getattr(response, kind) for kind in _KINDS if hasattr(response, kind)}
    if isinstance(response, retrieval_pb2.ResolveNodesResponse):
        parts["nodes"] = [node for name in response.names for node in (*name.nodes, *name.similar)]
    if isinstance(response, query_pb2.QueryResponse):
        parts["parents"] = [parent for match in response.matches for parent in match.meta.parents]
    return parts


def _id(part: Message) -> str:
    """A node's id, that of the node which holds a line, an index's version."""
    field = "id"
    if isinstance(part, index_pb2.IndexVersion):
        field = "version"
    elif isinstance(part, retrieval_pb2.LineMatch):
        field = "node_id"
    identity: str = getattr(part, field)
    return identity
