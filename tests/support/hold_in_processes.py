"""A program that runs jobs in two processes which do not end by themselves."""

import sys
from functools import partial
from pathlib import Path

from groundwire_ingest.processes import runner
from support.build_jobs import hold

if __name__ == "__main__":
    with runner(2) as runs:
        runs.run([partial(hold, Path(path)) for path in sys.argv[1:]], lambda done: None)
