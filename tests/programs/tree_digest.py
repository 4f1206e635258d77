"""Prints a digest of what is read of a source tree: `tree_digest FOLDER`."""

import hashlib
import sys
from pathlib import Path

from groundwire_ingest.tree.source import TreeSource

if __name__ == "__main__":
    print(hashlib.sha256(repr(list(TreeSource(Path(sys.argv[1])).read())).encode()).hexdigest())
