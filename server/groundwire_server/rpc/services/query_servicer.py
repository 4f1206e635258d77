"""Answers the methods of QueryService. Each authorises, decodes, calls the engine once and encodes."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from groundwire.v1 import evidence_pb2, query_pb2
from groundwire_server.execution.observation import stage
from groundwire_server.rpc.calls import RunningCall
from groundwire_server.rpc.conversions.evidence import decode_evidence, encode_evidence
from groundwire_server.rpc.conversions.query import decode_query
from groundwire_server.rpc.conversions.query_result import encode_query
from groundwire_server.rpc.identity.access_control import AccessControl

if TYPE_CHECKING:
    from groundwire_server.engine.engine import RetrievalEngine


class QueryServicer:
    """Answers questions with matches or with evidence.

    `call` is the call under way that a method answers. Every method raises GroundwireError. The server's clock is read
    here and nowhere below.
    """

    def __init__(self, engine: "RetrievalEngine", access_control: AccessControl) -> None:
        self._engine = engine
        self._access_control = access_control

    async def Query(self, request: query_pb2.QueryRequest, call: RunningCall) -> query_pb2.QueryResponse:
        """Returns ranked matches with texts."""
        access, scopes = self._access_control.authorise(request)
        with stage("decode"):
            query = replace(decode_query(request, access, datetime.now(UTC)), granted=scopes)
        call.estimate(query)
        result = await self._engine.query(query, call)
        return await call.encode(encode_query, result, len(result.matches))

    async def GatherEvidence(
        self, request: evidence_pb2.GatherEvidenceRequest, call: RunningCall
    ) -> evidence_pb2.GatherEvidenceResponse:
        """Returns the passages that answer a question, within a budget of tokens."""
        access, scopes = self._access_control.authorise(request)
        with stage("decode"):
            question = replace(decode_evidence(request, access, datetime.now(UTC)), granted=scopes)
        call.estimate(question)
        result = await self._engine.gather_evidence(question, call)
        return await call.encode(encode_evidence, result, len(result.evidence.passages))
