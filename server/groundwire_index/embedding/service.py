"""The embedder that asks a service over HTTP: OpenAI's `/v1/embeddings`, or `/embed` of Text Embeddings Inference.

`groundwire_configuration.model_service` says how it is named. A service may give other bits for the same text, so its
fingerprint covers what is asked, not what is answered. Vectors of fixed texts, which an index stores, tell later
whether the model is still the same.
"""

import base64
import hashlib
import json
import logging
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Event
from time import monotonic, sleep
from typing import Literal
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from groundwire_configuration.http_service import HttpService, Token
from groundwire_configuration.model_service import model_service
from groundwire_configuration.service_error import ServiceError
from groundwire_index.embedding.embedder import EmbedderError, EmbedderUnavailableError, agree, probed, unit_length

EmbeddingApi = Literal["openai", "tei"]
MOST_TEXTS: dict[EmbeddingApi, int] = {"openai": 64, "tei": 32}
"""How many texts a request brings at most; TEI takes 32 unless configured."""
MOST_CHARACTERS = 16_384
"""How much of a text is sent: some four thousand tokens."""
MOST_TOKENS_A_REQUEST = 16_384
"""TEI computes no more at once unless it is configured otherwise; OpenAI takes 300,000."""
REQUESTS_AT_ONCE = 4
REQUEST_SECONDS = 60.0
PATIENCE_SECONDS = 600.0
"""How long a build waits for a service that is away or limits its rate."""

PROBES = ("def add(left, right):\n    return left + right", "Where is the price of an order with a discount computed?")

PROMPTS: dict[str, tuple[str, str]] = {
    "e5-": ("query: ", "passage: "),
    "bge-m3": ("", ""),
    "bge-": ("Represent this sentence for searching relevant passages: ", ""),
    "mxbai-embed": ("Represent this sentence for searching relevant passages: ", ""),
    "arctic-embed": ("query: ", ""),
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "nomic-embed-code": ("Represent this query for searching relevant code: ", ""),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "qwen3-embedding": ("Instruct: Given a question, retrieve the code that answers it\nQuery: ", ""),
}
"""The prompts of queries and of texts, by what the name of a model has in it; the first one counts."""

_LOG = logging.getLogger(__name__)
_PRICE = re.compile(r"\d{1,6}(\.\d{1,6})?")
_LEAST_CHARACTERS = 256
_TOO_LONG = frozenset({400, 413, 422})
_FAILURES_IN_A_ROW, _PAUSE_SECONDS, _SILENT_SECONDS = 3, 5.0, 2.0
_BYTES_A_VECTOR = 1 << 18
Checkpoint = Callable[[], None]
Vectors = NDArray[np.float32]


