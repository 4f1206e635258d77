"""Copies of pipelines, to edit."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundwire_pipelines.actions.definition import Action
from groundwire_pipelines.definition.merged_yaml import editable_yaml
from groundwire_pipelines.definition.model import PipelineDefinition
from groundwire_pipelines.definition.sources import PIPELINE_NAME
from groundwire_pipelines.engine.binding import bind
from groundwire_pipelines.errors import PipelineError
from groundwire_pipelines.prompts import PROMPT, SCHEMA, PromptFolders


def copy_pipeline(
    definition: PipelineDefinition, name: str, folder: Path, actions: Mapping[str, Action[Any]]
) -> tuple[Path, ...]:
    """Writes a pipeline under another name, without `extends`, and the prompts that its steps use.

    Returns:
        The files written: `<folder>/<name>.yaml` and those of `<folder>/prompts`.

    Raises:
        PipelineError: The name is not valid for a pipeline, a file exists already, or it cannot be written.
    """
    if not PIPELINE_NAME.pattern.fullmatch(name):
        raise PipelineError(f"{name!r} {PIPELINE_NAME.rule}")
    prompts = PromptFolders(definition.prompts)
    steps = bind(definition, actions).values()
    used = sorted({(prompt, PROMPT) for step in steps for prompt in step.prompts})
    used += sorted({(schema, SCHEMA) for step in steps for schema in step.schemas})
    contents = {folder / f"{name}.yaml": editable_yaml(definition, name)}
    contents |= {folder / "prompts" / f"{one}{ending}": prompts.text(one, ending) for one, ending in used}
    for path in contents:
        if path.exists():
            raise PipelineError(f"{path} already exists: name another folder, or remove it")
    try:
        for path, text in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            # Exclusive creation: a dangling symbolic link does not count as an existing file, but must not be followed.
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise PipelineError(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    return tuple(contents)
