"""Prompt files: Markdown beside a pipeline, with strict variables.

A prompt `answer` is the file `answer.md` of the nearest of the pipeline's prompt folders that has one. It is UTF-8 text
in which `{{question}}` stands for a variable; there is nothing else to it. A prompt must use every variable that it is
given and no other.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from groundwire_pipelines.definition.wording import did_you_mean
from groundwire_pipelines.errors import StepError

_PROMPT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_VARIABLE = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")


@dataclass(frozen=True, slots=True)
class PromptFolders:
    """The prompt folders of a pipeline, nearest first; implements `runtime.Prompts`."""

    folders: tuple[Path, ...]

    def render(self, name: str, variables: Mapping[str, str]) -> str:
        """The prompt with its variables filled in; a value is never read for variables of its own.

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
        """What is wrong with a prompt that is to be given these variables; () when `render` can fill it in."""
        try:
            return _variable_problems(self.text(name), variables)
        except StepError as error:
            return (error.message,)

    def text(self, name: str) -> str:
        """A prompt as its file has it.

        Raises:
            StepError: `prompt-missing`, `prompt-unreadable`.
        """
        if not _PROMPT_NAME.fullmatch(name):
            raise StepError(
                "prompt-missing",
                f"{name!r} is no prompt's name: use lower-case letters, digits, '-' and '_', without .md",
            )
        for folder in self.folders:
            path = folder / f"{name}.md"
            if path.is_file():
                return _read_text(path)
        searched = ", ".join(map(str, self.folders)) or "no folder: put it into prompts/ beside the pipeline's file"
        raise StepError("prompt-missing", f"there is no prompt {name!r} in {searched}{self._nearest(name)}")

    def _nearest(self, name: str) -> str:
        return did_you_mean(name, {path.stem for folder in self.folders for path in folder.glob("*.md")})


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StepError("prompt-unreadable", f"the prompt {path} cannot be read as UTF-8: {error}") from error


def _variable_problems(text: str, offered: Iterable[str]) -> tuple[str, ...]:
    names = sorted(offered)
    used = sorted(set(_VARIABLE.findall(text)))
    malformed = sorted({line.strip() for line in _VARIABLE.sub("", text).splitlines() if "{{" in line or "}}" in line})
    return (
        *(f"malformed variable in the line {line[:80]!r}: write {{{{name}}}}" for line in malformed),
        *(f"unknown variable {{{{{name}}}}}{did_you_mean(name, names)}" for name in used if name not in names),
        *(f"variable {{{{{name}}}}} is not used" for name in names if name not in used),
    )
