"""Pairs of subjects and nodes: which lines a commit changed, and where these lines were in an earlier tree."""

import difflib
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.ranking.pairs import (
    Pair,
    Span,
    carried_back,
    changed_lines,
    innermost,
    pairs_of,
    read_pairs,
    read_sources,
    spans_of,
    used_changes,
    write_pairs,
)

PATH = "src/cart.py"
BASE = "def add():\n    one()\n    two()\n\n\ndef drop():\n    three()\n"
SPANS = {PATH: [Span(1, 7, "cart"), Span(1, 3, "add"), Span(6, 7, "drop")]}


def commit(git: Path, message: str, files: dict[str, str]) -> str:
    for path, content in files.items():
        file = git / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    run(git, "add", "--all")
    run(git, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", f"--message={message}")
    return run(git, "rev-parse", "HEAD")


def run(git: Path, *arguments: str) -> str:
    command = ["git", "-C", str(git), "-c", "commit.gpgSign=false", *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


@pytest.fixture
def git(tmp_path: Path) -> Path:
    folder = tmp_path / "git"
    folder.mkdir()
    run(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def test_a_subject_leads_to_the_nodes_whose_lines_it_changed(git: Path) -> None:
    base = commit(git, "Begin with a cart of goods", {PATH: BASE, "README.md": "", "tests/test_cart.py": ""})
    commit(git, "Say in the log what is added", {PATH: "# A cart.\n" + BASE.replace("two()", "two()\n    log()")})
    moved = (git / PATH).read_text(encoding="utf-8")
    message = "fix: drop a good once (#3)\n\nA double click has dropped two of them.\nMore."
    commit(git, message, {PATH: moved.replace("three", "drop_one"), "tests/test_cart.py": "x"})
    commit(git, "Write down how a cart works", {"README.md": "x"})
    commit(
        git, "Log the good that was added", {PATH: (git / PATH).read_text(encoding="utf-8").replace("log()", "log(1)")}
    )
    changes = used_changes(git, "main", 3)
    assert [change.subject for change in changes] == [
        "Log the good that was added",
        "fix: drop a good once (#3)",
        "Say in the log what is added",
    ]
    # The last commit changes a line that the tree of the first one does not have: it is no pair.
    assert list(pairs_of(git, base, changes, SPANS)) == [
        Pair("drop a good once. A double click has dropped two of them.", ("drop",)),
        Pair("Say in the log what is added", ("add",)),
    ]


def test_commits_of_many_files_are_left_out(git: Path) -> None:
    commit(git, "Begin with many files at once", {f"src/{number}.py": "" for number in range(11)})
    assert used_changes(git, "main", 3) == []


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_lines_are_carried_back_to_lines_of_the_same_text(old: list[str], new: list[str]) -> None:
    patch = "\n".join(difflib.unified_diff(old, new, lineterm="", n=0))
    kept = carried_back(range(1, len(new) + 1), patch)
    assert kept == sorted(set(kept))
    unchanged = [line for line in range(1, len(old) + 1) if line not in removed(patch)]
    assert kept == unchanged
    added = len(new) - len(kept)
    assert sum(line.startswith("+") for line in patch.splitlines()[2:]) == added


def removed(patch: str) -> set[int]:
    inserted_after = {int(line[4:].split()[0].split(",")[0]) for line in patch.splitlines() if ",0 +" in line}
    return set(changed_lines(patch)) - inserted_after


def test_a_line_belongs_to_the_smallest_node_around_it() -> None:
    assert innermost(SPANS[PATH], [2, 5, 9]) == {"add", "cart"}


def test_nodes_with_lines_are_spans_and_pairs_are_read_as_they_are_written(tmp_path: Path) -> None:
    nodes: dict[str, dict[str, Any]] = {
        "r::b::py::a.py#f": {"path": "a.py", "start_line": 2, "end_line": 4},
        "r::b::py::a.py#g": {"path": "a.py"},
    }
    assert spans_of(nodes.items()) == {"a.py": [Span(2, 4, "r::b::py::a.py#f")]}
    pairs = [Pair("where is é?", ("a", "b"))]
    assert write_pairs(tmp_path / "pairs.jsonl", pairs) == 1
    assert read_pairs(tmp_path / "pairs.jsonl") == pairs


def test_the_table_has_sixty_repositories_in_three_parts() -> None:
    sources = read_sources(Path("bench/ranking/sources.tsv"))
    assert len({source.repository for source in sources}) == len(sources) >= 60
    assert {source.part for source in sources} == {"train", "develop", "kept"}
    aside = {"usememos/memos", "sissbruecker/linkding", "hoppscotch/hoppscotch", "pallets/flask", "dotnet/eShop"}
    assert aside.isdisjoint(source.repository for source in sources)
