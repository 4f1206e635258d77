"""The contract holds for the wheel in a clean environment, without the source tree: what a container runs."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TORCH = "torch==2.13.0"


@pytest.mark.slow
def test_contract_against_an_installed_wheel(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    install: list[str | Path] = [
        environment / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-compile",  # most of what comes along is never loaded
    ]
    subprocess.run([*install, TORCH], check=True, cwd=tmp_path)
    subprocess.run([*install, f"{wheel}[server]"], check=True, cwd=tmp_path)
    contract = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/contract"]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        contract,
        cwd=ROOT,
        env={**variables, "GROUNDWIRE_EXECUTABLE": str(environment / "bin" / "groundwire")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
