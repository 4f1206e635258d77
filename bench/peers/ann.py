"""Settings shared by all approximate indexes: common values, not tuned to a corpus."""

import socket

HNSW_LINKS = 16
HNSW_CONSTRUCTION = 128
HNSW_SEARCH = 128
LIST_DEPTH = 100
"""How many hits of each retriever a hybrid search fuses, as Groundwire does."""
RRF_K = 60
BATCH = 2_000


def free_port() -> int:
    """A free port, for servers that cannot choose one themselves."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
