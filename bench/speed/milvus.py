"""A synthetic index in Milvus, and the command with which Groundwire serves it from there."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from bench.shared.programs import Memory, folder_bytes, memory, serve_command
from bench.speed.corpus import Corpus
from bench.speed.index import SCOPE, Stages, ensure_index
from groundwire_index.store.store import IndexStore
from groundwire_milvus.address import MilvusAddress
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.client import connect
from groundwire_milvus.storage import MilvusStorage
from groundwire_milvus.storage_errors import StorageUnavailableError
from groundwire_milvus.store import MilvusStore

SECONDS = 100.0
"""For one request. It is long, because slow requests are measured too."""
_WRITING_SECONDS = 1_800.0
_START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Milvus:
    """A running Milvus: its URI; its process, None if that is elsewhere; its files, None likewise."""

    uri: str
    process: int | None
    files: Path | None

    @property
    def memory(self) -> Memory | None:
        """The memory of its process."""
        return None if self.process is None else memory(self.process)

    @property
    def file_bytes(self) -> int | None:
        """The size of its files."""
        return None if self.files is None else folder_bytes(self.files)


@contextmanager
def milvus_lite(folder: Path) -> Iterator[Milvus]:
    """Runs milvus-lite over a folder. Raises RuntimeError when it does not start."""
    folder.mkdir(parents=True, exist_ok=True)
    files, log = folder / "files", folder / "milvus.log"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    listen = ("--host", "127.0.0.1", "--port", port)
    command = [sys.executable, "-m", "milvus_lite", "server", "--data-dir", str(files), *listen]
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env={**os.environ, "PYTHON_DOTENV_DISABLED": "1"})
    try:
        milvus = Milvus(f"http://127.0.0.1:{port}", process.pid, files)
        _wait_for(milvus.uri, process, log)
        yield milvus
    finally:
        process.kill()
        process.wait()


def _wait_for(uri: str, process: subprocess.Popen[bytes], log: Path) -> None:
    store = MilvusStore(MilvusAddress(uri, seconds=1.0))
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            store.check()
        except StorageUnavailableError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"milvus-lite did not start:\n{log.read_text(encoding='utf-8')}") from None
            time.sleep(0.05)
        else:
            store.close()
            return


def ensure_published(corpus: Corpus, milvus: Milvus) -> dict[str, float]:
    """Has the corpus' index published and active; gives the seconds of each stage of its publication.

    These are kept next to the corpus for later runs. Raises IngestError and StorageUnavailableError.
    """
    name = "lite" if milvus.files else urlsplit(milvus.uri).netloc.replace(":", "-")
    notes, address = corpus.folder / f"published-{name}.json", _address(corpus, milvus)
    client = connect(replace(address, database="default"))
    if address.database not in client.list_databases():
        client.create_database(address.database)
    client.close()
    catalogue = Catalogue(MilvusStore(address))
    if catalogue.active(SCOPE) != SCOPE.active_index:
        stages = Stages()
        storage = MilvusStorage(corpus.folder / "staging", catalogue)
        built = IndexStore(ensure_index(corpus)).directory(SCOPE)
        with storage.build(SCOPE, stages) as directory:
            shutil.copytree(built, directory, dirs_exist_ok=True, copy_function=os.link)
        storage.activate(SCOPE)
        notes.write_text(json.dumps(stages.seconds), encoding="utf-8")
    catalogue.store.close()
    seconds: dict[str, float] = json.loads(notes.read_text(encoding="utf-8"))
    return seconds


def serve_from(corpus: Corpus, milvus: Milvus, data: Path) -> list[str]:
    """The command that serves a corpus' index from Milvus."""
    address = _address(corpus, milvus)
    where = ("--milvus-uri", address.uri, "--milvus-database", address.database)
    options = ("--backend", "milvus", *where, "--milvus-seconds", str(SECONDS))
    return ["env", f"GROUNDWIRE_DEFAULT_DEADLINE_SECONDS={SECONDS}", *serve_command(data, options)]


def _address(corpus: Corpus, milvus: Milvus) -> MilvusAddress:
    """The database that holds a corpus' index and nothing else."""
    database = f"bench_{corpus.folder.name.replace('-', '_')}"
    return MilvusAddress(milvus.uri, database, seconds=SECONDS, writing_seconds=_WRITING_SECONDS)
