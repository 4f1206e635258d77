"""The errors of pipelines: in their files, and while they run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in a pipeline's files: the place, the key, and what to do. `line` is 1-based."""

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key}: {self.message}"


class PipelineError(Exception):
    """Base of all errors of pipelines."""


class DefinitionError(PipelineError):
    """The pipeline's files are wrong; nothing ran."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class StepError(PipelineError):
    """A step broke a rule of its action, or a call that it made failed.

    The run ends there, unless the step has a transition for the error.

    `step_id` is "" until the engine sets it; `rule` is a stable name for tests and logs. `may_pass`: the step may
    succeed a moment later, for example when the server was overloaded; a step with `retry` is then tried again, after
    `wait_seconds` at the earliest.
    """

    def __init__(
        self, rule: str, message: str, step_id: str = "", *, may_pass: bool = False, wait_seconds: float = 0.0
    ) -> None:
        super().__init__(f"step {step_id!r}: {message}" if step_id else message)
        self.rule = rule
        self.message = message
        self.step_id = step_id
        self.may_pass = may_pass
        self.wait_seconds = wait_seconds


class RunCancelledError(PipelineError):
    """The run's deadline passed. A run that is cancelled as an asyncio task raises `asyncio.CancelledError`."""
