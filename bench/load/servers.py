"""Servers of this source tree, and of another one that it is compared with."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.shared.programs import RunningProgram, python_path, running, serve_command, trees

_BUILD = """
import sys
from pathlib import Path
from bench.speed.index import ensure_index
from bench.speed.synthesis import Shape, write_corpus
print(ensure_index(write_corpus(Path(sys.argv[1]), Shape(int(sys.argv[2])))))
"""


@contextmanager
def running_servers(other: Path | None, nodes: int, out: Path) -> Iterator[dict[str, RunningProgram]]:
    """A server for each tree by its name, over an index of the same corpus that the tree has built itself.

    Both run on the packages of this environment. Raises RuntimeError.
    """
    with ExitStack() as stack:
        servers = {}
        for name, tree in trees(other).items():
            data = _index(tree, out / f"corpus-{nodes}-{name.replace(' ', '-')}", nodes)
            command = ["env", f"PYTHONPATH={python_path(tree)}", *serve_command(data)]
            servers[name] = stack.enter_context(running(command, out / f"{name.replace(' ', '-')}.log"))
        yield servers


def _index(tree: Path, folder: Path, nodes: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", _BUILD, str(folder.resolve()), str(nodes)]
    environment = {**os.environ, "PYTHONPATH": python_path(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{tree}: the index cannot be built: {done.stderr.strip()[-2_000:]}")
    return Path(done.stdout.splitlines()[-1])
