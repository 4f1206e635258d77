"""Keeps the index of a folder up to date: a program with arguments FOLDER DATA REPOSITORY BRANCH MODEL.

It writes a line READY to standard output once there is an index, and FAILED with the reason whenever one cannot be
built. It follows the changes of the folder, and tries again what has failed. It ends when its standard input does, so
that it never outlives the process that started it.
"""

import fcntl
import os
import sys
import threading
import time
from itertools import chain
from pathlib import Path

import typer

from groundwire_index.commands.options import EXIT_FAILED, message_of, reporting_failures
from groundwire_index.embedding.model_names import NO_EMBEDDER
from groundwire_index.errors import OperatorError
from groundwire_index.scope import Scope, escaped
from groundwire_index.store.store import IndexStore
from groundwire_ingest.commands.progress import TerminalProgress
from groundwire_ingest.commands.watch import changes
from groundwire_ingest.repositories.indexing import KEPT_BYTES, Indexer, own_version_name, remove_older
from groundwire_ingest.repositories.repositories_file import Repository

READY, FAILED = "READY", "FAILED"
SECONDS_UNTIL_RETRY = 30.0


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
    """Refreshes the index at once and at every change of the folder, and says on standard output what came of it.

    A refresh that has failed is tried again after SECONDS_UNTIL_RETRY too: not every cause lies in the folder.
    """
    store, is_ready, retry_at = IndexStore(data), False, float("inf")
    for paths in chain((None,), changes([folder], data, idle=True)):
        if paths is not None and not paths and time.monotonic() < retry_at:
            continue
        retry_at = float("inf")
        try:
            refresh(folder, data, scope, model, indexer)
        except (OperatorError, OSError) as error:
            retry_at = time.monotonic() + SECONDS_UNTIL_RETRY
            print(f"error: {message_of(error)}; it is tried again", file=sys.stderr, flush=True)
            print(f"{FAILED} {message_of(error)}", flush=True)
        if not is_ready and store.active(scope):
            is_ready = True
            print(READY, flush=True)


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
    try:
        with reporting_failures("index"):
            follow(*kept)
    except typer.Exit as ending:  # the reason is told already; here no command turns it into an exit code
        sys.exit(ending.exit_code)


if __name__ == "__main__":
    main()
