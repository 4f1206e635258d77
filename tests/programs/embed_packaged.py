"""Embeds a text by a packaged model, and prints which libraries of other models are loaded: `embed_packaged MODEL`."""

import sys

from groundwire_ingest.embedding.index_texts import load_embedder

embedder = load_embedder(sys.argv[1])
assert embedder is not None
embedder.embed_texts(["a"])
print(sorted({"torch", "transformers", "sentence_transformers"} & set(sys.modules)))
