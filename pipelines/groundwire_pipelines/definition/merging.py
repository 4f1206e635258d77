"""Inheritance: settings are merged deeply, steps by id, from the root parent down to the child."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from groundwire_configuration.located_values import Located, Origin
from groundwire_pipelines.definition.file_models import StepDefinition
from groundwire_pipelines.definition.search_path import PipelineSearch
from groundwire_pipelines.definition.sources import PipelineSource, StepSource
from groundwire_pipelines.errors import DefinitionError, Problem


@dataclass(frozen=True, slots=True)
class PipelineDraft:
    """A merged pipeline before any check.

    `files` are those of the chain, the child's first. `prompts` are the folders of prompts next to them and those that
    they name, the child's first. `replaced` are the steps of parents, by id, that a child replaced; each is that of the
    nearest parent.
    """

    name: str
    description: str
    origin: Origin
    settings: Mapping[str, JsonValue]
    steps: Mapping[str, StepDefinition]
    origins: Mapping[str, Origin]
    files: tuple[Path, ...]
    prompts: tuple[Path, ...]
    replaced: Mapping[str, StepSource]


def inheritance_chain(source: PipelineSource, search: PipelineSearch) -> tuple[PipelineSource, ...]:
    """The pipeline and all that it extends, the root parent first.

    Raises:
        DefinitionError: A parent is not found, or a pipeline extends itself, directly or indirectly.
    """
    chain = [source]
    known = {_identity(source)}
    while (extends := chain[-1].extends) is not None:
        parent = search.parent(chain[-1], str(extends.value), extends.origin)
        if _identity(parent) in known:
            loop = " -> ".join(pipeline.name for pipeline in (*chain, parent))
            place = extends.origin
            raise DefinitionError((Problem(place.file, place.line, "extends", f"a pipeline extends itself: {loop}"),))
        known.add(_identity(parent))
        chain.append(parent)
    return tuple(reversed(chain))


def merge(chain: Sequence[PipelineSource], overrides: Mapping[str, Located]) -> PipelineDraft:
    """Merges a chain, root parent first, and the settings of the run into one pipeline.

    A step of a child replaces the parent's step of that id as a whole, in the parent's place; new steps follow.
    """
    settings: Mapping[str, Located] = {}
    steps: dict[str, StepSource] = {}
    replaced: dict[str, StepSource] = {}
    for source in chain:
        settings = _deep_merge(settings, source.settings)
        replaced |= {step_id: steps[step_id] for step_id in source.steps if step_id in steps}
        steps |= source.steps
    settings = _deep_merge(settings, overrides)
    origins: dict[str, Origin] = {}
    for key, value in settings.items():
        _collect_origins(f"settings.{key}", value, origins)
    for step_id, step in steps.items():
        origins[f"steps.{step_id}"] = step.origin
        for key, value in step.keys.items():
            _collect_origins(f"steps.{step_id}.{key}", value, origins)
    child = chain[-1]
    return PipelineDraft(
        name=child.name,
        description=child.description,
        origin=child.origin,
        settings={key: value.plain() for key, value in settings.items()},
        steps={step_id: step.definition for step_id, step in steps.items()},
        origins=origins,
        files=tuple(dict.fromkeys(source.path for source in reversed(chain))),
        prompts=tuple(
            dict.fromkeys(
                folder for source in reversed(chain) for folder in (source.path.parent / "prompts", *source.prompts)
            )
        ),
        replaced=replaced,
    )


def _identity(source: PipelineSource) -> tuple[Path, str]:
    return source.path.resolve(), source.name


def _deep_merge(parent: Mapping[str, Located], child: Mapping[str, Located]) -> Mapping[str, Located]:
    merged = dict(parent)
    for key, value in child.items():
        inherited = merged.get(key)
        if inherited is not None and isinstance(inherited.value, Mapping) and isinstance(value.value, Mapping):
            merged[key] = Located(_deep_merge(inherited.value, value.value), value.origin)
        else:
            merged[key] = value
    return merged


def _collect_origins(path: str, value: Located, origins: dict[str, Origin]) -> None:
    origins[path] = value.origin
    if isinstance(value.value, Mapping):
        for key, entry in value.value.items():
            _collect_origins(f"{path}.{key}", entry, origins)
    elif isinstance(value.value, tuple):
        for number, item in enumerate(value.value):
            _collect_origins(f"{path}.{number}", item, origins)