class ServiceEmbedder:
    """Embeds by a service. Thread-safe; nothing is sent before the first vector is needed."""

    def __init__(self, url: str, token: Token, seconds: float = REQUEST_SECONDS) -> None:
        """Raises ValueError for a URL or an option that cannot be used."""
        named = model_service(url, seconds, ("dimensions", "price", "query_prompt", "text_prompt"))
        parts, options = urlsplit(named.url), named.options
        self._api: EmbeddingApi = "tei" if parts.path.endswith("/embed") else "openai"
        self._model = named.model
        dimensions, price = options.get("dimensions", "0"), options.get("price", "0")
        problem = (
            "the path must end in /embeddings (OpenAI's protocol) or /embed (Text Embeddings Inference)"
            if not parts.path.endswith(("/embeddings", "/embed"))
            else "OpenAI's protocol needs a model: append #model=NAME"
            if self._api == "openai" and not self._model
            else f"dimensions={dimensions} must be a number of 1 to 65536"
            if "dimensions" in options and not (dimensions.isdecimal() and 0 < int(dimensions) <= 65_536)
            else f"price={price} must be the price of a million tokens, such as 0.02"
            if not _PRICE.fullmatch(price)
            else ""
        )
        if problem:
            raise ValueError(problem)
        known = next((prompts for part, prompts in PROMPTS.items() if part in self._model.lower()), ("", ""))
        self._query_prompt = options.get("query_prompt", known[0])
        self._text_prompt = options.get("text_prompt", known[1])
        self._dimensions, self.price = int(dimensions), float(price)
        self.host = parts.hostname or ""
        self.name = self._model or self.host
        described = [self._api, self.name, self._dimensions, self._query_prompt, self._text_prompt]
        self.fingerprint = hashlib.sha256(json.dumps(described).encode()).hexdigest()
        self._service = HttpService(named.url, token, named.seconds)
        self._has_answered = False
        self._dimension = self._dimensions
        self._failures, self._paused_until, self._limited_until, self._heard_at = 0, 0.0, 0.0, 0.0
        self._checked: set[tuple[str, ...]] = set()

    @property
    def dimension(self) -> int:
        """The length of every vector; asks the service the first time. Raises EmbedderError."""
        self._dimension = self._dimension or int(self.embed_texts(PROBES[:1]).shape[1])
        return self._dimension

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Waits for a service that has answered before. Raises EmbedderError."""
        batches = self.embed_counted(lambda first, last: texts[first:last], [0] * len(texts))
        return np.concatenate([vectors for _, _, vectors in batches])

    def embed_counted(
        self, read: Callable[[int, int], Sequence[str]], tokens: Sequence[int]
    ) -> Iterator[tuple[int, Sequence[str], Vectors]]:
        """Waits and raises as `embed_texts` does."""
        spans, failure, is_left = self._spans(tokens), None, Event()

        def checkpoint() -> None:
            if is_left.is_set():
                raise ServiceError("is waited for no longer")

        def ask(span: tuple[int, int]) -> tuple[int, Sequence[str], Future[Vectors]]:
            texts = read(*span)
            return span[0], texts, pool.submit(self._embedded, self._sent(texts), checkpoint)

        with ThreadPoolExecutor(REQUESTS_AT_ONCE, thread_name_prefix="embed") as pool:
            try:
                pending = deque(map(ask, islice(spans, REQUESTS_AT_ONCE)))
                while pending:
                    first, texts, future = pending.popleft()
                    try:
                        vectors = future.result() if failure else self._patiently(self._sent(texts), future)
                    except (EmbedderError, ServiceError) as error:  # what is under way is paid, so it is kept
                        failure, spans = failure or error, iter(())
                        continue
                    pending.extend(map(ask, islice(spans, 1)))
                    yield first, texts, vectors
            finally:
                is_left.set()
        if failure is not None:
            raise failure

    def embed_query(self, text: str) -> Vectors:
        """Waits and raises as `embed_texts` does."""
        vector: Vectors = self._patiently([self._query_prompt + text[:MOST_CHARACTERS]])[0]
        return vector

    def close(self) -> None:
        """Ends the connections; no call may be under way."""
        self._service.close()

    def probes(self) -> tuple[str, ...]:
        """The vectors of a fixed text and a fixed query, for `query_embedder`."""
        return tuple(
            base64.b64encode(vector.astype("<f4").tobytes()).decode()
            for vector in (self.embed_texts(PROBES[:1])[0], self.embed_query(PROBES[1]))
        )

    def query_embedder(self, probes: tuple[str, ...]) -> Callable[[str, Checkpoint], Vectors]:
        """Embeds queries for an index with these probes, which are compared once.

        After three failures in a row the service is left alone for five seconds. A text that it refuses is no failure,
        since any caller can send one. Calls that the checkpoint ends are one failure together when the service has
        answered no call for two seconds. The function raises ServiceError, EmbedderUnavailableError, and what the
        checkpoint raises.
        """

        def embed(query: str, checkpoint: Checkpoint) -> Vectors:
            began = monotonic()
            if began < self._paused_until:
                raise ServiceError("failed several times and is left alone for some seconds", may_pass=True)
            try:
                if probes not in self._checked:
                    self._check(probes, checkpoint)
                vector: Vectors = self._embedded([self._query_prompt + query[:MOST_CHARACTERS]], checkpoint)[0]
            except BaseException as error:
                is_silent = monotonic() - max(began, self._heard_at) >= _SILENT_SECONDS
                if error.may_pass if isinstance(error, ServiceError) else is_silent:
                    self._failures, self._heard_at = self._failures + 1, monotonic()
                    if self._failures >= _FAILURES_IN_A_ROW:
                        self._paused_until = self._heard_at + _PAUSE_SECONDS
                raise
            self._failures = 0
            return vector

        return embed

    def _check(self, probes: tuple[str, ...], checkpoint: Checkpoint) -> None:
        prompted_probes = [self._text_prompt + PROBES[0], self._query_prompt + PROBES[1]]
        for vector, probe in zip(self._embedded(prompted_probes, checkpoint), probes, strict=True):
            if not agree(vector, probed(probe)):
                raise EmbedderUnavailableError(
                    f"the model {self.name!r} of the service is not the one that the index was made with: "
                    "put that one back, or index anew"
                )
        self._checked.add(probes)

    def _spans(self, tokens: Sequence[int]) -> Iterator[tuple[int, int]]:
        """The texts of each request: the number of the first, and of the first behind the last."""
        first, size = 0, 0
        for number, count in enumerate(tokens):
            if number > first and (number - first == MOST_TEXTS[self._api] or size + count > MOST_TOKENS_A_REQUEST):
                yield first, number
                first, size = number, 0
            size += count
        if len(tokens):
            yield first, len(tokens)

    def _sent(self, texts: Sequence[str]) -> list[str]:
        return [self._text_prompt + text[:MOST_CHARACTERS] for text in texts]

    def _patiently(self, texts: list[str], first: Future[Vectors] | None = None) -> Vectors:
        """Waits while the service is away. Texts that are too long for the model are halved, each on its own.

        `first` is the first try, if that has begun already.
        """
        pause, end = 1.0, monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self._embedded(texts, _never_stop) if first is None else first.result()
            except ServiceError as error:
                first = None
                if error.status in _TOO_LONG and len(texts) > 1:
                    return np.concatenate([self._patiently([text]) for text in texts])
                if error.status in _TOO_LONG and len(texts[0]) > _LEAST_CHARACTERS:
                    texts = [texts[0][: len(texts[0]) // 2]]
                    continue
                waits = max(pause, self._limited_until - monotonic())
                is_wrong = not error.status and not self._has_answered
                if is_wrong or not error.may_pass or monotonic() + waits > end:
                    raise EmbedderError(
                        f"the embedding service at {self.host} {error}; the next run goes on from there"
                    ) from None
                _LOG.warning("the embedding service at %s %s; the next try is in %g s", self.host, error, waits)
            sleep(waits)
            pause = min(2.0 * pause, 60.0)

    def _embedded(self, texts: Sequence[str], checkpoint: Checkpoint) -> Vectors:
        named = {"model": self._model} if self._model else {}
        sized = {"dimensions": self._dimensions} if self._dimensions else {}
        body_fields = (
            {"inputs": texts, "truncate": True} if self._api == "tei" else {"input": texts, "encoding_format": "float"}
        )
        body = json.dumps({**named, **sized, **body_fields}).encode()
        try:
            reply = self._service.post(body, _BYTES_A_VECTOR * (1 + len(texts)), checkpoint)
        except ServiceError as error:
            self._limited_until = max(self._limited_until, monotonic() + error.wait_seconds)
            raise
        self._has_answered, self._heard_at = True, monotonic()
        return self._vectors_of(reply, len(texts))

    def _vectors_of(self, reply: bytes, count: int) -> Vectors:
        """The vectors [count, dimension] of a reply. Raises ServiceError."""
        try:
            content = json.loads(reply)
            if self._api == "openai":
                content = [
                    entry["embedding"] for entry in sorted(content["data"], key=lambda entry: int(entry["index"]))
                ]
            vectors = np.asarray(content, dtype=np.float64)
            if vectors.ndim != 2 or len(vectors) != count or (self._dimension or vectors.shape[1]) != vectors.shape[1]:
                due = f" where {self._dimension} numbers are due" if self._dimension else ""
                raise ServiceError(f"gave vectors of the shape {vectors.shape} for {count} texts{due}")
            return np.stack([unit_length(vector) for vector in vectors])
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise ServiceError("gave a reply without a usable vector for each text") from None


def _never_stop() -> None:
    """The checkpoint of a build."""
