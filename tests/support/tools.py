"""Runs the tools that build clients in other languages."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD_SECONDS = 300
NEEDED = "`make test-slow` needs Node with npm, and what `make toolchains` installs of Debian"


def run_tool(program: str, *arguments: str, folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """Runs a tool in a folder, and returns what it prints."""
    assert shutil.which(program), f"no {program}: {NEEDED}"
    done = subprocess.run(
        [program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{program} {arguments} exited {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout
