"""A program whose two workers do tasks that do not end by themselves."""

import sys
from pathlib import Path

from groundwire_ingest.workers import Workers
from support.build_jobs import hold_locked


def size(_: Path) -> int:
    return 0


if __name__ == "__main__":
    with Workers("groundwire_ingest.tree.single_file") as workers:
        list(workers.map(hold_locked, map(Path, sys.argv[1:]), size))
