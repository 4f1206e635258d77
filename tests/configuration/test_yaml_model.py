"""One strict reader for every YAML file that an operator writes."""

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from groundwire_configuration.yaml_document import MAX_FILE_BYTES
from groundwire_configuration.yaml_model import StrictModel, YamlFileError, read_model, read_yaml


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: {c: 1,\n    c: 2}", "is not YAML: b.c: is given twice; first in line 2 (line 3)"),
        ("a: &x [*x]", "is not YAML: a.0: the alias *x has no finished anchor before it (line 1)"),
        ("[" * 5_000, "is not YAML: 0.0.0.0: is nested deeper than 32 levels (line 1)"),
        (
            "a: !!python/object/apply:os.getcwd []",
            "is not YAML: a: the tag !!python/object/apply:os.getcwd is not allowed; quote a value to make it a text "
            "(line 1)",
        ),
        ("a: &x {b: 1}\nc:\n  <<: *x", "is not YAML: c.<<: merge keys are not allowed; write the keys out (line 3)"),
        ("1: a", "is not YAML: the file: the key '1' is no text; quote it (line 1)"),
        ("a: 1\n---\nb: 2", "is not YAML: the file: a second document begins here; a file holds one (line 2)"),
        ("#" * (MAX_FILE_BYTES + 1), "is not YAML: file: is larger than 1,000,000 bytes; shorten it (line 1)"),
    ],
)
def test_what_is_not_read_is_told_in_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(YamlFileError) as caught:
        read_yaml(path)
    assert caught.value.problems == (problem,)


def test_a_value_may_be_written_once_and_used_again(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("team: &team [ann, bob]\nreaders: *team\nwriters: *team\n")
    assert read_yaml(path) == {name: ["ann", "bob"] for name in ("team", "readers", "writers")}


def test_aliases_cannot_multiply_without_end(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    path.write_text("\n".join(lines))
    with pytest.raises(YamlFileError, match="the aliases of the file add more than 100,000 values") as caught:
        read_yaml(path)
    assert len(caught.value.problems) == 1


def test_many_values_that_are_written_out_are_read(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(f"[{','.join(['1'] * 200_000)}]")
    assert read_yaml(path) == [1] * 200_000


def test_unquoted_words_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("[no, on, 2025-12-14, 12:30, 1_000]")
    assert read_yaml(path) == ["no", "on", "2025-12-14", "12:30", "1_000"]


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
