"""A language model behind any OpenAI-compatible endpoint. Needs the extra `models`."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote

import httpx2
import openai
from openai._streaming import ServerSentEvent
from pydantic import JsonValue, ValidationError

from groundwire.evidence.counter import Counter
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.models.endpoint import URL_VARIABLE, ModelEndpoint
from groundwire_pipelines.models.replies import Chunk, Completion, Usage
from groundwire_pipelines.models.retry_after import MOST_WAIT_SECONDS, wait_seconds
from groundwire_pipelines.runtime import ModelAnswer, ModelRequest

_QUOTED_CHARACTERS = 300
"""The most characters that an error message quotes of the endpoint's."""

_PATH: Final = "/chat/completions"

MAX_REPLY_BYTES: Final = 32 * 1024 * 1024
"""The most bytes of a reply, streamed or not; enough for the longest answers in pieces of one token."""

_CUT: Final = ("length", "content_filter")
"""The finish reasons of an answer that was cut off. Endpoints have many names for the other reasons."""

_RULES: tuple[tuple[type[openai.OpenAIError], str], ...] = (
    (openai.APIConnectionError, "model-unreachable"),
    (openai.AuthenticationError, "model-unauthorised"),
    (openai.PermissionDeniedError, "model-unauthorised"),
    (openai.NotFoundError, "model-not-found"),
    (openai.RateLimitError, "model-overloaded"),
    (openai.InternalServerError, "model-failed"),
    (openai.APIStatusError, "model-request-refused"),
)
"""The rule of a failure: that of the first class that it is an instance of, else `model-failed`."""
_PASSING_STATUS: Final = (408, 409, 429)
"""Statuses of temporary failures, besides those from 500 on."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """An endpoint's reply, streamed or not; `cut` is the reason if it was cut off, else empty."""

    text: str
    cut: str
    usage: Usage | None


class _Chunks(openai.AsyncStream[object]):
    """The pieces of a streamed answer; `is_complete` once the endpoint has ended it."""

    is_complete = False

    async def _iter_events(self) -> AsyncIterator[ServerSentEvent]:
        async for event in super()._iter_events():
            self.is_complete = self.is_complete or event.data.startswith("[DONE]")
            yield event


class _RefusedReplyError(Exception):
    """A reply that an endpoint must not send. The client wraps this error, except in streams."""


