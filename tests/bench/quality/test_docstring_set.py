"""The docstring -> function set of a tiny installed package."""

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from textwrap import dedent

import pytest

from bench.quality.docstring_set import build_docstring_set

MODULE = dedent(
    '''
    def {name}_one(values):
        """Add the values of {name} together."""
        total = sum(values)
        return total

    def {name}_two(values):
        """Multiply the values of {name} with each other."""
        product = math.prod(values)
        return product
    '''
)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `tiny` 1.5 with two modules, a test, a copied function, a repeated sentence and a template."""
    files = {
        "tiny/alpha.py": MODULE.format(name="alpha"),
        "tiny/beta.py": MODULE.format(name="beta"),
        "tiny/copied.py": MODULE.format(name="alpha").replace("Add", "Also add").replace("Multiply", "Also multiply"),
        "tiny/repeated.py": MODULE.format(name="alpha").replace("total", "result").replace("product", "result"),
        "tiny/template.py": "def {{ name }}():",
        "tiny/tests/test_tiny.py": MODULE.format(name="tests"),
    }
    folder = tmp_path / "site"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    information = folder / "tiny-1.5.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1.5\n", encoding="utf-8")
    (information / "RECORD").write_text("".join(f"{name},,\n" for name in reversed(files)), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    return folder


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_function_is_a_document_and_its_docstring_a_query(installed: Path, tmp_path: Path) -> None:
    build_docstring_set(["tiny"], documents=100, queries=100, folder=tmp_path / "set")
    corpus, queries = lines(tmp_path / "set" / "corpus.jsonl"), lines(tmp_path / "set" / "queries.jsonl")
    assert corpus[0] == {
        "id": "tiny/alpha.py#alpha_one:2",
        "text": "def alpha_one(values):\n    total = sum(values)\n    return total",
        "path": "tiny/alpha.py",
        "symbol": "alpha_one",
        "start_line": 2,
        "end_line": 5,
    }
    assert queries[0] == {"query": "Add the values of alpha together", "relevant": ["tiny/alpha.py#alpha_one:2"]}
    assert json.loads((tmp_path / "set" / "metadata.json").read_text(encoding="utf-8")) == {
        "documents": 4,
        "queries": 4,
        "distributions": {"tiny": "1.5"},
    }


def test_copies_repeated_sentences_tests_and_templates_are_left_out(installed: Path, tmp_path: Path) -> None:
    build_docstring_set(["tiny"], documents=100, queries=100, folder=tmp_path)
    assert [line["id"] for line in lines(tmp_path / "corpus.jsonl")] == [
        "tiny/alpha.py#alpha_one:2",
        "tiny/alpha.py#alpha_two:7",
        "tiny/beta.py#beta_one:2",
        "tiny/beta.py#beta_two:7",
    ]


def test_a_smaller_set_is_part_of_a_larger_one_and_its_queries_have_documents(installed: Path, tmp_path: Path) -> None:
    chosen = []
    for size in (1, 2, 3):
        build_docstring_set(["tiny"], documents=size, queries=1, folder=tmp_path / str(size))
        corpus, queries = lines(tmp_path / str(size) / "corpus.jsonl"), lines(tmp_path / str(size) / "queries.jsonl")
        chosen.append({line["id"] for line in corpus})
        assert len(queries) == 1
        assert queries[0]["relevant"] in [[line["id"]] for line in corpus]
    assert chosen[0] < chosen[1] < chosen[2]


def test_the_same_packages_give_the_same_bytes(installed: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        build_docstring_set(["tiny"], documents=3, queries=2, folder=tmp_path / name)
    for file in ("corpus.jsonl", "queries.jsonl", "metadata.json"):
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes()


def test_a_package_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PackageNotFoundError):
        build_docstring_set(["no-such-package-anywhere"], documents=1, queries=1, folder=tmp_path)
