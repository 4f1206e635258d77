"""The model that environment variables configure."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from groundwire.evidence.counter import Counter
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.models.endpoint import URL_VARIABLE, endpoint_from_environment
from groundwire_pipelines.runtime import ModelAnswer, ModelRequest


@dataclass(frozen=True, slots=True)
class EnvironmentModel:
    """The model that environment variables configure, read on first use; implements `runtime.Model`.

    A run that calls no model needs neither the variables nor the extra `models`.
    """

    counter: Counter

    async def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        """The answer of that model.

        Raises:
            StepError: `model-missing`, if the environment configures none; `model-environment`, if a variable is
                malformed or the extra `models` is not installed; the errors of `OpenAIModel`.
        """
        endpoint = endpoint_from_environment(os.environ)
        if endpoint is None:
            raise StepError(
                "model-missing",
                f"the step needs a language model and the run has none: set {URL_VARIABLE} to URL#model=NAME",
            )
        try:
            # The only part of a run that needs the extra `models`.
            from groundwire_pipelines.models.openai_model import OpenAIModel
        except ImportError as error:
            raise StepError("model-environment", "a model needs more to be installed: groundwire[models]") from error
        return await OpenAIModel(endpoint, self.counter).complete(request, on_text=on_text)
