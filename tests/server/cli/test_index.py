"""`groundwire index` as an operator meets it: sources, what is left out, and what is refused."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.jsonl import edge, node
from support.program import run, run_ok, write_jsonl

ONE = ("--repository", "shop", "--branch", "main", "--embedder", "none")
WITHOUT_PROGRESS = {"groundwire_cli.terminal_progress.SECONDS_BETWEEN_LINES": 3600.0}
"""A busy machine may take so long for a stage that its progress becomes a line among the errors."""


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    files = {"shop.py": "def shop():\n    return 1\n", "payroll/pay.py": "def pay():\n    return 2\n"}
    return write(tmp_path / "shop", files)


def exported(data: Path, branch: str = "main") -> dict[str, dict[str, object]]:
    """The nodes of shop by their paths; of several nodes of a file the last."""
    lines = run_ok("export", "-r", "shop", "-b", branch, "-o", "-", "--data", data).splitlines()
    return {record["path"]: record for record in map(json.loads, lines) if record["type"] == "node"}


@pytest.mark.parametrize(
    ("embedder", "problem"),
    [
        ("", "--embedder is empty: is the variable that it comes from set"),
        (
            "localhost:11434/v1/embeddings#model=m",
            "embedder: localhost:11434/v1/embeddings#model=m: must be a path, or a",
        ),
        (
            "http://me:secret@localhost/v1/embeddings#model=m",
            "embedder: http://...@localhost/v1/embeddings#model=m: must",
        ),
    ],
)
def test_a_service_that_cannot_be_meant_is_no_model(tmp_path: Path, shop: Path, embedder: str, problem: str) -> None:
    done = run("index", shop, *ONE[:-1], embedder, "--data", tmp_path / "data")
    assert done.returncode
    assert f"error: {problem}" in done.stderr


def test_a_report_shows_signs_in_place_of_those_that_steer_the_terminal(tmp_path: Path) -> None:
    signs = "\u202e\x1b[31m\x9b"
    nodes = [node(name, f"def {name}(): pass", None) for name in ("a", "b")]
    source = write_jsonl(tmp_path / "no\u202des.jsonl", [*nodes, edge("cs::a", "cs::b", f"Calls{signs}")])
    command = ("index", source, "-r", "sh\u202eop", "-b", "main", "--embedder", "none", "--data", tmp_path / "data")
    built, unchanged = run_ok(*command, "--version", "v1"), run_ok(*command)
    more = write_jsonl(tmp_path / "more.jsonl", [*nodes, node(f"c{signs}", "c", None, path=f"c{signs}.cs")])
    run_ok("index", more, *command[2:], "--version", "v2")
    compared = run_ok("diff", "v1", "v2", "-r", "sh\u202eop", "-b", "main", "--data", tmp_path / "data")
    failed = run("index", tmp_path / f"absent{signs}", *command[2:]).stderr
    for printed in (built, unchanged, compared, failed):
        assert not [sign for sign in "\u202e\u202d\x1b\x9b" if sign in printed]
        assert "\N{REPLACEMENT CHARACTER}" in printed


def test_an_unchanged_tree_is_left_alone(tmp_path: Path, shop: Path) -> None:
    command = ("index", shop, *ONE, "--data", tmp_path / "data")
    assert "shop main" in run_ok(*command, "--version", "v1")
    assert run_ok(*command) == "shop main: unchanged, v1 stays active\n"
    assert "(active)" in run_ok(*command, "--version", "v2")
    without_pay = run_ok(*command, "--exclude", "payroll/", "--exclude", "*.cs")
    assert "--exclude *.cs: no path matches this pattern" in without_pay
    assert re.search(r"files skipped, in whole or part\W+0\b", without_pay)
    assert exported(tmp_path / "data").keys() == {"shop.py"}


def test_a_file_whose_path_makes_too_long_an_id_is_named_and_the_others_are_indexed(tmp_path: Path, shop: Path) -> None:
    deep = "/".join("d" * 200 for _ in range(11))
    write(shop, {f"{deep}/shop.py": "import payroll.pay\n\n\ndef other():\n    payroll.pay.pay()\n"})
    printed = run_ok("index", shop, *ONE, "--data", tmp_path / "data", "--version", "v1")
    assert "skipped 1: the id of a node has more than 2048 bytes; shorten the file's path or the symbol: ddd" in printed
    assert exported(tmp_path / "data").keys() == {"shop.py", "payroll/pay.py"}


def test_metadata_at_the_deepest_nesting_are_indexed_and_deeper_ones_refused(tmp_path: Path) -> None:
    node, file = {"type": "node", "kind": "cs", "local_id": "a", "text": "a"}, tmp_path / "a.jsonl"
    for levels, code in ((61, 0), (63, 1), (500, 1)):
        nested = json.dumps(node)[:-1] + ', "metadata": {"a": ' + "[" * levels + "]" * levels + "}}"
        file.write_text(nested + "\n")
        done = run("index", file, *ONE, "--data", tmp_path / "data")
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        assert ("is nested too deeply to read" in done.stderr) == bool(code)


def test_of_many_types_and_reasons_only_the_most_frequent_are_printed(tmp_path: Path, shop: Path) -> None:
    edges = [{"type": "edge", "from": "cs::a", "to": "cs::a", "edge_type": f"T{number:03}"} for number in range(900)]
    records = [{"type": "node", "kind": "cs", "local_id": "a", "text": "a"}, *edges]
    write(tmp_path, {"many.jsonl": "".join(json.dumps(record) + "\n" for record in records)})
    printed = run_ok("index", tmp_path / "many.jsonl", *ONE, "--data", tmp_path / "data")
    assert re.search(r"  850 others\W+850\b", printed)
    assert len(printed.splitlines()) < 80
    write(shop, {".gitignore": "!\n" * 200})
    printed = run_ok("index", shop, *ONE, "--data", tmp_path / "data")
    assert "skipped for 151 other reasons: 151" in printed


def test_files_that_are_skipped_for_one_reason_have_one_row_with_their_lines(tmp_path: Path, shop: Path) -> None:
    write(shop, {"a.py": "x = 1\n\ndef a(:\n", "b.py": "x = 1\n\n\ndef b(:\n", "c.eot": "c", "d.woff": "d"})
    printed = run_ok("index", shop, *ONE, "--data", tmp_path / "data")
    assert "skipped 2: syntax error; the rest of the file is indexed: a.py:3, b.py:4\n" in printed
    assert "skipped 2: an image, a font, an archive or other data: c.eot, d.woff\n" in printed


def test_names_of_a_source_are_printed_as_they_are(tmp_path: Path) -> None:
    """Square brackets are markup to rich: an end without a beginning would be an error after the build."""
    file = write(
        tmp_path,
        {
            "nodes.jsonl": '{"type": "node", "kind": "cs", "local_id": "a", "text": "a"}\n'
            '{"type": "edge", "from": "cs::a", "to": "cs::a", "edge_type": "Calls[/red]"}\n'
        },
    )
    printed = run_ok(
        "index", file / "nodes.jsonl", "-r", "[/bold]", "-b", "[red]", "--embedder", "none", "--data", tmp_path / "data"
    )
    assert "[/bold] [red] 2" in printed
    assert "Calls[/red]" in printed


def test_a_file_of_repositories_indexes_all_that_it_can(tmp_path: Path, shop: Path) -> None:
    file = tmp_path / "repositories.yaml"
    file.write_text("""\
