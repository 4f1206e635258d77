"""Loads a pipeline by name or path."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from groundwire_configuration.located_values import Located, located
from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.actions.registry import actions as registered_actions
from groundwire_pipelines.definition.merging import inheritance_chain, merge
from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition
from groundwire_pipelines.definition.search_path import RUN, PipelineSearch
from groundwire_pipelines.errors import DefinitionError, Problem
from groundwire_pipelines.validation.validator import validated


def load_pipeline(
    name_or_path: str,
    search_path: Sequence[Path] = (),
    overrides: Mapping[str, JsonValue] = {},
    actions: Mapping[str, Action[Any]] | None = None,
) -> PipelineDefinition:
    """Loads a pipeline, merges it with what it extends, and checks all of it.

    Args:
        name_or_path: `name` of a pipeline on the search path, `file.yaml`, or `file.yaml#name`.
        search_path: Folders to search before the library, in order.
        overrides: Settings of this run, which override those of the files; their origin is the file `<run>`.
        actions: The actions that steps may name; those of the registry by default.

    Raises:
        DefinitionError: The pipeline has problems; names each with its place.
    """
    search = PipelineSearch(search_path)
    chain = inheritance_chain(search.find(name_or_path), search)
    draft = merge(chain, {key: _override(key, value) for key, value in overrides.items()})
    return validated(draft, registered_actions() if actions is None else actions)


def _override(key: str, value: JsonValue) -> Located:
    try:
        return located(value, RUN)
    except ValueError as error:
        raise DefinitionError((Problem(RUN.file, RUN.line, f"settings.{key}", str(error)),)) from error
