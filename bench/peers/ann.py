"""Settings that all peers' approximate indexes share, so that none is favoured: usual ones, not tuned to a corpus."""

import socket

HNSW_LINKS = 16
HNSW_CONSTRUCTION = 128
HNSW_SEARCH = 128
LEG_DEPTH = 100
"""How many hits of each leg a hybrid search fuses, as Groundwire does."""
RRF_K = 60
BATCH = 2_000


def free_port() -> int:
    """A port that nobody listens at, for servers that cannot choose one themselves."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
