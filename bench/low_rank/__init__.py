"""Low-rank factors that adapt the default embedding model to code: data, training, measurement. See bench/README.md."""
