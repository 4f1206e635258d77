"""Counts the tokens of a run's model calls."""

from collections.abc import Callable
from dataclasses import dataclass

from groundwire_pipelines.runtime import Model, ModelAnswer, ModelRequest


@dataclass(slots=True)
class MeteredModel:
    """A model that adds up the tokens of its answers, so that a step which fails later still reports them."""

    model: Model
    prompt_tokens: int = 0
    completion_tokens: int = 0

    async def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        """Answers as the model does, and counts the tokens."""
        answer = await self.model.complete(request, on_text=on_text)
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens
        return answer
