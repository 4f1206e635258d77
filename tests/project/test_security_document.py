"""Each promise of SECURITY.md names tests that are there."""

import re

from project.tools import ROOT


def test_every_promise_is_held_by_tests_that_are_there() -> None:
    rows = [line for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines() if "`tests/" in line]
    assert rows
    named = {name for row in rows for name in re.findall(r"`(tests/[\w/]+\.py::test_\w+)`", row)}
    assert len(named) >= len(rows) / 2
    missing = [name for name in sorted(named) if not _is_there(*name.split("::"))]
    assert not missing


def _is_there(path: str, test: str) -> bool:
    file = ROOT / path
    return file.is_file() and f"def {test}(" in file.read_text(encoding="utf-8")
