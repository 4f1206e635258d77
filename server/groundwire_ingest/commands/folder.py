"""Brings the index of a folder up to date: a program with arguments FOLDER DATA REPOSITORY BRANCH MODEL.

It ends when its standard input does, so that it never outlives the process that started it.
"""

import fcntl
import hashlib
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from groundwire_index.commands.options import EXIT_FAILED, reporting_failures
from groundwire_index.embedding.embedder import Embedder
from groundwire_index.scope import Scope, escaped
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.commands.progress import TerminalProgress
from groundwire_ingest.embedding.load import load_embedder
from groundwire_ingest.recognise import recognise
from groundwire_ingest.repositories.repository import NO_EMBEDDER
from groundwire_ingest.tree.walk import ListedFile, list_tree

_WITHOUT_VECTORS = "words"


def load_model(name: str) -> Embedder | None:
    """The embedder of that name, None for `none`. Raises EmbedderError."""
    return None if name == NO_EMBEDDER else load_embedder(name)


def refresh(
    folder: Path, data: Path, scope: Scope, model: str, load: Callable[[str], Embedder | None] = load_model
) -> bool:
    """Builds and activates a version of the folder unless the active one is of the same files; True when it did.

    Where there is none yet, one without vectors comes first: embedding takes most of the time, and words can be
    searched meanwhile. Earlier versions are deleted. Processes that refresh the same scope wait for one another. Raises
    OperatorError and OSError as a build does.
    """
    store = IndexStore(data)
    lock_file = data / f".{escaped(scope.repository)}-{escaped(scope.branch)}.lock"
    with lock_file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = state_of(folder, model)
        if store.active(scope).endswith(f"+{state}"):
            return False
        embedder = load(model)
        if embedder and not store.active(scope):
            _build(store, folder, scope, _WITHOUT_VECTORS, None)
        _build(store, folder, scope, state, embedder)
    return True


def _build(store: IndexStore, folder: Path, scope: Scope, state: str, embedder: Embedder | None) -> None:
    """Builds and activates a version that has a state in its name, and deletes those before it."""
    name = f"{datetime.now(UTC):%Y-%m-%d_%H%M%S_%f}+{state}"
    made = Scope(scope.repository, scope.branch, name)
    build_index(recognise(folder), BuildOptions(data=store.data, scope=made, embedder=embedder), TerminalProgress())
    for earlier in store.versions(scope):
        if earlier != name:
            store.delete(Scope(scope.repository, scope.branch, earlier))


def state_of(folder: Path, model: str) -> str:
    """A hash of what an index is made of: the names, sizes and times of the files, the model, and this program.

    A file that is written anew within one tick of the file system's clock, in the same size, goes unnoticed.
    """
    digest = hashlib.sha256(f"{version('groundwire')}\n{model}\n".encode())
    for item in list_tree(folder):
        if isinstance(item, ListedFile):
            with suppress(FileNotFoundError):  # it was deleted just now
                found = (folder / item.path).stat()
                digest.update(f"{item.path}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:32]


def _end_with_standard_input() -> None:
    # Not by `sys.stdin`, whose lock this thread would hold when the program ends.
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(EXIT_FAILED)


def main() -> None:
    """Runs the program."""
    folder, data, repository, branch, model = sys.argv[1:]
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    with reporting_failures("index"):
        refresh(Path(folder), Path(data), Scope(repository, branch), model)


if __name__ == "__main__":
    main()
