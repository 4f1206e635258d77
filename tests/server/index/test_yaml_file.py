"""One strict reader for every YAML file that an operator writes."""

from pathlib import Path

import pytest

from groundwire_index.yaml_file import MAX_BYTES, YamlFileError, read_yaml


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


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("# nothing yet\n")
    assert read_yaml(path) is None
