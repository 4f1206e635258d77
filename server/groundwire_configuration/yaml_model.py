"""The YAML files that an operator writes, as models: settings, access mapping, routing rules, repositories."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from groundwire_configuration.located_values import Located
from groundwire_configuration.yaml_document import DocumentError, read_document

Model = TypeVar("Model", bound=BaseModel)

_RULES = {"extra_forbidden": "is no key here; remove it or correct its name", "missing": "is required; give it"}

_SUBJECT = re.compile("^(?:Input|String|List|Tuple|Set|Dictionary|Value|Number) should ")
_WORDS = {
    "a valid string": "a text",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "true or false",
    "a valid list": "a list",
    "a valid tuple": "a list",
    "a valid array": "a list",
    "a valid dictionary": "a mapping of keys to values",
    "a valid mapping": "a mapping of keys to values",
}
"""What pydantic calls the values of a file, and what their authors do."""


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
            *(f"{_problem(details, example)} (line {_line(document, details['loc'])})" for details in error.errors())
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
    problem = rule or f"is {details['input']!r}; {_rule_in_words(details['msg'])}"
    return f"{place or 'the file'}: {problem}"


def _rule_in_words(message: str) -> str:
    """A rule of pydantic in the words of a file: `List should have at least 1 item after validation, not 0`."""
    rule = _SUBJECT.sub("must ", message.removeprefix("Value error, ")).partition(" after validation")[0]
    for name, word in _WORDS.items():
        rule = rule.replace(name, word)
    return rule


def _line(document: Located | None, place: Iterable[int | str]) -> int:
    """The line, from 1, of a place in a document: that of its key, or else of the innermost part around it."""
    if document is None:
        return 1
    part = document
    for key in place:
        if isinstance(part.value, Mapping) and str(key) in part.value:
            part = part.value[str(key)]
        elif isinstance(part.value, tuple) and isinstance(key, int) and key < len(part.value):
            part = part.value[key]
        else:
            break
    return part.origin.line
