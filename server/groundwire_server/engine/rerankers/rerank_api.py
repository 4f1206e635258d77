"""The requests to HTTP rerankers and their replies: two forms of the same interface."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AliasChoices, ConfigDict, FailFast, Field, TypeAdapter, ValidationError

from groundwire_server.domain.errors import RerankerUnavailableError

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
