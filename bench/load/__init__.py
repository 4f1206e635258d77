"""Latency against offered load, direct and through Envoy with mutual TLS: see `bench/README.md`."""
