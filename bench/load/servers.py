"""Servers of this source tree, and of another one that it is compared with."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.shared.programs import RunningProgram, python_path, run, running, serve_command, trees

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
            folder = out / f"corpus-{nodes}-{name.replace(' ', '-')}"
            # -P: not the modules of the current folder, which is this tree.
            data = Path(run([sys.executable, "-P", "-c", _BUILD, folder.resolve(), str(nodes)], tree).splitlines()[-1])
            command = ["env", f"PYTHONPATH={python_path(tree)}", *serve_command(data)]
            servers[name] = stack.enter_context(running(command, folder / "server.log"))
        yield servers
