"""How many tokens of source texts a retrieval may bring where its step does not say (seed 000)."""

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.settings import PipelineSettings


def default_budget_tokens(settings: PipelineSettings) -> int:
    """70 % of `max_context_tokens`, rounded down: the rest is for what texts are rendered with.

    Raises:
        StepError: `max-context-tokens-missing`; `budget-not-positive` when no token is left.
    """
    most = settings.max_context_tokens
    if most is None or most <= 0:
        raise StepError(
            "max-context-tokens-missing",
            f"without budget_tokens the pipeline's max_context_tokens must be 1 or more, not {most}",
        )
    tokens = most * 7 // 10  # floor(0.70 * most), without the error of binary fractions
    if tokens <= 0:
        raise StepError("budget-not-positive", f"70 % of max_context_tokens ({most}) leaves no token: raise it")
    return tokens