repositories:
  - {path: nowhere, repository: shop, branch: gone, embedder: none}
  - {path: shop, repository: shop, branch: typo, embedder: none, acl: [{path: "payrol/**", tags: [finance]}]}
  - {path: shop, repository: shop, branch: main, embedder: none, acl: [{path: "payroll/**", tags: [finance]}]}
  - {path: shop, repository: shop, branch: small, embedder: none, exclude: [payroll/]}
""")
    data = tmp_path / "data"
    ended = run("index", file, "--data", data, "--version", "v1", constants=WITHOUT_PROGRESS)
    assert ended.returncode == 1
    errors = ended.stderr.splitlines()
    assert errors[0].startswith("error: shop gone: ")
    assert errors[1].startswith("error: shop typo: no file matches the access rule 'payrol/**'; correct the pattern")
    assert errors[2:] == ["error: 2 of 4 repositories failed: shop gone, shop typo"]
    listed = json.loads(run_ok("indexes", "--json", "--data", data))
    assert [(entry["branch"], entry["version"]) for entry in listed] == [("main", "v1"), ("small", "v1")]
    nodes = exported(data)
    assert (nodes["shop.py"]["acl_tags"], nodes["payroll/pay.py"]["acl_tags"]) == ([], ["finance"])
    assert exported(data, "small").keys() == {"shop.py"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("shop",), 2, "--repository and --branch must be given, except with a YAML file of repositories"),
        (("shop", *ONE, "--exclude", "a["), 1, "'a[' is not a pattern of .gitignore: nothing closes the bracket"),
        (("shop", *ONE, "--watch", "--version", "v1"), 2, "leave out --version and --no-activate"),
        (("shop/shop.py", *ONE, "--watch"), 1, "shop.py: is no folder; --watch needs folders"),
        (("r.yaml", "-b", "main"), 2, "r.yaml states the options of each repository: leave out --repository, "),
        (("r.yaml",), 2, "r.yaml: repositories[0].acls: is no key here; remove it or correct its name (line 2)"),
        (("r.yaml",), 2, "r.yaml: repositories[0].branch: is required; give it (line 2)"),
        (("absent.yaml",), 1, "absent.yaml: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_told(
    tmp_path: Path, shop: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (tmp_path / "r.yaml").write_text("repositories:\n  - {path: shop, repository: shop, acls: []}\n")
    source, *options = arguments
    ended = run("index", tmp_path / source, *options, "--data", tmp_path / "data", constants=WITHOUT_PROGRESS)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert message in ended.stderr
    assert all(line.startswith("error: ") for line in ended.stderr.splitlines())
    assert not (tmp_path / "data").exists()
