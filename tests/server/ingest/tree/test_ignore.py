"""Patterns of .gitignore mean what they mean to git, and none takes long."""

import subprocess
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundwire_ingest.tree.ignore import read_rules
from groundwire_ingest.tree.ignore_pattern import MOST_JOINED_PATTERNS
from groundwire_ingest.tree.walk import MAX_IGNORE_FILE_BYTES, list_tree

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]

NAMES = ["a", "b", "ab", "ba", "aab", "a-b", "b]", "é", "!a", "#b", "a b"]
FILES = [*NAMES, *("/".join(parts) for parts in product(["a", "b", "ab", "x-y"], ["a", "b", "ba", "é"]))]
FILES += ["/".join(parts) for parts in product(["ab", "aa"], ["a", "b"], ["a", "b", "ab"], ["b"])]
# A name cannot be a file and a folder.
TREE = [path for path in FILES if not any(other.startswith(f"{path}/") for other in FILES)]

WILDCARDS = ["*", "**", "***", "?", "/**/", "**/", "/**", "*/", "\\a", "\\*", "\\", " "]
BRACKETS = ["[ab]", "[!a]", "[^b]", "[a-b]", "[]a]", "[!]]", "[a", "[[:alpha:]]", "[![:punct:]]", "[[:no:]]", "[a/]"]
ODD_BRACKETS = ["[:]", "[b-]", "[\\]b]", "[[:]", "[b-a]", "[!-~]", "]"]
PIECES = st.sampled_from(["a", "b", "ab", "x", "-", "é", "/", *WILDCARDS, *BRACKETS, *ODD_BRACKETS])
LINES = st.tuples(st.sampled_from(["", "", "", "!", "/", "!/", "#", "\\!", "\\#"]), st.lists(PIECES, max_size=6)).map(
    lambda parts: parts[0] + "".join(parts[1])
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository without settings of the machine, over the folders and files of TREE."""
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "--quiet", root], check=True)
    (root / ".git" / "info" / "exclude").unlink(missing_ok=True)
    for path in TREE:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    return root


def seen_by_git(root: Path) -> set[str]:
    listing = subprocess.run(
        ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    return set(listing.stdout.decode().split("\0")) - {""}


def seen(root: Path) -> set[str]:
    """Every listed file, whatever reads it; without the notes on lines of the .gitignore, which it is never."""
    return {item.path for item in list_tree(root)}


@given(lines=st.lists(LINES, min_size=1, max_size=4))
@example(lines=["/**\\/**/"])
@example(lines=["**\\/b", "!a/**\\/a"])
def test_what_is_left_out_is_what_git_leaves_out(repository: Path, lines: list[str]) -> None:
    (repository / ".gitignore").write_text("\n".join(lines), encoding="utf-8")
    assert seen(repository) - {".gitignore"} == seen_by_git(repository) - {".gitignore"}


def test_very_many_patterns_leave_out_what_git_leaves_out(repository: Path) -> None:
    lines = [f"other{number}" for number in range(MOST_JOINED_PATTERNS)]
    (repository / ".gitignore").write_text("\n".join([*lines, "a", "!b"]), encoding="utf-8")
    assert seen(repository) - {".gitignore"} == seen_by_git(repository) - {".gitignore"}


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("*a" * 60 + "b", "a" * 200 + "c"),
        ("*a*" * 60 + "b", "a" * 200 + "c"),
        ("/" + "*a" * 60 + "b", "a" * 200 + "c"),
        ("/" + "*a" * 60 + "b/x", "a" * 200 + "c/x"),
        ("**/a/" * 60 + "b", "a/" * 1000 + "c"),
        ("**/*a*a/" * 60 + "b", "aaaa/" * 500 + "c"),
        ("[ab]**/a/" * 40 + "b", "a/" * 1000 + "c"),
        ("*?" * 100 + "b", "a" * 250),
        ("*[ab]" * 100 + "c", "ab" * 120),
    ],
)
def test_a_line_of_many_stars_ends(line: str, path: str) -> None:
    rules, notes = read_rules("", line.encode(), None)
    assert notes == ()
    assert not rules.ignores(path)


def test_the_first_place_is_as_good_as_any() -> None:
    rules, _ = read_rules("", b"*a*a*b*ab\n/x/**/a/*b/**/c/d\n", None)
    assert rules.ignores("aabab")
    assert rules.ignores("xaaabbaab")
    assert rules.ignores("x/a/a/ab/c/c/c/d")
    assert not rules.ignores("x/a/a/ab/c/c/d/c")


@pytest.mark.parametrize("line", [b"!", b"a\\", b"a[", b"a[b", b"[[:alphabet:]]", b"[a\\"])
def test_a_line_that_is_no_pattern_is_named(line: bytes) -> None:
    rules, (note,) = read_rules("shop/", b"x\n" + line + b"\r\n", None)
    assert len(rules.patterns) == 1
    assert note.path == "shop/.gitignore"
    assert note.why.startswith("line 2 is not a pattern and is ignored: ")


def test_a_name_that_is_no_utf_8_is_compared_byte_by_byte() -> None:
    rules, _ = read_rules("", b"caf\xe9\n*.p?\n", None)
    assert rules.ignores(b"caf\xe9".decode(errors="surrogateescape"))
    assert rules.ignores(b"caf\xe9.py".decode(errors="surrogateescape"))
    assert not rules.ignores("café")


def test_a_folder_whose_ignore_file_is_too_large_is_not_read(make_tree: TreeMaker) -> None:
    most = "secret.py\n".ljust(MAX_IGNORE_FILE_BYTES, "\n")
    root = make_tree({"a/.gitignore": most + "\n", "a/secret.py": "x", "b/.gitignore": most, "b/secret.py": "x"})
    by_path = {item.path: item for item in list_tree(root)}
    assert "a/secret.py" not in by_path
    assert "its .gitignore has more than 1000000 bytes; shorten it" in str(by_path["a/"])
    assert "b/.gitignore" in by_path
    assert "b/secret.py" not in by_path
