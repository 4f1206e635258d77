"""What the actions that call the model share: the call itself, and the check of its answer with one more try."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import ModelAnswer, Runtime
from groundwire_pipelines.state import PipelineState


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens that calls took, as an `Outcome.detail` names them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def plus(self, answer: ModelAnswer) -> "Spent":
        """With one more answer."""
        return Spent(self.prompt_tokens + answer.prompt_tokens, self.completion_tokens + answer.completion_tokens)

    def detail(self) -> dict[str, int]:
        """For the trace."""
        return {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens}


async def ask(
    runtime: Runtime, prompt: str, variables: Mapping[str, str], *, on_text: Callable[[str], None] | None = None
) -> ModelAnswer:
    """Renders a prompt and asks the model. Raises StepError: `model-missing`, the prompts' and the model's own."""
    if runtime.model is None:
        raise StepError(
            "model-missing",
            f"the prompt {prompt!r} needs a language model and the run has none: set GROUNDWIRE_MODEL_URL and "
            "GROUNDWIRE_MODEL_NAME",
        )
    return await runtime.model.complete(runtime.prompts.render(prompt, variables), on_text=on_text)


async def ask_checked(
    runtime: Runtime, prompt: str, variables: Mapping[str, str], complaint: Callable[[str], StepError | None]
) -> tuple[str, Spent]:
    """Asks until `complaint` has none about the stripped answer, twice at most; tells the answer and what was spent.

    The prompt has a variable `correction`: empty at first, then the complaint about the first answer. Raises the
    complaint about the second.
    """
    first = await ask(runtime, prompt, {**variables, "correction": ""})
    spent = Spent().plus(first)
    wrong = complaint(first.text.strip())
    if wrong is None:
        return first.text.strip(), spent
    correction = f"Your last attempt was refused: {wrong.message}"
    second = await ask(runtime, prompt, {**variables, "correction": correction})
    still_wrong = complaint(second.text.strip())
    if still_wrong is not None:
        raise still_wrong
    return second.text.strip(), spent.plus(second)


def english_question(state: PipelineState) -> str:
    """The question in English. Raises StepError `question-not-translated` when no step has set it yet."""
    if not state.user_question_en:
        raise StepError(
            "question-not-translated", "the question is not known in English yet: run translate_in_if_needed before"
        )
    return state.user_question_en
