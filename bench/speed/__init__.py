"""Latency, throughput and scale, measured over the wire beside floors and peers: see `bench/README.md`."""
