"""The process that crash tests kill: loads the libraries once, then forks a child for every line it reads.

A line is `<data> <first version> <versions> <step>`. The child builds and activates so many versions in a row and
deletes the one before each. It kills itself at its `step`-th touch of the data, never with step 0; when it lives, the
file `.steps` says how often it touched the data. The host writes the child's process id at once, and one more line
when the child has ended.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from groundwire.tokens import TokenCounter
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_index.vectors.rotation import rotated
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.records import SourceEdge, SourceNode, SourceRecord

SCOPE = Scope("shop", "main")
TOUCHES = {"open", "os.rename", "os.mkdir", "os.chmod"}
REMOVALS = {"os.remove", "os.rmdir"}
"""These may name a file within an open directory, without its path."""


class TenNodes:
    """A source whose texts name the version that is built of it."""

    def __init__(self, version: str) -> None:
        self.description = version

    def read(self) -> Iterator[SourceRecord]:
        for number in range(10):
            yield SourceNode("cs", f"N{number}", f"text {self.description}", f"x:{number}", vector=(1.0, float(number)))
        for number in range(9):
            yield SourceEdge(f"cs::N{number}", f"cs::N{number + 1}", "Calls", "x")


class NoProgress:
    """Shows nothing."""

    @contextmanager
    def stage(self, name: str, unit: str, price: float = 0.0) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, total: None


def work(data: Path, numbers: range) -> None:
    """Every version becomes active when it is built, and the one before it is deleted."""
    store = IndexStore(data)
    host = os.getppid()
    for number in numbers:
        if os.getppid() != host:
            return  # nobody is left to kill this process
        scope = replace(SCOPE, active_index=f"v{number:05}")
        previous = store.active(SCOPE)
        build_index(TenNodes(scope.active_index), BuildOptions(data, scope, None), NoProgress())
        if previous:
            store.delete(replace(SCOPE, active_index=previous))


def die_at(step: int, data: Path) -> Callable[[], int]:
    """Has the process kill itself just before its `step`-th touch of the data; the result tells how often it did."""
    touched = 0

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal touched
        if event in REMOVALS or (event in TOUCHES and str(arguments[0]).startswith(str(data))):
            touched += 1
            if touched == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    return lambda: touched


def main() -> None:
    """Serves lines until the end of the input."""
    # What every child needs and takes longest to load.
    TokenCounter()
    rotated(np.ones((1, 2), dtype=np.float32))
    # A killed process loses nothing that it wrote, only a power cut does; and waiting for the disk takes long.
    os.fsync = lambda fd: None
    print("ready", flush=True)
    for line in sys.stdin:
        data, first, versions, step = line.split()
        child = os.fork()
        if child == 0:
            touches = die_at(int(step), Path(data))
            work(Path(data), range(int(first), int(first) + int(versions)))
            (Path(data) / ".steps").write_text(str(touches()))
            os._exit(0)
        print(child, flush=True)
        os.waitpid(child, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    main()
