"""The YAML files that an operator writes, as models: settings, access mapping, routing rules, repositories."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from groundwire_configuration.located_values import Located
from groundwire_configuration.rule_words import rule_in_words
from groundwire_configuration.yaml_document import DocumentError, read_document

Model = TypeVar("Model", bound=BaseModel)

_RULES = {"extra_forbidden": "is no key here; remove it or correct its name", "missing": "is required; give it"}


class StrictModel(BaseModel):
    """A part of such a file: no unknown key, no value of another type, no change afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class YamlFileError(ValueError):
    """A file cannot be used; `problems` are all reasons, each as `place: rule`, and the message joins them."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def read_yaml(path: Path) -> object:
    """The value of the one document of a file, None when it is empty.

    Raises OSError when the file cannot be read. Raises YamlFileError, with the line, when `read_document` refuses it.
    """
    document = _document(path)
    return None if document is None else document.plain()


def read_model(path: Path, form: type[Model], example: str) -> Model:
    """The content of a file as the model `form`; `example` names what shows the form.

    Raises OSError and YamlFileError as `read_yaml` does, and YamlFileError naming every place that is not of the form,
    with its line.
    """
    document = _document(path)
    try:
        return form.model_validate(None if document is None else document.plain())
    except ValidationError as error:
        raise YamlFileError(
            *(f"{_problem(details, example)} (line {_line(document, details)})" for details in error.errors())
        ) from None


def _document(path: Path) -> Located | None:
    try:
        return read_document(path)
    except DocumentError as error:
        problems = [(".".join(problem.keys) or "the file", problem) for problem in error.problems]
        raise YamlFileError(
            *(f"is not YAML: {place}: {problem.message} (line {problem.line})" for place, problem in problems)
        ) from None


def _problem(details: ErrorDetails, example: str) -> str:
    """One problem as `place: rule`."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in details["loc"]).removeprefix(".")
    rule = _RULES.get(details["type"])
    if details["type"] == "model_type":
        rule = f"must be a mapping of keys to values; see {example}"
    problem = rule or f"is {details['input']!r}; {rule_in_words(details)}"
    return f"{place or 'the file'}: {problem}"


def _line(document: Located | None, details: ErrorDetails) -> int:
    """The line of the place that a problem is about; 1 of an empty file."""
    return 1 if document is None else document.innermost(details["loc"]).origin.line
