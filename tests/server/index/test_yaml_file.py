"""One strict reader for every YAML file that an operator writes."""

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from groundwire_index.yaml_file import MAX_BYTES, StrictModel, YamlFileError, read_model, read_yaml


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: {c: 1,\n    c: 2}", "the key 'c' is given twice in one mapping in .*, line 3, column 5"),
        ("a: &x [1]\nb: *x", "an alias is not allowed; write it out in .*, line 2, column 4"),
        ("a: &x [*x]", "an alias is not allowed"),
        ("[" * 5_000, "is not YAML: nested too deeply"),
        ("a: 2025-13-41", "is not YAML: month must be in 1..12"),
        ("a: !!python/object/apply:os.getcwd []", "is not YAML: could not determine a constructor"),
        ("a: 1\n---\nb: 2", "is not YAML: expected a single document"),
        ("#" * (MAX_BYTES + 1), "is larger than 1,000,000 bytes; shorten it"),
    ],
)
def test_what_is_not_read_is_told_in_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(YamlFileError, match=problem) as caught:
        read_yaml(path)
    assert "\n" not in str(caught.value)


class _Form(StrictModel):
    names: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    count: Annotated[int, Field(ge=1)] = 1
    share: float = 0.0
    is_open: bool = False
    rest: dict[str, int] = Field(default_factory=dict[str, int])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("names: []", "names: is []; must have at least 1 item (line 1)"),
        ("names: ['']", "names[0]: is ''; must have at least 1 character (line 1)"),
        ("names: a", "names: is 'a'; must be a list (line 1)"),
        ("names: [1]", "names[0]: is 1; must be a text (line 1)"),
        ("names: [a]\ncount: 0", "count: is 0; must be greater than or equal to 1 (line 2)"),
        ("names: [a]\ncount: many", "count: is 'many'; must be a whole number (line 2)"),
        ("names: [a]\nshare: much", "share: is 'much'; must be a number (line 2)"),
        ("names: [a]\nis_open: 1", "is_open: is 1; must be true or false (line 2)"),
        ("names: [a]\nrest: [1]", "rest: is [1]; must be a mapping of keys to values (line 2)"),
        ("names: [a]\nmore: 1", "more: is no key here; remove it or correct its name (line 2)"),
        ("count: 1", "names: is required; give it (line 1)"),
    ],
)
def test_a_rule_is_told_in_the_words_of_a_file(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(YamlFileError) as caught:
        read_model(path, _Form, "an example")
    assert caught.value.problems == (problem,)


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("# nothing yet\n")
    assert read_yaml(path) is None
