"""Embeds a query as a server over a data folder does, and prints what is loaded of other models: `embed_query DATA`."""

import asyncio
import sys
from pathlib import Path

import numpy as np

from groundwire_index.scope import Scope
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.config import Settings
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.rpc.serving.compose import compose
from support.calls import PlainCall

engine, backend = compose(Settings(data=Path(sys.argv[1])))
assert isinstance(backend, EmbeddedBackend)
snapshot = backend.open(Scope("shop", "main", ""), AccessContext())
space = snapshot.view.index.manifest.vector_space
assert space is not None
vector = asyncio.run(
    engine.query_vectors.vector("find a user", (), AccessContext(), space, snapshot.index, PlainCall())
)
assert np.isclose(np.linalg.norm(vector), 1.0)
assert len(vector) == space.dimension
print(sorted(name for name in ("torch", "transformers", "sentence_transformers", "onnx") if name in sys.modules))
