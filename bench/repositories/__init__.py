"""Questions and relations of real repositories, measured over the wire: see `bench/README.md`."""
