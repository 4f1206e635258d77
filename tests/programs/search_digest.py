"""Writes vectors, searches them on every exact path, and prints a digest of all bytes: `search_digest FOLDER`."""

import hashlib
import sys
from pathlib import Path

import faiss
import numpy as np

from groundwire_index.vectors.vector_file import VectorFile, VectorTable
from groundwire_server.backends.embedded.retrievers import semantic

rng, folder = np.random.default_rng(1), Path(sys.argv[1])
rows = rng.integers(-99, 100, (3_000, 384)) / 1_600
with VectorFile(folder, *rows.shape) as file:
    file.put(np.arange(len(rows)), rows.astype(np.float32))
digest = hashlib.sha256()
for path in sorted(folder.iterdir()):
    digest.update(path.read_bytes())
table = VectorTable(folder, *rows.shape)
for exact_rows in (0, 3_000):
    limits = semantic.PathLimits(0, exact_rows, semantic.MEASURED.bands)
    for query in rng.integers(-99, 100, (20, 384)) / 1_120:
        unit, allowed = query / np.sqrt(np.square(query).sum()), rng.random(3_000) < 0.5
        ranking = semantic.rank_by_similarity(table, unit, allowed, 50, limits)
        digest.update(ranking.hits.rows.tobytes() + ranking.hits.scores.tobytes())
print(faiss.SIMDConfig.get_level_name(), digest.hexdigest())
