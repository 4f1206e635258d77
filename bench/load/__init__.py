"""Latency against offered load, and the speed of single calls: see `bench/README.md`."""
