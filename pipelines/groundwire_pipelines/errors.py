"""What can go wrong with a pipeline: in its files, and while it runs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a pipeline's files: where, under which key, and what to do. `line` is 1-based."""

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key}: {self.message}"


class PipelineError(Exception):
    """Base of everything a pipeline can fail with."""


class DefinitionError(PipelineError):
    """The pipeline's files are wrong; nothing ran."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class StepError(PipelineError):
    """A step broke a rule of its action's contract, or what it calls failed.

    The run ends there, unless the step has a way out for it.

    `step_id` is "" until the engine that ran the step puts it there; `rule` is a stable name for tests and logs.
    `may_pass` is for what may succeed a moment later, such as a call of a server that is overloaded: a step with
    `retry` is then tried again.
    """

    def __init__(self, rule: str, message: str, step_id: str = "", *, may_pass: bool = False) -> None:
        super().__init__(f"step {step_id!r}: {message}" if step_id else message)
        self.rule = rule
        self.message = message
        self.step_id = step_id
        self.may_pass = may_pass


class RunCancelledError(PipelineError):
    """The run's deadline passed. (A run cancelled as an asyncio task raises `asyncio.CancelledError` as ever.)"""
