"""The pipelines of one file, before they are merged with their parents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from groundwire_configuration.located_values import Located, Origin
from groundwire_pipelines.definition.broken_rules import keys_below, message_of
from groundwire_pipelines.definition.file_models import STEP_ID, PipelineFile, PipelineModel, StepDefinition
from groundwire_pipelines.definition.pipeline_file import key_path, read_document
from groundwire_pipelines.errors import DefinitionError, Problem

FILE_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class StepSource:
    """A step as one file has it; `keys` are all of its keys with their places."""

    definition: StepDefinition
    keys: Mapping[str, Located]

    @property
    def origin(self) -> Origin:
        """The line of its id."""
        return self.keys["id"].origin


@dataclass(frozen=True, slots=True)
class PipelineSource:
    """A pipeline as one file has it: `steps` by id, in the file's order.

    `prompts` are the folders that it names, in addition to the one next to its file.
    """

    name: str
    description: str
    path: Path
    origin: Origin
    extends: Located | None
    prompts: tuple[Path, ...]
    settings: Mapping[str, Located]
    steps: Mapping[str, StepSource]


def read_pipelines(path: Path) -> tuple[PipelineSource, ...]:
    """The pipelines of a file, in its order.

    Raises:
        DefinitionError: The file is not a valid pipeline file; names every rule of the models that it breaks, or else
            every name that is given twice and every folder that is absent.
    """
    document = read_document(path)
    try:
        file = PipelineFile.model_validate(document.plain())
    except ValidationError as error:
        problems = [_problem(details, document) for details in error.errors(include_url=False)]
        raise DefinitionError(tuple(sorted(problems, key=lambda problem: problem.line))) from error
    reading = _Reading(path)
    pipelines = reading.pipelines(file, document)
    if reading.problems:
        raise DefinitionError(tuple(reading.problems))
    return pipelines


def _problem(details: ErrorDetails, document: Located) -> Problem:
    """One broken rule, with its place in the file."""
    place = details["loc"]
    if place[-2:-1] == ("transitions",):  # in the file they stand among the other keys of the step
        place = (*place[:-2], place[-1])
    names = [str(part) for part in place]
    if "steps" in names[:-2] and names[-1] != "id":
        number = names.index("steps") + 1
        step_id = document.innermost((*place[: number + 1], "id")).value
        if isinstance(step_id, str) and STEP_ID.pattern.fullmatch(step_id):
            names[number] = step_id
    origin = document.innermost(place).origin
    message = message_of(details, keys_below(PipelineFile, names[:-1]))
    return Problem(origin.file, origin.line, key_path(tuple(names)), message)


class _Reading:
    """Makes sources of the models of a file; keeps the problems that no model sees."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[Problem] = []

    def pipelines(self, file: PipelineFile, document: Located) -> tuple[PipelineSource, ...]:
        """The pipelines of a file, each name once."""
        sources: dict[str, PipelineSource] = {}
        for model, located in _located_pipelines(file, document):
            source = self._pipeline(model, located)
            if source.name in sources:
                first = sources[source.name].origin
                self._problem(source.origin, "name", f"the pipeline {source.name!r} is defined twice; first at {first}")
            sources.setdefault(source.name, source)
        return tuple(sources.values())

    def _pipeline(self, model: PipelineModel, located: Located) -> PipelineSource:
        keys = located.entries
        return PipelineSource(
            name=model.name,
            description=model.description,
            path=self._path,
            origin=keys["name"].origin,
            extends=keys.get("extends"),
            prompts=tuple(
                self._folder(folder, located.innermost(("prompts", number)).origin, f"prompts.{number}")
                for number, folder in enumerate(model.prompts)
            ),
            settings=keys["settings"].entries if "settings" in keys else {},
            steps=self._steps(model.steps, located),
        )

    def _folder(self, name: str, origin: Origin, key: str) -> Path:
        folder = self._path.parent / name
        if not folder.is_dir():
            self._problem(origin, key, f"there is no folder {str(folder)!r}")
        return folder

    def _steps(self, definitions: Sequence[StepDefinition], located: Located) -> Mapping[str, StepSource]:
        steps: dict[str, StepSource] = {}
        for number, definition in enumerate(definitions):
            step = StepSource(definition, located.innermost(("steps", number)).entries)
            first = steps.setdefault(definition.id, step)
            if first is not step:
                message = f"is the id of two steps; first at {first.origin}"
                self._problem(step.origin, f"steps.{definition.id}.id", message)
        return steps

    def _problem(self, origin: Origin, key: str, message: str) -> None:
        self.problems.append(Problem(origin.file, origin.line, key, message))


def _located_pipelines(file: PipelineFile, document: Located) -> Iterator[tuple[PipelineModel, Located]]:
    if file.pipeline is not None:
        yield file.pipeline, document.innermost(("pipeline",))
    for number, model in enumerate(file.pipelines or ()):
        yield model, document.innermost(("pipelines", number))
