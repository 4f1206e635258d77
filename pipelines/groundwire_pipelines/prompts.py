"""Prompt files: Markdown next to a pipeline, with strict variables.

A prompt `answer` is the file `answer.md` of the nearest of the pipeline's prompt folders that has one. It is UTF-8
text, where `{{question}}` is a variable and `{{plan.query}}` a field of one; there is no other syntax. A prompt must
use every variable that it is given and no other. The JSON Schema `plan` of an answer is the file `plan.json` next to
the prompts.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.json_answer import schema_problem
from groundwire_pipelines.wording import did_you_mean

_PROMPT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
VARIABLE_NAME = r"[a-z][a-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
"""The form of a variable, or of a field of one."""
_VARIABLE = re.compile(rf"\{{\{{({VARIABLE_NAME})\}}\}}")

PROMPT: Final = ".md"
"""The suffix of a prompt's file."""
SCHEMA: Final = ".json"
"""The suffix of a JSON Schema's file."""


@dataclass(frozen=True, slots=True)
class PromptFolders:
    """The prompt folders of a pipeline, nearest first."""

    folders: tuple[Path, ...]

    def render(self, name: str, variables: Mapping[str, str]) -> str:
        """The prompt with its variables filled in. Values are inserted as they are: variables in them are not replaced.

        Raises:
            StepError: `prompt-missing`, `prompt-unreadable`, or `prompt-variables` where the file and the variables
                disagree.
        """
        text = self.text(name)
        problems = _variable_problems(text, variables.keys())
        if problems:
            raise StepError("prompt-variables", f"prompt {name!r}: {'; '.join(problems)}")
        return _VARIABLE.sub(lambda match: variables[match[1]], text)

    def problems(self, name: str, variables: Iterable[str]) -> tuple[str, ...]:
        """The problems of a prompt with these variables; () if `render` can fill it in."""
        try:
            return _variable_problems(self.text(name), variables)
        except StepError as error:
            return (error.message,)

    def schema(self, name: str) -> Mapping[str, JsonValue]:
        """The JSON Schema of a file.

        Raises:
            StepError: `prompt-missing`, `prompt-unreadable`, or `response-schema-malformed` where the file holds none.
        """
        try:
            schema: JsonValue = json.loads(self.text(name, SCHEMA))
        except (ValueError, RecursionError) as error:
            raise StepError("response-schema-malformed", f"schema {name!r}: no JSON: {error}") from error
        if not isinstance(schema, dict):
            raise StepError("response-schema-malformed", f"schema {name!r}: must be an object")
        if problem := schema_problem(schema):
            raise StepError("response-schema-malformed", f"schema {name!r}: {problem}")
        return schema

    def schema_problem(self, name: str) -> str:
        """The problem of a schema's file; empty if `schema` can read it."""
        try:
            self.schema(name)
        except StepError as error:
            return error.message
        return ""

    def text(self, name: str, ending: str = PROMPT) -> str:
        """The text of a prompt's file, or of a JSON Schema's if `ending` is SCHEMA.

        Raises:
            StepError: `prompt-missing`, `prompt-unreadable`.
        """
        kind = "schema" if ending == SCHEMA else "prompt"
        if not _PROMPT_NAME.fullmatch(name):
            raise StepError(
                "prompt-missing",
                f"{name!r} is no {kind}'s name: use lower-case letters, digits, '-' and '_', without {ending}",
            )
        for folder in self.folders:
            path = folder / f"{name}{ending}"
            if not path.is_file():
                continue
            try:
                return path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise StepError("prompt-unreadable", f"the file {path} cannot be read as UTF-8: {error}") from error
        searched = ", ".join(map(str, self.folders)) or "no folder: put it into prompts/ next to the pipeline's file"
        near = did_you_mean(name, {path.stem for folder in self.folders for path in folder.glob(f"*{ending}")})
        raise StepError("prompt-missing", f"there is no {kind} {name!r} in {searched}{near}")


def _variable_problems(text: str, offered: Iterable[str]) -> tuple[str, ...]:
    names = sorted(offered)
    used = sorted(set(_VARIABLE.findall(text)))
    malformed = sorted({line.strip() for line in _VARIABLE.sub("", text).splitlines() if "{{" in line or "}}" in line})
    return (
        *(f"malformed variable in the line {line[:80]!r}: write {{{{name}}}}" for line in malformed),
        *(f"unknown variable {{{{{name}}}}}{did_you_mean(name, names)}" for name in used if name not in names),
        *(f"variable {{{{{name}}}}} is not used" for name in names if name not in used),
    )
