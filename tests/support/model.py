"""Doubles of the model and the prompt files, for tests of single actions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic import JsonValue

from groundwire_pipelines.prompts import PromptFolders
from groundwire_pipelines.runtime import History, ModelAnswer, ModelRequest, Runtime
from support.retrieval import FakeRetrieval, make_runtime


@dataclass(slots=True)
class ScriptedModel:
    """Gives `answers` one after the other, letter by letter to those who listen; remembers what it was asked.

    An answer that is an error is raised.
    """

    answers: list[str | Exception]
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])

    @property
    def prompts(self) -> list[str]:
        """The users' messages so far."""
        return [request.messages[-1].text for request in self.requests]

    async def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if on_text is not None:
            for letter in answer:
                on_text(letter)
        return ModelAnswer(answer, 10, 5)


@dataclass(slots=True)
class RecordingPrompts:
    """Renders a prompt as its name; remembers the variables. Has the schemas that a test gives it."""

    schemas: dict[str, Mapping[str, JsonValue]] = field(default_factory=dict[str, Mapping[str, JsonValue]])
    given: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])

    def render(self, name: str, variables: Mapping[str, str]) -> str:
        self.given.append(dict(variables))
        return name

    def schema(self, name: str) -> Mapping[str, JsonValue]:
        return self.schemas[name]


@dataclass(slots=True)
class Conversation:
    """The services of a run whose model answers from a script; `answer_parts` is what `on_answer` was given."""

    model: ScriptedModel
    prompts: RecordingPrompts
    runtime: Runtime
    answer_parts: list[str]


def conversation(*answers: str | Exception, history: History | None = None, **settings: Any) -> Conversation:
    """A run's services, with a model that gives these answers."""
    model, prompts, answer_parts = ScriptedModel(list(answers)), RecordingPrompts(), list[str]()
    runtime = make_runtime(FakeRetrieval(), model, history, **settings)
    return Conversation(
        model,
        prompts,
        replace(runtime, prompts=cast(PromptFolders, prompts), on_answer=answer_parts.append),
        answer_parts,
    )
