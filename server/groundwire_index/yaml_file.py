"""The YAML files that an operator writes: settings, access mapping, routing rules, repositories. One strict reader."""

import re
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

MAX_BYTES = 1_000_000

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

    Raises OSError when the file cannot be read. Raises YamlFileError, with the line, when it is larger than MAX_BYTES,
    is no YAML, gives a key twice in one mapping, or uses an alias (`*name`), which can multiply without end.
    """
    return _value(_content(path))


def read_model(path: Path, form: type[Model], example: str) -> Model:
    """The content of a file as the model `form`; `example` names what shows the form.

    Raises OSError and YamlFileError as `read_yaml` does, and YamlFileError naming every place that is not of the form,
    with its line.
    """
    content = _content(path)
    value = _value(content)
    try:
        return form.model_validate(value)
    except ValidationError as error:
        root = yaml.compose(content, _StrictLoader)
        raise YamlFileError(
            *(f"{_problem(details, example)} (line {_line(root, details['loc'])})" for details in error.errors())
        ) from None


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise YamlFileError(f"is larger than {MAX_BYTES:,} bytes; shorten it")
    return content


def _value(content: bytes) -> object:
    try:
        return yaml.load(content, _StrictLoader)
    except RecursionError:
        raise YamlFileError("is not YAML: nested too deeply") from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, OverflowError) as error:
        # The last two are what PyYAML raises for dates, numbers and escapes out of range.
        raise YamlFileError(f"is not YAML: {' '.join(str(error).split())}") from None


class _StrictLoader(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise ComposerError(None, None, "an alias is not allowed; write it out", event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuses two equal keys: YAML silently keeps the last, and grants must not depend on that."""
        keys: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in keys:
                problem = f"the key {key.value!r} is given twice in one mapping"
                raise ConstructorError(None, None, problem, key.start_mark)
            if isinstance(key, yaml.ScalarNode):
                keys.add(key.value)
        return super().construct_mapping(node, deep)


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


def _line(node: yaml.Node | None, place: Iterable[int | str]) -> int:
    """The line, from 1, of a place in a document: that of its key, or else of the innermost part around it."""
    line = 1 if node is None else node.start_mark.line + 1
    for part in place:
        match node:
            case yaml.MappingNode():
                entries = [(key, value) for key, value in node.value if getattr(key, "value", None) == str(part)]
            case yaml.SequenceNode() if isinstance(part, int):
                entries = [(value, value) for value in node.value[part : part + 1]]
            case _:
                entries = []
        if not entries:
            break
        key, node = entries[0]
        line = key.start_mark.line + 1
    return line
