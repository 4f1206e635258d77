"""The pipelines of one file, before they are merged with their parents."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from groundwire_configuration.located_values import Located, Origin
from groundwire_pipelines.definition.pipeline_file import read_document
from groundwire_pipelines.definition.wording import did_you_mean, kind, listed, shown
from groundwire_pipelines.errors import DefinitionError, Problem

_ROOT_KEYS = ("pipeline", "pipelines")
_PIPELINE_KEYS = ("name", "description", "extends", "prompts", "settings", "steps")
FILE_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Spelling:
    """The form of a name; `rule` states it in messages, after the name."""

    pattern: re.Pattern[str]
    rule: str


PIPELINE_NAME = Spelling(
    re.compile(r"[A-Za-z0-9_](?!.*\.ya?ml$)[A-Za-z0-9_.-]*"),
    "is no name for a pipeline: letters, digits, `_`, `-` and `.`, and no `.yaml` at the end",
)
STEP_ID = Spelling(re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*"), "is no id for a step: letters, digits, `_` and `-`")
OWN_SETTING = Spelling(
    re.compile(r"[A-Za-z_][A-Za-z0-9_-]*"), "is no name for a setting: letters, digits, `_` and `-`, and no digit first"
)


@dataclass(frozen=True, slots=True)
class StepSource:
    """A step as one file has it, with all its keys; `action` and the transitions are texts."""

    keys: Mapping[str, Located]
    origin: Origin


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


def is_transition(key: str) -> bool:
    """True if a step's key names a transition: `next` or `on_...`."""
    return key == "next" or key.startswith("on_")


def read_pipelines(path: Path) -> tuple[PipelineSource, ...]:
    """The pipelines of a file, in its order.

    Raises:
        DefinitionError: The file is not a valid pipeline file; names every problem with its place.
    """
    document = read_document(path)
    reader = _Reader(path)
    pipelines = reader.file(document)
    if reader.problems:
        raise DefinitionError(tuple(reader.problems))
    return pipelines


