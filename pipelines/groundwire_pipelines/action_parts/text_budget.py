"""The budget of source texts of a retrieval whose step does not give it in tokens."""

from typing import Annotated, TypeAlias

from pydantic import Field

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.settings import PipelineSettings

BudgetFactor: TypeAlias = Annotated[
    int | None,
    Field(
        ge=1,
        le=100,
        description="The most tokens in all, as a multiple of max_context_tokens: more than will be shown, for a "
        "render step to choose from and shorten.",
    ),
]
"""The key of a step; None for a step without it."""


def budget_of_context(settings: PipelineSettings, factor: int | None) -> int:
    """The factor times `max_context_tokens`; without a factor 70 % of it, rounded down.

    Raises:
        StepError: `max-context-tokens-missing`; `budget-not-positive` if that is 0.
    """
    most = max_context_tokens(settings)
    tokens = most * 7 // 10 if factor is None else most * factor  # floor(0.70 * most), without binary fractions
    if tokens <= 0:
        raise StepError("budget-not-positive", f"70 % of max_context_tokens ({most}) leaves no token: raise it")
    return tokens


def max_context_tokens(settings: PipelineSettings) -> int:
    """The setting.

    Raises:
        StepError: `max-context-tokens-missing`, if it is absent or not above 0.
    """
    most = settings.max_context_tokens
    if most is None or most <= 0:
        raise StepError("max-context-tokens-missing", f"settings.max_context_tokens must be above 0, and is {most}")
    return most
