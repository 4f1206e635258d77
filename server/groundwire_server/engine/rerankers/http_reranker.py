"""A reranker behind HTTP: the query and the candidates' texts leave this machine for it."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AliasChoices, ConfigDict, FailFast, Field, TypeAdapter, ValidationError

from groundwire_configuration.http_service import HttpService
from groundwire_configuration.service_error import ServiceError
from groundwire_server.domain.errors import RerankerUnavailableError
from groundwire_server.engine.rerankers.rerank import RerankCandidate
from groundwire_server.execution.call import Checkpoint

RerankApi = Literal["rerank", "tei"]
"""`rerank` is what Cohere, Jina, vLLM and others offer, `tei` what Hugging Face's Text Embeddings Inference offers."""

MOST_TEXTS: dict[RerankApi, int] = {"rerank": 100, "tei": 32}
"""How many texts a request brings at most: Cohere charges by a hundred, and TEI takes 32 unless configured."""

MOST_CHARACTERS = 16_384
"""How much of a text is sent: some four thousand tokens, the most that common rerankers read of one."""

_SCORE = Field(ge=0, le=1, allow_inf_nan=False, validation_alias=AliasChoices("relevance_score", "score"))


@dataclass(frozen=True, slots=True)
class _Relevance:
    __pydantic_config__ = ConfigDict(strict=True)

    index: Annotated[int, Field(ge=0)]
    score: Annotated[float, _SCORE]


# Only the first error is reported: millions would take gigabytes.
_Relevances = Annotated[tuple[_Relevance, ...], FailFast()]


@dataclass(frozen=True, slots=True)
class _Results:
    __pydantic_config__ = ConfigDict(strict=True)

    results: _Relevances


_RERANK_REPLY = TypeAdapter(_Results)
_TEI_REPLY = TypeAdapter[tuple[_Relevance, ...]](_Relevances)


def rerank_api(name: str) -> RerankApi:
    """The protocol of that name. Raises ValueError for any other one."""
    for api in MOST_TEXTS:
        if name == api:
            return api
    raise ValueError(f"api={name} must be rerank or tei")


def request_body(api: RerankApi, model: str, query: str, texts: Sequence[str]) -> bytes:
    """The JSON that asks for a score of each text; `model` is left out when it is empty."""
    named = {"model": model} if model else {}
    if api == "tei":
        return json.dumps({**named, "query": query, "texts": texts, "truncate": True}).encode()
    return json.dumps({**named, "query": query, "documents": texts, "top_n": len(texts)}).encode()


def scores_of(api: RerankApi, reply: bytes, count: int) -> list[float]:
    """The scores of a reply, in the order of the `count` texts that were sent.

    Raises RerankerUnavailableError unless it scores each of them once, with a number in [0, 1].
    """
    try:
        relevances = _TEI_REPLY.validate_json(reply) if api == "tei" else _RERANK_REPLY.validate_json(reply).results
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "body"
        raise RerankerUnavailableError(f"gave an unusable reply: {place}: {first['msg']}") from None
    scores = {relevance.index: relevance.score for relevance in relevances}
    if len(relevances) != count or len(scores) != count or max(scores) != count - 1:
        raise RerankerUnavailableError(f"gave {len(relevances)} scores for {count} texts; it must score each once")
    return [scores[position] for position in range(count)]


_LOG = logging.getLogger(__name__)
_SPARE_REPLY_BYTES = 65_536


class HttpReranker:
    """Asks a service for scores in [0, 1], by the protocol `api`; `model` is "" for its only one. Thread-safe.

    A service that fails in any way ends the call with RerankerUnavailableError; there is no order in its place.
    """

    def __init__(self, service: HttpService, api: RerankApi, model: str, widen_factor: int) -> None:
        self.widen_factor = widen_factor
        self._service, self._model = service, model
        self._api: RerankApi = api

    def scores(self, query: str, candidates: Sequence[RerankCandidate], checkpoint: Checkpoint) -> list[float]:
        """Raises RerankerUnavailableError, and what the checkpoint raises while it waits."""
        most = MOST_TEXTS[self._api]
        scores: list[float] = []
        try:
            for start in range(0, len(candidates), most):
                texts = [candidate.text[:MOST_CHARACTERS] for candidate in candidates[start : start + most]]
                scores += self._asked(query, texts, checkpoint)
        except RerankerUnavailableError as error:
            _LOG.warning("%s", error)
            raise
        return scores

    def close(self) -> None:
        """Ends the connections; no call may be under way."""
        self._service.close()

    def _asked(self, query: str, texts: Sequence[str], checkpoint: Checkpoint) -> list[float]:
        body = request_body(self._api, self._model, query, texts)
        # Some services send the texts back; escaped as they are in the request they are as long.
        most = 2 * len(body) + _SPARE_REPLY_BYTES
        try:
            reply = self._service.post(body, most, checkpoint)
        except ServiceError as error:
            raise RerankerUnavailableError(str(error)) from None
        return scores_of(self._api, reply, len(texts))
