"""YAML pipelines that drive a Groundwire server: load, validate, run."""