class _Bounded(httpx2.AsyncByteStream):
    """A reply as it comes. Raises _RefusedReplyError behind `max_bytes`."""

    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > self._max_bytes:
                raise _RefusedReplyError(f"sent more than {self._max_bytes} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(max_bytes: int, response: httpx2.Response) -> None:
    """Limits a reply to what is read of it; a compressed one could expand to any size."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise _RefusedReplyError("sent a compressed reply, which was not asked for")
    assert isinstance(response.stream, httpx2.AsyncByteStream), "of a client that is asynchronous"
    response.stream = _Bounded(response.stream, max_bytes)


class OpenAIModel:
    """Calls the models of one endpoint; implements `runtime.Model`.

    Every call opens a connection of its own, which is fast compared with an answer, and closes it. So one object serves
    any number of concurrent runs, in any event loops.
    """

    def __init__(self, endpoint: ModelEndpoint, counter: Counter, max_reply_bytes: int = MAX_REPLY_BYTES) -> None:
        self._max_reply_bytes = max_reply_bytes
        self._endpoint = endpoint
        self._counter = counter

    async def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        """Answers a request; calls `on_text`, if given, with pieces of the answer as they arrive.

        Tokens are those that the endpoint reports, else counted with the shared counter. Reasoning that the endpoint
        sends apart from the answer is left out.

        Raises:
            StepError: One of `model-timeout`, `model-unreachable`, `model-unauthorised`, `model-not-found`,
                `model-overloaded`, `model-request-refused`, `model-failed`; `model-malformed` when the endpoint does
                not speak the protocol or sends more than `max_reply_bytes`; `model-answer-cut` when the model stopped
                before its end.
        """
        body = _body(request, request.model or self._endpoint.name)
        place = f"the model {body['model']} at {_without_login(self._endpoint.url)}"
        seconds = self._endpoint.timeout_seconds
        try:
            async with self._client() as client, asyncio.timeout(seconds) as limit:
                if on_text is None:
                    reply = await _whole(client, body)
                else:
                    reply = await _streamed(client, body, on_text, partial(_prolong, limit, seconds))
        except TimeoutError as error:
            raise StepError(
                "model-timeout",
                f"{place} sent nothing more for {seconds:g} s: raise `seconds` of {URL_VARIABLE}",
                may_pass=True,
            ) from error
        except openai.OpenAIError as error:
            raise _failure(error, place, self._endpoint.key) from error
        except _RefusedReplyError as error:
            raise _refused(error, place) from error
        except (json.JSONDecodeError, RecursionError) as error:
            raise StepError("model-malformed", f"{place} sent a reply that is not JSON: {error}") from error
        except ValidationError as error:
            raise StepError("model-malformed", f"{place} sent no chat completion: check the base URL") from error
        if reply.cut:
            raise StepError("model-answer-cut", f"{place} stopped before the end of its answer ({reply.cut})")
        usage, prompt = reply.usage or Usage(), "\n".join(message.text for message in request.messages)
        prompt_tokens, completion_tokens = usage.prompt_tokens, usage.completion_tokens
        return ModelAnswer(
            text=reply.text,
            prompt_tokens=self._counter.count(prompt) if prompt_tokens is None else prompt_tokens,
            completion_tokens=self._counter.count(reply.text) if completion_tokens is None else completion_tokens,
        )

    def _client(self) -> openai.AsyncOpenAI:
        # The client requires a key; endpoints without keys accept any.
        return openai.AsyncOpenAI(
            base_url=self._endpoint.url,
            api_key=self._endpoint.key or "none",
            timeout=None,  # `complete` has a limit for the whole call
            max_retries=self._endpoint.retries,
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(
                event_hooks={"response": [partial(_bound, self._max_reply_bytes)]},
                follow_redirects=False,  # prompts have source texts, which are for this endpoint alone
            ),
        )


async def _whole(client: openai.AsyncOpenAI, body: dict[str, JsonValue]) -> _Reply:
    completion = Completion.model_validate(await client.post(_PATH, cast_to=object, body=body))
    choice = completion.choices[0]
    return _Reply(_whole_characters(choice.message.content or ""), _cut(choice.finish_reason), completion.usage)


async def _streamed(
    client: openai.AsyncOpenAI, body: dict[str, JsonValue], on_text: Callable[[str], None], on_piece: Callable[[], None]
) -> _Reply:
    pieces: list[str] = []
    finish: str | None = None
    usage: Usage | None = None
    streaming: dict[str, JsonValue] = {**body, "stream": True, "stream_options": {"include_usage": True}}
    async with await client.post(_PATH, cast_to=object, body=streaming, stream=True, stream_cls=_Chunks) as stream:
        async for data in stream:
            on_piece()
            chunk = Chunk.model_validate(data)
            usage = chunk.usage or usage
            for choice in chunk.choices or ():
                finish = choice.finish_reason or finish
                if choice.delta is not None and choice.delta.content:
                    pieces.append(choice.delta.content)
                    on_text(_whole_characters(choice.delta.content))
        is_complete = stream.is_complete or finish is not None
    return _Reply(_whole_characters("".join(pieces)), _cut(finish) if is_complete else "the stream broke off", usage)


def _prolong(limit: asyncio.Timeout, seconds: float) -> None:
    limit.reschedule(asyncio.get_running_loop().time() + seconds)


def _whole_characters(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which JSON can express but nothing can print or store."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _cut(finish: str | None) -> str:
    return finish if finish in _CUT else ""


def _refused(error: _RefusedReplyError, place: str) -> StepError:
    return StepError("model-malformed", f"{place} {error}: check the base URL")


def _failure(error: openai.OpenAIError, place: str, key: str) -> StepError:
    if isinstance(error.__cause__, _RefusedReplyError):
        return _refused(error.__cause__, place)
    if isinstance(error, openai.APIStatusError) and 300 <= error.status_code < 400:
        advice = f"which is not followed: put where it leads into {URL_VARIABLE}, if you trust it"
        return StepError("model-request-refused", f"{place} answered with a redirect ({error.status_code}), {advice}")
    rule = next((rule for kind, rule in _RULES if isinstance(error, kind)), "model-failed")
    message = f"{place}: {_masked(str(error), key)[:_QUOTED_CHARACTERS]}"
    wait = wait_seconds(error.response.headers) if isinstance(error, openai.APIStatusError) else 0.0
    if wait > MOST_WAIT_SECONDS:
        return StepError(rule, f"{message}; it asks to wait {wait:.0f} s, and at most {MOST_WAIT_SECONDS} are waited")
    return StepError(rule, message, may_pass=_may_pass(error), wait_seconds=wait)


def _masked(text: str, key: str) -> str:
    """What an endpoint says without the key that it was sent, in any of the forms in which it may send it back."""
    forms = {key, quote(key), quote(key, safe=""), json.dumps(key)[1:-1], repr(key)[1:-1]}
    for form in sorted(forms - {""}, key=len, reverse=True):
        text = text.replace(form, "(the key)")
    return text


def _without_login(url: str) -> str:
    """A URL without a user and password, which may be in it."""
    try:
        return str(httpx2.URL(url).copy_with(username=None, password=None))
    except httpx2.InvalidURL:
        return url


def _may_pass(error: openai.OpenAIError) -> bool:
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _PASSING_STATUS or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)


def _body(request: ModelRequest, model: str) -> dict[str, JsonValue]:
    """The request as JSON, without keys that are not set, which some endpoints refuse."""
    body: dict[str, JsonValue] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.text} for message in request.messages],
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.response_schema is not None:
        named: dict[str, JsonValue] = {
            "name": request.response_schema.name,
            "schema": dict(request.response_schema.schema),
        }
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    return body
