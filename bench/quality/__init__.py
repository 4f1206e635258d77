"""Retrieval quality, measured over the wire: see `bench/README.md`."""
