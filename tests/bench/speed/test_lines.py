"""Exact search is timed beside a program of the name `rg`, in turn and with the same patterns."""

import os
from pathlib import Path

import pytest

from bench.speed.lines import GROUNDWIRE, RIPGREP, grid, measure_lines

pytestmark = pytest.mark.slow


def test_both_programs_search_for_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "shop.py").write_text("def total(orders):\n    return sum(orders)\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "rg").write_text(f'#!/bin/sh\necho "$*" >> "{tmp_path}/searched"\n')
    (programs / "rg").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((str(programs), os.environ["PATH"])))
    milliseconds = measure_lines(tmp_path / "source", literals=2, rounds=2, work=tmp_path / "work")
    assert {kind: set(times) for kind, times in milliseconds.items()} == {
        "literals": {GROUNDWIRE, RIPGREP},
        "regular expressions": {GROUNDWIRE, RIPGREP},
    }
    assert [len(times) for times in milliseconds["literals"].values()] == [4, 4]
    searched = (tmp_path / "searched").read_text().splitlines()
    literals = {line.split("--regexp ")[1].split()[0] for line in searched if "--fixed-strings" in line}
    assert literals <= {"total", "orders", "return"}
    assert all(line.endswith(f" {tmp_path / 'source'}") for line in searched)
    table = grid(milliseconds, "Lines of source")
    assert [row[0] for row in table.rows] == [
        f"{kind}: {program}" for kind in milliseconds for program in (GROUNDWIRE, RIPGREP)
    ]


def test_a_second_run_builds_the_index_only_if_the_source_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "shop.py").write_text("def total(orders):\n    return sum(orders)\n")
    (tmp_path / "rg").write_text("#!/bin/sh\n")
    (tmp_path / "rg").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path), os.environ["PATH"])))
    versions = []
    for text in ("", "", "tax = 19\n"):
        (tmp_path / "source" / "tax.py").write_text(text)
        measure_lines(tmp_path / "source", literals=1, rounds=1, work=tmp_path / "work")
        versions.append((tmp_path / "work" / "index-source" / "bench" / "main" / ".active").read_text())
    assert versions[0] == versions[1] != versions[2]


def test_without_ripgrep_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="rg is not on the PATH: install ripgrep"):
        measure_lines(tmp_path, literals=1, rounds=1, work=tmp_path)
