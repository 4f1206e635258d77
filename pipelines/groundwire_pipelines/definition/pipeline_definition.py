"""A pipeline as the engine runs it: loaded, merged with its parents, checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from groundwire_configuration.located_values import Origin
from groundwire_pipelines.definition.file_models import StepDefinition
from groundwire_pipelines.errors import Problem
from groundwire_pipelines.settings import PipelineSettings


@dataclass(frozen=True, slots=True)
class PipelineDefinition:
    """A pipeline that passed every check.

    `description` says what it is for; "" if its file does not. `steps` are by id, in the order of the merge. `origins`
    has the origin of each value by its dotted key path, such as `settings.top_k` or `steps.search.top_k`. `prompts` are
    the folders to look for prompt files in, the nearest first. `warnings` name what is suspicious but can run.
    """

    name: str
    description: str
    settings: PipelineSettings
    steps: Mapping[str, StepDefinition]
    origins: Mapping[str, Origin]
    prompts: tuple[Path, ...]
    warnings: tuple[Problem, ...]