class _Reader:
    """Reads one file. Goes on after a problem, so that all problems are reported at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[Problem] = []

    def file(self, document: Located) -> tuple[PipelineSource, ...]:
        root = self._mapping(document, "yaml")
        if root is None:
            return ()
        self._no_unknown_keys(root, _ROOT_KEYS)
        if len(root.keys() & set(_ROOT_KEYS)) != 1:
            self._problem(document.origin, "pipeline", "a file holds either `pipeline:` or a list under `pipelines:`")
            return ()
        if "pipeline" in root:
            return tuple(filter(None, (self._pipeline(root["pipeline"], "pipeline"),)))
        return self._pipelines(root["pipelines"])

    def _pipelines(self, entries: Located) -> tuple[PipelineSource, ...]:
        if entries.value == ():
            self._problem(entries.origin, "pipelines", "the list is empty")
        pipelines: dict[str, PipelineSource] = {}
        for number, entry in enumerate(self._list(entries, "pipelines")):
            pipeline = self._pipeline(entry, f"pipelines.{number}")
            if pipeline is not None and pipeline.name in pipelines:
                first = pipelines[pipeline.name].origin
                self._problem(
                    pipeline.origin, "name", f"the pipeline {pipeline.name!r} is defined twice; first at {first}"
                )
            elif pipeline is not None:
                pipelines[pipeline.name] = pipeline
        return tuple(pipelines.values())

    def _pipeline(self, entry: Located, key: str) -> PipelineSource | None:
        keys = self._mapping(entry, key)
        if keys is None:
            return None
        self._no_unknown_keys(keys, _PIPELINE_KEYS)
        name = self._identifier(entry, keys.get("name"), "name", PIPELINE_NAME)
        extends = keys.get("extends")
        if extends is not None and not (
            isinstance(extends.value, str) and extends.value and extends.value.isprintable()
        ):
            given = shown(extends.plain())
            self._problem(extends.origin, "extends", f"must be the name or the path of a pipeline, not {given}")
        prompts = self._prompts(self._list(keys["prompts"], "prompts") if "prompts" in keys else ())
        settings = self._mapping(keys["settings"], "settings") if "settings" in keys else None
        steps = self._steps(self._list(keys["steps"], "steps") if "steps" in keys else ())
        if name is None:
            return None
        return PipelineSource(
            name,
            self._text(keys.get("description"), "description"),
            self._path,
            keys["name"].origin,
            extends,
            prompts,
            settings or {},
            steps,
        )

    def _prompts(self, entries: tuple[Located, ...]) -> tuple[Path, ...]:
        folders: list[Path] = []
        for number, entry in enumerate(entries):
            folder = self._path.parent / self._text(entry, f"prompts.{number}")
            if not folder.is_dir():
                self._problem(entry.origin, f"prompts.{number}", f"there is no folder {str(folder)!r}")
            folders.append(folder)
        return tuple(folders)

    def _text(self, value: Located | None, key: str) -> str:
        """The text; "" if there is none."""
        if value is None:
            return ""
        if not isinstance(value.value, str):
            self._problem(value.origin, key, f"must be a text, not {kind(value)}; quote it")
            return ""
        return value.value

    def _steps(self, entries: tuple[Located, ...]) -> Mapping[str, StepSource]:
        steps: dict[str, StepSource] = {}
        for number, entry in enumerate(entries):
            keys = self._mapping(entry, f"steps.{number}")
            if keys is None:
                continue
            step_id = self._identifier(entry, keys.get("id"), f"steps.{number}.id", STEP_ID)
            self._step_keys(entry, keys, f"steps.{step_id or number}")
            if step_id in steps:
                first = steps[step_id].origin
                self._problem(keys["id"].origin, f"steps.{step_id}.id", f"is the id of two steps; first at {first}")
            elif step_id is not None:
                steps[step_id] = StepSource(keys, keys["id"].origin)
        return steps

    def _step_keys(self, entry: Located, keys: Mapping[str, Located], where: str) -> None:
        action = keys.get("action")
        if action is None:
            self._problem(entry.origin, f"{where}.action", "is missing; a step names its action")
        elif not isinstance(action.value, str):
            self._problem(action.origin, f"{where}.action", f"must be the name of an action, not {kind(action)}")
        for name, target in keys.items():
            if is_transition(name) and not isinstance(target.value, str):
                self._problem(
                    target.origin, f"{where}.{name}", f"must be the id of a step, not {kind(target)}; quote it"
                )

    def _identifier(self, entry: Located, value: Located | None, key: str, spelling: Spelling) -> str | None:
        if value is None:
            self._problem(entry.origin, key, "is missing")
        elif not isinstance(value.value, str):
            self._problem(value.origin, key, f"must be a text, not {kind(value)}; quote it")
        elif not spelling.pattern.fullmatch(value.value):
            self._problem(value.origin, key, f"{value.value!r} {spelling.rule}")
        else:
            return value.value
        return None

    def _mapping(self, value: Located, key: str) -> Mapping[str, Located] | None:
        if isinstance(value.value, Mapping):
            return value.value
        self._problem(value.origin, key, f"must be a mapping, not {kind(value)}")
        return None

    def _list(self, value: Located, key: str) -> tuple[Located, ...]:
        if isinstance(value.value, tuple):
            return value.value
        self._problem(value.origin, key, f"must be a list, not {kind(value)}")
        return ()

    def _no_unknown_keys(self, keys: Mapping[str, Located], known: tuple[str, ...]) -> None:
        for key, entry in keys.items():
            if key not in known:
                hint = did_you_mean(key, known) or f"; known are {listed(known)}"
                self._problem(entry.origin, key, f"unknown key{hint}")

    def _problem(self, origin: Origin, key: str, message: str) -> None:
        self.problems.append(Problem(origin.file, origin.line, key, message))
