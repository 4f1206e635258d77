"""The variables that a step's prompt may be given."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Final, TypeAlias

from pydantic import Field, JsonValue

from groundwire_pipelines.action_parts.ask_model import english_question
from groundwire_pipelines.action_parts.evidence_text import evidence_or_reason
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.filters import filters_in_words
from groundwire_pipelines.parsing.prefixes import ROUTER_PREFIXES
from groundwire_pipelines.prompts import VARIABLE_NAME
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


def output_text(state: PipelineState, path: str) -> str:
    """An output, or a field of one such as `plan.query`: a text unchanged, any other value as JSON.

    Raises:
        StepError: `output-missing`, if no step has written the output, or it has no such field.
    """
    name, *fields = path.split(".")
    if name not in state.outputs:
        known = ", ".join(sorted(state.outputs)) or "none"
        raise StepError("output-missing", f"no step has written the output {name!r} yet; there are: {known}")
    value: JsonValue = state.outputs[name]
    for field in fields:
        if not isinstance(value, dict) or field not in value:
            raise StepError("output-missing", f"the output {name!r} has no field {field!r} for {path!r}")
        value = value[field]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


Variables: TypeAlias = Annotated[
    tuple[Annotated[str, Field(pattern=rf"^{VARIABLE_NAME}$")], ...],
    Field(
        description="The variables of the prompt, which must use each of them and no other. `question` is in English "
        "(a translate_in_if_needed step translates it). `context` is the evidence. `requests` are the model's earlier "
        "requests for more evidence, `requests_left` the number of further ones that max_turn_loops allows. `modes` "
        "are the prefixes of the retrieval modes that the settings allow. `filters` is the filter of searches, and how "
        "a query may narrow it further. After a describe_index step `modes` are those that the index has data for, and "
        "`filters` names its kinds, languages and folders. The router chose `mode` and `rewritten_question`. `error` "
        "is the last error that `on_error` handled. Others are `history`, `repository`, `branch`, and the `output` of "
        "an earlier step, where `plan.query` names the field `query` of the output `plan`."
    ),
]


def _modes(state: PipelineState, runtime: Runtime) -> str:
    allowed = runtime.settings.retrieval_modes
    modes = (*([mode for mode in allowed if mode not in state.modes_without_data] or allowed), "direct")
    return "\n".join(prefix for mode, prefix in ROUTER_PREFIXES.items() if mode in modes)


_BUILT_IN: Final[Mapping[str, Callable[[PipelineState, Runtime], str]]] = {
    "question": lambda state, _: english_question(state),
    "history": lambda state, _: state.history_for_prompt or "(none)",
    "context": lambda state, runtime: evidence_or_reason(state, runtime),
    "requests": lambda state, _: "\n".join(f"- {request}" for request in state.data_requests) or "(none)",
    "requests_left": lambda state, runtime: str(
        max(0, (runtime.settings.max_turn_loops or 0) - state.turn_loop_counter)
    ),
    "modes": _modes,
    "mode": lambda state, _: state.retrieval_mode or "(none)",
    "rewritten_question": lambda state, _: state.rewritten_question or english_question(state),
    "filters": lambda state, _: filters_in_words(
        state.retrieval_filter, state.index_kinds, state.index_languages, state.index_folders
    ),
    "error": lambda state, _: f"{state.error_rule}: {state.error_message}",
    "repository": lambda state, _: state.repository,
    "branch": lambda state, _: state.branch,
}

BUILT_IN_VARIABLES: Final = frozenset(_BUILT_IN)
"""The variables that are not outputs of steps."""


def prompt_values(names: Iterable[str], state: PipelineState, runtime: Runtime) -> dict[str, str]:
    """The variables by name.

    Raises:
        StepError: `question-not-translated`, `output-missing`.
    """
    return {name: _BUILT_IN[name](state, runtime) if name in _BUILT_IN else output_text(state, name) for name in names}


_READ: Final[Mapping[str, str]] = {
    "history": "history_for_prompt",
    "context": "context_blocks",
    "mode": "retrieval_mode",
    "error": "error_message",
}
"""The field of the state that a variable is made of, if the field is not set at the start."""


def fields_read(names: Iterable[str]) -> tuple[str, ...]:
    """The fields of the state that the variables are made of, as `DataFlow` names them."""
    read = (_READ.get(name, "") if name in _BUILT_IN else f"outputs.{name.partition('.')[0]}" for name in names)
    return tuple(dict.fromkeys(field for field in read if field))
