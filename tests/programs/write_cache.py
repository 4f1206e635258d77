"""Writes to an embedding cache that others write to as well: `write_cache PATH NAME`."""

import sys
from pathlib import Path

import numpy as np

from groundwire_ingest.embedding.cache import EmbeddingCache

with EmbeddingCache(Path(sys.argv[1])) as cache:
    for step in range(40):
        hashes = [f"{sys.argv[2]}-{step}-{number}" for number in range(5)] + [f"shared-{step}"]
        cache.put_many("model", {name: np.full(3, step, dtype=np.float32) for name in hashes})
        assert len(cache.get_many("model", hashes)) == 6
