"""Programs that tests start as processes of their own: files in `programs`, which type checker and linter read."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "programs"


def command(name: str, *arguments: str | Path | int, options: str = "") -> list[str]:
    """The command line of the program of that name, in which warnings are errors; `options` are Python's own."""
    # -P: it finds what tests find, and not its neighbours.
    return [sys.executable, "-P", "-W", "error", *options.split(), str(program(name)), *map(str, arguments)]


def program(name: str) -> Path:
    """The file of a program."""
    return _FOLDER / f"{name}.py"


def variables(**more: str) -> Mapping[str, str]:
    """The environment in which a program finds the modules that this process finds."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}


def run(name: str, *arguments: str | Path | int, options: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, with `more` variables of the environment."""
    return subprocess.run(
        command(name, *arguments, options=options),
        env=variables(**more),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def output(name: str, *arguments: str | Path | int, options: str = "", **more: str) -> str:
    """The standard output of a program, which must succeed."""
    done = run(name, *arguments, options=options, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded(modules: str, among: str) -> list[str]:
    """The names of some that are those of modules, or of their packages, once `modules` are imported."""
    return output("print_loaded", modules, among).split()
