"""Builds the index of a synthetic corpus, and prints the data folder: `build_corpus FOLDER NODES`."""

import sys
from pathlib import Path

from bench.speed.index import ensure_index
from bench.speed.synthesis import Shape, write_corpus

if __name__ == "__main__":
    print(ensure_index(write_corpus(Path(sys.argv[1]), Shape(int(sys.argv[2])))))
