"""`call_model`: one call of the language model with prompt files."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator

from groundwire_pipelines.action_definition import Action, DataFlow, Outcome
from groundwire_pipelines.action_parts.ask_model import ModelSettings, ask, request_of
from groundwire_pipelines.action_parts.key_rules import broken
from groundwire_pipelines.action_parts.prompt_values import BUILT_IN_VARIABLES, Variables, fields_read, prompt_values
from groundwire_pipelines.action_parts.query_input import BUILT_IN_SOURCES
from groundwire_pipelines.parsing.json_answer import read_structured, schema_problem
from groundwire_pipelines.runtime import AnsweredCall, Message, ResponseSchema, Runtime
from groundwire_pipelines.state import PipelineState


def _own_name(name: str) -> str:
    if name in BUILT_IN_VARIABLES | BUILT_IN_SOURCES:
        raise broken("output-reserved", f"{name!r} is the name of something else: choose another")
    return name


def _sound(schema: str | dict[str, JsonValue] | None) -> str | dict[str, JsonValue] | None:
    if isinstance(schema, dict) and (problem := schema_problem(schema)):
        raise broken("response-schema-malformed", problem)
    return schema


class CallModelSettings(ModelSettings):
    """Keys of `call_model`."""

    prompt: Annotated[str, Field(min_length=1)]
    """The name of the prompt that is sent as the user's message: the file `<name>.md` in a prompts folder."""
    variables: Variables = ()
    system: Annotated[str | None, Field(min_length=1)] = None
    """The name of a prompt that is sent as the system message before it."""
    system_variables: Variables = ()
    output: Annotated[str, AfterValidator(_own_name), Field(pattern="^[a-z][a-z0-9_]*$")]
    """The name of the answer: later steps refer to it in `variables` or `query_from`."""
    protocol: Literal["none", "router", "answer"] = "none"
    """The protocol whose prefixes the answer begins with, for a handle_prefix step; the program that runs the pipeline
    gets a final answer as it arrives."""
    response_schema: Annotated[str | dict[str, JsonValue] | None, AfterValidator(_sound)] = None
    """The JSON Schema (draft 2020-12) that the answer must match, or the name of a file `<name>.json` in a prompts
    folder. It is sent to the endpoint, the answer is checked, and its fields are variables."""

    @model_validator(mode="after")
    def _system_goes_with_its_variables(self) -> Self:
        if self.system is None and self.system_variables:
            raise broken("system-missing", "system_variables go with system: name the prompt that uses them")
        return self

    @model_validator(mode="after")
    def _json_has_no_prefix(self) -> Self:
        if self.response_schema is not None and self.protocol != "none":
            raise broken(
                "protocol-not-none", f"an answer by response_schema has no prefix: drop protocol {self.protocol}"
            )
        return self


async def run(settings: CallModelSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Sets `last_model_response` to the model's answer, prefix included, and keeps it among `outputs`.

    A final answer that needs no translation is passed to `on_answer` as it arrives.

    Raises:
        StepError: What a model call raises; `output-missing`; `response-malformed`, `response-mismatched`.
    """
    schema = _schema(settings, runtime)
    request = request_of(settings, _messages(settings, state, runtime), schema)
    answer = await ask(runtime, request, streamed_for=state if settings.protocol == "answer" else None)
    value = answer if schema is None else read_structured(answer, schema.schema)
    state.last_model_response = state.model_answer = answer
    state.outputs = {**state.outputs, settings.output: value}
    state.answered_call = AnsweredCall(request, answer, settings.output) if schema is None else None
    return Outcome(detail={"prompt": settings.prompt})


def _messages(settings: CallModelSettings, state: PipelineState, runtime: Runtime) -> tuple[Message, ...]:
    def rendered(prompt: str, variables: tuple[str, ...]) -> str:
        return runtime.prompts.render(prompt, prompt_values(variables, state, runtime))

    user = Message("user", rendered(settings.prompt, settings.variables))
    if settings.system is None:
        return (user,)
    return (Message("system", rendered(settings.system, settings.system_variables)), user)


def _schema(settings: CallModelSettings, runtime: Runtime) -> ResponseSchema | None:
    given = settings.response_schema
    if given is None:
        return None
    return ResponseSchema(settings.output, runtime.prompts.schema(given) if isinstance(given, str) else given)


def _prompts(settings: CallModelSettings) -> Mapping[str, frozenset[str]]:
    prompts = {settings.prompt: frozenset(settings.variables)}
    return prompts if settings.system is None else {settings.system: frozenset(settings.system_variables), **prompts}


ACTION = Action(
    name="call_model",
    summary="Calls the language model with prompt files, and keeps its answer under a name.",
    settings=CallModelSettings,
    run=run,
    prompts_of=_prompts,
    schemas_of=lambda settings: (settings.response_schema,) if isinstance(settings.response_schema, str) else (),
    data_of=lambda settings: DataFlow(
        reads=fields_read((*settings.variables, *settings.system_variables)),
        writes=("last_model_response", "model_answer", f"outputs.{settings.output}"),
    ),
)
