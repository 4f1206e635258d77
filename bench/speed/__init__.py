"""Latency, throughput and scale, measured over the wire and compared with other systems: see `bench/README.md`."""
