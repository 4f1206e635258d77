"""`groundwire index --watch`: every change is a version that answers, until Ctrl-C."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.program import run_ok, start

SCOPE = ("--repository", "shop", "--branch", "main")


def next_line(lines: Iterator[str], wanted: str) -> str:
    return next(line for line in lines if re.search(wanted, line))


@pytest.mark.slow
def test_changes_are_indexed_until_it_is_interrupted(tmp_path: Path) -> None:
    root, data = tmp_path / "shop", tmp_path / "shop" / "data"
    root.mkdir()
    file = root / "shop.py"
    file.write_text("def first():\n    return 1\n")
    process = start("index", root, *SCOPE, "--embedder", "none", "--data", data, "--watch")
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        lines, errors = iter(process.stdout), iter(process.stderr)
        next_line(lines, r"shop main auto-\S+ \(active\): 2 nodes")
        next_line(lines, "^watching .*shop; Ctrl-C ends it")
        for number in range(3, 6):
            with file.open("a") as stream:
                stream.write(f"def function{number}():\n    return {number}\n")
            next_line(lines, rf"shop main auto-\S+ \(active\): {number} nodes")
        file.rename(tmp_path / "shop.py")
        assert "the source holds no nodes" in next_line(errors, "tried again at the next change")
        (tmp_path / "shop.py").rename(file)
        next_line(lines, r"shop main: unchanged, auto-\S+ stays active")
        process.send_signal(signal.SIGINT)
        assert next_line(lines, "ended") == "the watch has ended; the active versions stay\n"
        assert process.wait(60) == 0
    listed = json.loads(run_ok("indexes", "--json", "--data", data))
    assert [(entry["node_count"], entry["active"]) for entry in listed] == [(3, False), (4, False), (5, True)]


@pytest.mark.slow
def test_each_repository_of_a_file_is_watched(tmp_path: Path) -> None:
    shop, tools = tmp_path / "shop", tmp_path / "tools"
    for folder in (shop / "src", tools):
        folder.mkdir(parents=True)
        (folder / "one.py").write_text("def one():\n    return 1\n")
    entries = [{"path": name, "repository": name, "branch": "main", "embedder": "none"} for name in ("shop", "tools")]
    several = tmp_path / "repositories.yaml"
    several.write_text(json.dumps({"repositories": entries}))
    process = start("index", several, "--data", tmp_path / "data", "--watch")
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        lines = iter(process.stdout)
        assert re.search(r"shop main auto-\S+ \(active\): 2 nodes", next(lines))
        assert re.search(r"tools main auto-\S+ \(active\): 2 nodes", next(lines))
        assert next(lines).startswith("watching ")
        # In a folder that was made since; then what stays as it is between two changes, and what goes back.
        (tools / "new").mkdir()
        (tools / "new" / "two.py").write_text("def two():\n    return 2\n")
        while "4 nodes" not in (line := next(lines)):
            assert re.search(r"tools main auto-\S+ \(active\)", line)
        (shop / "src" / "one.py").write_text("def one():\n    return 1\n")
        (tools / "new" / "two.py").unlink()
        assert re.search(r"tools main auto-\S+ \(active\): 2 nodes, 0 texts embedded", next(lines))
        process.send_signal(signal.SIGINT)
        assert next_line(lines, "ended") == "the watch has ended; the active versions stay\n"
        assert process.wait(60) == 0
    listed = json.loads(run_ok("indexes", "--json", "--repository", "shop", "--data", tmp_path / "data"))
    assert len(listed) == 1
