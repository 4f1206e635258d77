"""Running the project's own tools, as installed beside the interpreter that runs the tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def run_tool(tool: str, *arguments: str) -> None:
    """Runs a tool in the project's root; when it fails, so does the test, with all that the tool said.

    Tools come from the test run's own environment, whatever is first on the PATH.
    """
    # protoc looks its plugins up on the PATH; pyright would ask the network for a newer version of itself.
    path = os.pathsep.join((str(BIN), os.environ.get("PATH", os.defpath)))
    environment = {**os.environ, "PATH": path, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    result = subprocess.run(
        [BIN / tool, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        pytest.fail(f"{tool} {' '.join(arguments)}\n{result.stdout}{result.stderr}", pytrace=False)
