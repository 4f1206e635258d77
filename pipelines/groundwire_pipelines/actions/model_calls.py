"""What the actions that call the model share: the call itself, and the check of its answer with one more try."""

from collections.abc import Callable, Mapping

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


async def ask(
    runtime: Runtime, prompt: str, variables: Mapping[str, str], *, on_text: Callable[[str], None] | None = None
) -> str:
    """Renders a prompt and asks the model; tells its answer without the white space around it.

    Raises:
        StepError: `model-missing`; the rules of prompts (`prompt-...`) and of the model (`model-...`).
    """
    if runtime.model is None:
        raise StepError(
            "model-missing",
            f"the prompt {prompt!r} needs a language model and the run has none: set GROUNDWIRE_MODEL_URL and "
            "GROUNDWIRE_MODEL_NAME",
        )
    answer = await runtime.model.complete(runtime.prompts.render(prompt, variables), on_text=on_text)
    return answer.text.strip()


async def ask_checked(
    runtime: Runtime, prompt: str, variables: Mapping[str, str], complaint: Callable[[str], StepError | None]
) -> str:
    """Asks until `complaint` has none about the answer, twice at most.

    The prompt has a variable `correction`: empty at first, then the complaint about the first answer.

    Raises:
        StepError: The complaint about the second answer, and what `ask` raises.
    """
    answer = await ask(runtime, prompt, {**variables, "correction": ""})
    wrong = complaint(answer)
    if wrong is None:
        return answer
    correction = f"Your last attempt was refused: {wrong.message}"
    answer = await ask(runtime, prompt, {**variables, "correction": correction})
    still_wrong = complaint(answer)
    if still_wrong is not None:
        raise still_wrong
    return answer


def english_question(state: PipelineState) -> str:
    """The question in English.

    Raises:
        StepError: `question-not-translated`, when no step has told it yet.
    """
    if not state.user_question_en:
        raise StepError(
            "question-not-translated", "the question is not known in English yet: run translate_in_if_needed before"
        )
    return state.user_question_en
