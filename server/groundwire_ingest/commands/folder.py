"""Keeps the index of a folder up to date: a program with arguments FOLDER DATA REPOSITORY BRANCH MODEL.

It writes READY to standard output once there is an index, and follows the changes of the folder from then on. It ends
when its standard input does, so that it never outlives the process that started it.
"""

import fcntl
import os
import sys
import threading
from pathlib import Path

from groundwire_index.commands.options import EXIT_FAILED, message_of, reporting_failures
from groundwire_index.embedding.model_names import NO_EMBEDDER
from groundwire_index.errors import OperatorError
from groundwire_index.scope import Scope, escaped
from groundwire_index.store.store import IndexStore
from groundwire_ingest.commands.progress import TerminalProgress
from groundwire_ingest.commands.watch import changes
from groundwire_ingest.repositories.indexing import KEPT_BYTES, Indexer, own_version_name, remove_older
from groundwire_ingest.repositories.repositories_file import Repository


def refresh(folder: Path, data: Path, scope: Scope, model: str, indexer: Indexer | None = None) -> None:
    """Builds and activates a version of the folder unless the active one is what a build would make.

    If there is no index yet, one without vectors is built first: embedding takes most of the time, and words can be
    searched earlier. Older versions are deleted, see `remove_older`. Processes that refresh the same scope wait for one
    another. Raises OperatorError and OSError as a build does.
    """
    store = IndexStore(data)
    indexer = indexer or Indexer(data, store, TerminalProgress())
    lock_file = data / f".{escaped(scope.repository)}-{escaped(scope.branch)}.lock"
    with lock_file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for embedder in (model,) if store.active(scope) else (NO_EMBEDDER, model):
            indexer.index(Repository(folder, scope, embedder), own_version_name())
            remove_older(store, scope)


def follow(folder: Path, data: Path, scope: Scope, model: str, indexer: Indexer) -> None:
    """Refreshes the index at every change of the folder; one that cannot be built is reported on standard error."""
    for _ in changes([folder], data):
        try:
            refresh(folder, data, scope, model, indexer)
        except (OperatorError, OSError) as error:
            print(f"error: {message_of(error)}; it is tried again at the next change", file=sys.stderr, flush=True)


def _end_with_standard_input() -> None:
    # Not by `sys.stdin`, whose lock this thread would hold when the program ends.
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(EXIT_FAILED)


def main() -> None:
    """Runs the program."""
    folder, data, repository, branch, model = sys.argv[1:]
    indexer = Indexer(Path(data), IndexStore(Path(data)), TerminalProgress(), kept_bytes=KEPT_BYTES)
    kept = Path(folder), Path(data), Scope(repository, branch), model, indexer
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    with reporting_failures("index"):
        refresh(*kept)
        print("READY", flush=True)
        follow(*kept)


if __name__ == "__main__":
    main()
