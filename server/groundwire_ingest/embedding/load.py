"""The embedding model that a build is given the name of."""

from groundwire_index.embedding.embedder import Embedder, needs_local_models
from groundwire_index.embedding.model_names import PACKAGED_MODELS
from groundwire_ingest.embedding.packaged_model import PackagedModel


def load_embedder(name: str) -> Embedder:
    """A packaged model, else one that sentence-transformers loads by path or name. Raises EmbedderError."""
    if name in PACKAGED_MODELS:
        return PackagedModel(name)
    # A packaged model must not pay seconds for loading torch, which may not be installed.
    with needs_local_models(name):
        from groundwire_ingest.embedding.own_model import OwnModel
    return OwnModel(name)
