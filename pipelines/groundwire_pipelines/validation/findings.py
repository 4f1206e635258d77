"""What the checks of a pipeline found, each at its place."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from pydantic import BaseModel, ValidationError

from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.definition.model import Origin, StepDefinition
from groundwire_pipelines.definition.references import SUFFIX
from groundwire_pipelines.errors import Problem
from groundwire_pipelines.validation.models import keys_below, message_of

_NO_SOURCES: Mapping[str, str] = MappingProxyType({})


class Findings:
    """The problems and warnings about one pipeline, in the order of the checks."""

    def __init__(self, draft: PipelineDraft) -> None:
        self._draft = draft
        self._nearness = {str(file): place for place, file in enumerate(draft.files)}
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def problem(self, key: str, message: str, at: Iterable[str] = ()) -> None:
        """Something wrong under `key`.

        It stands at the line of `key`, or at that of the one of `at` which is from the file nearest to the child: what
        a child changed is what its author can mend.
        """
        self.problems.append(self._located(key, message, at))

    def warning(self, key: str, message: str, at: Iterable[str] = ()) -> None:
        """Something odd that runs all the same."""
        self.warnings.append(self._located(key, message, at))

    def broken_rules(
        self,
        error: ValidationError,
        where: str,
        model: type[BaseModel],
        besides: Iterable[str] = (),
        sources: Mapping[str, str] = _NO_SOURCES,
    ) -> None:
        """One problem for each rule that the values under a key path break.

        Args:
            error: What their model said.
            where: The key path, such as `steps.search`.
            model: Their model, whose keys are told for near misses.
            besides: Further keys that may stand beside the model's own.
            sources: The settings that values were taken from, by their keys.
        """
        for details in error.errors(include_url=False):
            outer = [str(part) for part in details["loc"][:-1]]
            names = [*keys_below(model, outer), *(() if outer else besides)]
            path = [where, *map(str, details["loc"])]
            if len(path) > 1 and path[1] in sources:
                self._broken_setting(path, sources[path[1]], message_of(details, names, "" if path[2:] else SUFFIX))
                continue
            if details["type"] != "missing":
                # A location also names the alternatives of a union, which are no keys of the file.
                while len(path) > 1 and ".".join(path) not in self._draft.origins:
                    path.pop()
            message = message_of(details, names)
            if details["type"] == "missing" and len(path) == 2:
                message = self.missing(where.removeprefix("steps."), path[1])
            self.problem(".".join(path), message)

    def missing(self, step_id: str, name: str) -> str:
        """How to say that a key of a step is missing: a step that replaced one often lacks what that one had."""
        replaced = self._draft.replaced.get(step_id)
        if replaced is None or not _has(replaced, name):
            return "is missing"
        return f"is missing: a step replaces the whole of its parent's, and that at {replaced.origin} has it"

    def _broken_setting(self, path: list[str], setting: str, message: str) -> None:
        """A value that came from a setting stands where the step names it, or where the setting is given."""
        of_step = f"{path[0]}.{path[1]}{SUFFIX}"
        within = ".".join((setting, *path[2:]))
        is_of_key = not path[2:] and message.startswith("unknown key")
        told = message if is_of_key else f"the setting {within!r} {message}"
        self.problem(of_step, told, at=(of_step, f"settings.{within}"))

    def _located(self, key: str, message: str, at: Iterable[str]) -> Problem:
        place = min(map(self._place, at), key=self._distance, default=None) or self._place(key)
        return Problem(place.file, place.line, key, message)

    def _place(self, key: str) -> Origin:
        """A key that no file has stands at the line of what should hold it."""
        while key and key not in self._draft.origins:
            key = key.rpartition(".")[0]
        return self._draft.origins.get(key, self._draft.origin)

    def _distance(self, place: Origin) -> int:
        """From the child; settings of the run are nearer than any file."""
        return self._nearness.get(place.file, -1)


def _has(step: StepDefinition, name: str) -> bool:
    return name in step.raw or name in step.transitions or f"{name}{SUFFIX}" in step.raw
