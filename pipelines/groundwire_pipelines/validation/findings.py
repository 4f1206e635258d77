"""Settings and keys of steps as their strict models, and what the checks of a pipeline found, each with its place."""

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from groundwire_configuration.located_values import Origin
from groundwire_pipelines.definition.broken_rules import keys_below, message_of
from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.definition.references import SUFFIX
from groundwire_pipelines.errors import Problem

Model = TypeVar("Model", bound=BaseModel)
_NO_SOURCES: Mapping[str, str] = MappingProxyType({})


def parsed(model: type[Model], values: Mapping[str, JsonValue]) -> Model:
    """Plain values of a file as a strict model.

    They are validated as JSON, where a list is accepted for a tuple and an integer for a float.

    Raises:
        pydantic.ValidationError: They break the model's rules.
    """
    return model.model_validate_json(json.dumps(values))


class Findings:
    """The problems and warnings about one pipeline, in the order of the checks."""

    def __init__(self, draft: PipelineDraft) -> None:
        self._draft = draft
        self._nearness = {str(file): place for place, file in enumerate(draft.files)}
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def problem(self, key: str, message: str, at: Iterable[str] = ()) -> None:
        """Adds a problem of `key`.

        Its place is the line of `key`, or of the key in `at` whose file is nearest to the child, because its author can
        change the child.
        """
        self.problems.append(self._located(key, message, at))

    def warning(self, key: str, message: str, at: Iterable[str] = ()) -> None:
        """Adds a warning about something suspicious that can run."""
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
            error: The model's validation error.
            where: The key path, such as `steps.search`.
            model: The model, whose keys are suggested for misspelt ones.
            besides: Further allowed keys.
            sources: The settings from which keys take their values, by key.
        """
        for details in error.errors(include_url=False):
            outer = [str(part) for part in details["loc"][:-1]]
            names = [*keys_below(model, outer), *(() if outer else besides)]
            path = [where, *map(str, details["loc"])]
            if len(path) > 1 and path[1] in sources:
                self._broken_setting(path, sources[path[1]], message_of(details, names, "" if path[2:] else SUFFIX))
                continue
            if details["type"] != "missing":
                # A location also contains the alternatives of a union, which are not keys of the file.
                while len(path) > 1 and ".".join(path) not in self._draft.origins:
                    path.pop()
            message = message_of(details, names)
            if details["type"] == "missing" and len(path) == 2:
                message = self.missing(where.removeprefix("steps."), path[1])
            self.problem(".".join(path), message)

    def missing(self, step_id: str, name: str) -> str:
        """The message for a missing key: a step that replaced a parent's often lacks a key that the parent's had."""
        replaced = self._draft.replaced.get(step_id)
        if replaced is None or {name, f"{name}{SUFFIX}"}.isdisjoint(replaced.keys):
            return "is missing"
        return f"is missing: a step replaces the whole of its parent's, and that at {replaced.origin} has it"

    def _broken_setting(self, path: list[str], setting: str, message: str) -> None:
        """The places of a value from a setting: where the step names the setting, or where the setting is given."""
        of_step = f"{path[0]}.{path[1]}{SUFFIX}"
        within = ".".join((setting, *path[2:]))
        is_of_key = not path[2:] and message.startswith("unknown key")
        rule = message if is_of_key else f"the setting {within!r} {message}"
        self.problem(of_step, rule, at=(of_step, f"settings.{within}"))

    def _located(self, key: str, message: str, at: Iterable[str]) -> Problem:
        place = min(map(self._place, at), key=self._distance, default=None) or self._place(key)
        return Problem(place.file, place.line, key, message)

    def _place(self, key: str) -> Origin:
        """The place of a key; of a missing key, that of the value that should hold it."""
        while key and key not in self._draft.origins:
            key = key.rpartition(".")[0]
        return self._draft.origins.get(key, self._draft.origin)

    def _distance(self, place: Origin) -> int:
        """The distance from the child in the chain of files; settings of the run are nearest."""
        return self._nearness.get(place.file, -1)
