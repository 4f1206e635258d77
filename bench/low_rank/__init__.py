"""Low-rank factors that lead the default embedding model to code: data, training, measurement. See bench/README.md."""
