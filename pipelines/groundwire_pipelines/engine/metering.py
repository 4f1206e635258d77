"""How many tokens a run's model calls take."""

from collections.abc import Callable
from dataclasses import dataclass

from groundwire_pipelines.runtime import Model, ModelAnswer, ModelRequest


@dataclass(slots=True)
class MeteredModel:
    """A model that adds up what its answers cost, so that a step which fails later still tells what it spent."""

    model: Model
    prompt_tokens: int = 0
    completion_tokens: int = 0

    async def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        """As the model answers."""
        answer = await self.model.complete(request, on_text=on_text)
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens
        return answer
