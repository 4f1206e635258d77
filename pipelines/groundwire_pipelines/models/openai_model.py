"""A language model behind any OpenAI-compatible endpoint. Needs the extra `models`."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionUserMessageParam

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.models.environment import ModelEndpoint
from groundwire_pipelines.runtime import Counter, ModelAnswer

_QUOTED_CHARACTERS = 300
"""The most characters of an endpoint's error message that ours quotes."""

_RULES: tuple[tuple[type[openai.OpenAIError], str], ...] = (
    (openai.APITimeoutError, "model-timeout"),
    (openai.APIConnectionError, "model-unreachable"),
    (openai.AuthenticationError, "model-unauthorised"),
    (openai.PermissionDeniedError, "model-unauthorised"),
    (openai.NotFoundError, "model-not-found"),
    (openai.RateLimitError, "model-overloaded"),
    (openai.InternalServerError, "model-failed"),
    (openai.APIStatusError, "model-request-refused"),
)
"""The rule that a failure is reported by: that of the first class it belongs to, else `model-failed`."""
_PASSING = (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError)
"""Failures, timeouts among them, that may pass."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """What an endpoint said, streamed or not; `finish` and `usage` are None where it did not say."""

    text: str
    finish: str | None
    usage: CompletionUsage | None


class OpenAIModel:
    """Asks one model, one user message at a time, at temperature 0; implements `runtime.Model`.

    Use it as an asynchronous context manager, or `close` it. Safe for concurrent calls of one event loop.
    """

    def __init__(self, endpoint: ModelEndpoint, counter: Counter) -> None:
        self._endpoint = endpoint
        self._counter = counter
        # The client insists on a key; endpoints without keys take any.
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.url,
            api_key=endpoint.key or "none",
            timeout=endpoint.timeout_seconds,
            max_retries=endpoint.retries,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def complete(self, prompt: str, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        """Answers a prompt; with `on_text`, pieces of the answer are told as they come.

        Tokens are those that the endpoint reports, else counted with the shared counter.

        Raises:
            StepError: A rule of `model-timeout`, `model-unreachable`, `model-unauthorised`, `model-not-found`,
                `model-overloaded`, `model-request-refused`, `model-failed`; `model-malformed` when the endpoint does
                not speak the protocol; `model-answer-cut` when the model stopped before its end; `model-answer-empty`.
        """
        try:
            reply = await (self._whole(prompt) if on_text is None else self._streamed(prompt, on_text))
        except openai.OpenAIError as error:
            raise self._failure(error) from error
        except json.JSONDecodeError as error:
            raise StepError("model-malformed", f"{self._place} sent what is no JSON: {error}") from error
        self._check(reply)
        usage = reply.usage
        return ModelAnswer(
            text=reply.text,
            prompt_tokens=usage.prompt_tokens if usage else self._counter.count(prompt),
            completion_tokens=usage.completion_tokens if usage else self._counter.count(reply.text),
        )

    async def _whole(self, prompt: str) -> _Reply:
        completion = await self._client.chat.completions.create(
            model=self._endpoint.name, messages=_messages(prompt), temperature=0
        )
        if not _is_completion(completion):
            raise StepError("model-malformed", f"{self._place} sent no chat completion: check the base URL")
        choice = completion.choices[0]
        return _Reply(choice.message.content or "", choice.finish_reason, completion.usage)

    async def _streamed(self, prompt: str, on_text: Callable[[str], None]) -> _Reply:
        pieces: list[str] = []
        finish: str | None = None
        usage: CompletionUsage | None = None
        stream = await self._client.chat.completions.create(
            model=self._endpoint.name,
            messages=_messages(prompt),
            temperature=0,
            stream=True,
            stream_options={"include_usage": True},
        )
        async with stream:
            async for chunk in stream:
                usage = chunk.usage or usage
                for choice in chunk.choices:
                    finish = choice.finish_reason or finish
                    if choice.delta.content:
                        pieces.append(choice.delta.content)
                        on_text(choice.delta.content)
        return _Reply("".join(pieces), finish, usage)

    def _check(self, reply: _Reply) -> None:
        if reply.finish != "stop":
            reason = f"({reply.finish})" if reply.finish else "(the stream broke off)"
            raise StepError("model-answer-cut", f"{self._place} stopped before the end of its answer {reason}")
        if not reply.text.strip():
            raise StepError("model-answer-empty", f"{self._place} answered with nothing")

    def _failure(self, error: openai.OpenAIError) -> StepError:
        rule = next((rule for kind, rule in _RULES if isinstance(error, kind)), "model-failed")
        message = f"{self._place}: {str(error)[:_QUOTED_CHARACTERS]}"
        return StepError(rule, message, may_pass=isinstance(error, _PASSING))

    @property
    def _place(self) -> str:
        return f"the model {self._endpoint.name} at {self._endpoint.url}"


def _is_completion(answer: object) -> bool:
    """The client passes on whatever came with status 200, such as a proxy's page."""
    return isinstance(answer, ChatCompletion) and bool(answer.choices)


def _messages(prompt: str) -> list[ChatCompletionUserMessageParam]:
    return [{"role": "user", "content": prompt}]
