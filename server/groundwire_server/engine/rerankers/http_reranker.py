"""A reranker behind HTTP: the query and the candidates' texts leave this machine for it."""

import asyncio
import json
import logging
import re
import ssl
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from threading import Thread
from typing import Annotated, Literal

import httpx2
from pydantic import AliasChoices, ConfigDict, FailFast, Field, TypeAdapter, ValidationError

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

SECONDS_BETWEEN_CHECKPOINTS = 0.02
_MOST_TOKEN_BYTES = 16_384
_NO_TOKEN = re.compile(rb"[^\x21-\x7e]")
_SPARE_REPLY_BYTES = 65_536
_OK = 200

Token = Callable[[], str]
"""Gives the bearer token of the next request, "" for none; raises RerankerUnavailableError when it cannot be had."""


@dataclass(frozen=True, slots=True)
class RerankService:
    """Where an HTTP reranker is, what it speaks, which of its models is meant ("" for its only one), and its patience.

    `seconds` is how long one request may take, from connecting to the last byte of the reply.
    """

    url: str
    api: RerankApi
    model: str
    token: Token
    seconds: float


class HttpReranker:
    """Asks a service for scores in [0, 1]. Thread-safe; connections are kept and used again.

    A service that fails in any way ends the call with RerankerUnavailableError; there is no order in its place.
    Nothing that is sent or received is logged. Redirects are not followed, cookies not kept, compression not asked for.
    The proxies that the environment names for https are used, and the CAs of `SSL_CERT_FILE` if it is set.
    """

    def __init__(self, service: RerankService, widen_factor: int) -> None:
        """Connects to nothing yet. Raises ValueError for a URL that no request can be sent to."""
        self.widen_factor = widen_factor
        self._service = service
        try:
            self._url = httpx2.URL(service.url)
        except httpx2.InvalidURL as error:
            raise ValueError(str(error)) from None
        # A loop of its own, because what runs in a loop can be given up at any moment, unlike a thread that reads.
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="groundwire-reranker", daemon=True)
        self._thread.start()
        self._client = httpx2.AsyncClient(
            verify=ssl.create_default_context(),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            headers={"Accept": "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json"},
            timeout=None,  # the whole of a request has a limit instead of its parts
            trust_env=self._url.scheme == "https",
        )

    def scores(self, query: str, candidates: Sequence[RerankCandidate], checkpoint: Checkpoint) -> list[float]:
        """See `Reranker.scores`. Raises RerankerUnavailableError, and what the checkpoint raises while it waits."""
        most = MOST_TEXTS[self._service.api]
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
        """Ends the connections and the thread; no call may be under way."""
        asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _asked(self, query: str, texts: Sequence[str], checkpoint: Checkpoint) -> list[float]:
        service = self._service
        body = request_body(service.api, service.model, query, texts)
        token = service.token()
        reply = _awaited(asyncio.run_coroutine_threadsafe(self._post(body, token), self._loop), checkpoint)
        if isinstance(reply, str):
            raise RerankerUnavailableError(reply)
        return scores_of(service.api, reply, len(texts))

    async def _post(self, body: bytes, token: str) -> bytes | str:
        """The body of the reply, or what went wrong: an error would hold the texts in the frames of its traceback."""
        # Some services send the texts back; escaped as they are in the request they are as long.
        most = 2 * len(body) + _SPARE_REPLY_BYTES
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            async with (
                asyncio.timeout(self._service.seconds),
                self._client.stream("POST", self._url, content=body, headers=headers) as reply,
            ):
                if reply.status_code != _OK:
                    return f"answered with HTTP status {reply.status_code}"
                content = bytearray()
                async for chunk in reply.aiter_raw():
                    content += chunk
                    if len(content) > most:
                        return f"gave a reply of more than {most} bytes"
                return bytes(content)
        except TimeoutError:
            return f"took longer than {self._service.seconds:g} s"
        except httpx2.HTTPError as error:
            return f"cannot be reached: {type(error).__name__}"


def token_in(path: Path) -> Token:
    """The token in a file, read anew for each request, so that one that is changed counts at once."""

    def read() -> str:
        try:
            with path.open("rb") as file:
                token = file.read(_MOST_TOKEN_BYTES + 1).strip()
        except OSError as error:
            raise RerankerUnavailableError(f"needs a token that cannot be read: {error.strerror}") from None
        if not token or len(token) > _MOST_TOKEN_BYTES or _NO_TOKEN.search(token):
            raise RerankerUnavailableError("needs a token that is one word of printable ASCII")
        return token.decode("ascii")

    return read


def _awaited(future: "Future[bytes | str]", checkpoint: Checkpoint) -> bytes | str:
    """Returns the result of the future; when the checkpoint raises first, the future is cancelled."""
    try:
        while not wait([future], SECONDS_BETWEEN_CHECKPOINTS).done:
            checkpoint()
    except BaseException:
        future.cancel()
        raise
    return future.result()
