"""`make test-slow` names the files that it collects, so that it need not collect all: none may be missing."""

import os
import subprocess
import sys

import pytest

from project.tools import ROOT


@pytest.mark.slow
def test_every_slow_test_is_in_a_file_that_make_collects() -> None:
    collected = _output(sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "slow", "tests")
    files = {line.partition("::")[0] for line in collected.splitlines() if "::" in line}
    named = tuple(word for word in _output("make", "--dry-run", "test-slow").split() if word.startswith("tests/"))
    assert "tests/project/test_makefile.py" in files
    assert [file for file in sorted(files) if not file.startswith(named)] == []


def _output(*command: str) -> str:
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MAKE"))}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
