"""Reads an archive, or lists its files, and prints how much that is and by how many megabytes the process grew.

`read_archive records|names PATH`. The number is -1 for an archive that is refused, and standard error says why.
"""

import resource
import sys
from pathlib import Path

from groundwire_ingest.bundle.bundle_files import open_bundle_files
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.recognise import recognise


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def count(what: str, path: Path) -> int:
    if what == "records":
        return sum(1 for _ in recognise(path).read())
    files = open_bundle_files(path)
    return 0 if files is None else len(files.names)


if __name__ == "__main__":
    before = peak()
    try:
        number = count(sys.argv[1], Path(sys.argv[2]))
    except IngestError as error:
        print(error, file=sys.stderr)
        number = -1
    print(number, peak() - before)
