from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_configuration.located_values import unquoted
from groundwire_configuration.yaml_document import MAX_FILE_BYTES
from groundwire_pipelines.definition.pipeline_file import read_document
from groundwire_pipelines.errors import DefinitionError


def problems(path: Path, content: bytes) -> list[str]:
    path.write_bytes(content)
    with pytest.raises(DefinitionError) as caught:
        read_document(path)
    return [str(problem).removeprefix(f"{path}:") for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\nb: \xff\n", "2: file: is not UTF-8 at byte 8; save it as UTF-8"),
        (b"a: 1\nb: \x07\n", "2: yaml: the character U+0007 is not allowed"),
        (b"a: 1\nb: \0\n", "2: yaml: the character U+0000 is not allowed"),
        (b"#" * (MAX_FILE_BYTES + 1), "1: file: is larger than 1,000,000 bytes; shorten it"),
        (b"%YAML 9.9\n---\na: 1\n", "1: yaml: found incompatible YAML document (version 1.* is required) (column 1)"),
    ],
)
def test_bytes_that_are_no_pipeline_file(tmp_path: Path, content: bytes, message: str) -> None:
    assert problems(tmp_path / "it.yaml", content) == [message]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"1: file: cannot be read: No such file or directory$"):
        read_document(tmp_path / "it.yaml")


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    path = tmp_path / "it.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_document(path).plain() == {"a": 1}


def test_aliases_cannot_multiply_without_bound(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert problems(tmp_path / "it.yaml", "\n".join(lines).encode()) == [
        "5: a4.7: the aliases of the file add more than 100,000 values"
    ]


def test_aliases_cannot_nest_without_bound(tmp_path: Path) -> None:
    lines = ["a0: &a0 x", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 200))]
    assert problems(tmp_path / "it.yaml", "\n".join(lines).encode()) == ["33: a32.0: is nested deeper than 32 levels"]


def test_values_know_the_line_of_their_key(tmp_path: Path) -> None:
    path = tmp_path / "it.yaml"
    path.write_text("a:\n  b:\n    - 1\n    - 2\nc: &c\n  d: 1\ne: *c\n")
    root = read_document(path).value
    assert isinstance(root, dict)
    b = root["a"].value["b"]
    assert (b.origin.line, [item.origin.line for item in b.value]) == (2, [3, 4])
    assert (root["e"].origin.line, root["e"].value["d"].origin.line) == (7, 6)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("nUll", "nUll"),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("off", "off"),
        ("on", "on"),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1e3", -1000.0),
        ("1.10.2", "1.10.2"),
        ("12:30", "12:30"),
        ("2025-12-14", "2025-12-14"),
        ("=", "="),
    ],
)
def test_unquoted_scalars_mean_what_yaml_1_2_says(text: str, value: object) -> None:
    result = unquoted(text)
    assert (type(result), result) == (type(value), value)


@pytest.mark.parametrize("text", [".inf", "-.INF", ".nan", "1e999", "1" * 21])
def test_numbers_that_json_does_not_have(text: str) -> None:
    with pytest.raises(ValueError, match=r"number"):
        unquoted(text)


@given(content=st.one_of(st.binary(max_size=200), st.text(alphabet="ab:-[]{}&*!#'\"\\|>%@? \n\tuU019", max_size=60)))
def test_whatever_a_file_holds_is_a_value_or_a_problem(
    tmp_path_factory: pytest.TempPathFactory, content: bytes | str
) -> None:
    path = tmp_path_factory.getbasetemp() / "whatever.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        read_document(path).plain()
    except DefinitionError as error:
        complete = [bool(problem.line >= 1 and problem.key and problem.message) for problem in error.problems]
    else:
        complete = [True]
    assert complete
    assert all(complete)
