"""Latency, throughput and scale, measured over the wire beside peers: see `bench/README.md`."""
