"""Doubles of the model and the prompt files, for tests of single actions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from groundwire_pipelines.runtime import History, ModelAnswer, Runtime
from support.retrieval import FakeRetrieval, make_runtime


@dataclass(slots=True)
class ScriptedModel:
    """Gives `answers` one after the other, letter by letter to those who listen; remembers what it was asked."""

    answers: list[str]
    prompts: list[str] = field(default_factory=list[str])

    async def complete(self, prompt: str, *, on_text: Callable[[str], None] | None = None) -> ModelAnswer:
        self.prompts.append(prompt)
        answer = self.answers.pop(0)
        if on_text is not None:
            for letter in answer:
                on_text(letter)
        return ModelAnswer(answer, 10, 5)


@dataclass(slots=True)
class RecordingPrompts:
    """Renders a prompt as its name; remembers the variables."""

    given: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])

    def render(self, name: str, variables: Mapping[str, str]) -> str:
        self.given.append(dict(variables))
        return name


@dataclass(slots=True)
class Conversation:
    """The services of a run whose model answers from a script; `told` is what `on_answer` was told."""

    model: ScriptedModel
    prompts: RecordingPrompts
    runtime: Runtime
    told: list[str]


def conversation(*answers: str, history: History | None = None, **settings: Any) -> Conversation:
    """A run's services, with a model that gives these answers."""
    model, prompts, told = ScriptedModel(list(answers)), RecordingPrompts(), list[str]()
    runtime = make_runtime(FakeRetrieval(), model, history, **settings)
    return Conversation(model, prompts, replace(runtime, prompts=prompts, on_answer=told.append), told)
