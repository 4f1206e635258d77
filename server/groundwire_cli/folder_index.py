"""Keeps the index of a folder up to date: a program with arguments FOLDER DATA REPOSITORY BRANCH MODEL.

It follows the changes of the folder, tries again what has failed, and writes lines to standard output:

- READY once there is an index;
- CHANGED when files have changed since the index was built, and CURRENT when it has them;
- FAILED with the reason whenever an index cannot be built;
- UNEMBEDDED with the reason whenever texts cannot be embedded, and EMBEDDED once they are.

If there are no embeddings yet, an index without them is built first, because words can be searched while texts are
embedded. A second process does that, with `embed` as one more argument. Until it ends, this process keeps the index of
words up to date; then it builds one with embeddings, which are in the cache. Without the model it goes on with words.
Both processes end when their standard input does, so that they never outlive the process that started them.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path

import typer

from groundwire_cli.options import EXIT_FAILED, message_of, reporting_failures
from groundwire_cli.terminal_progress import TerminalProgress
from groundwire_cli.watching import changes
from groundwire_index.embedding.embedder import EmbedderError
from groundwire_index.embedding.model_names import NO_EMBEDDER
from groundwire_index.files.durable_files import locked
from groundwire_index.operator_errors import OperatorError
from groundwire_index.scope import Scope, escaped
from groundwire_index.store.store import IndexStore
from groundwire_ingest.repositories.indexing import KEPT_BYTES, Indexer, own_version_name, remove_older
from groundwire_ingest.repositories.repositories_file import Repository

READY, CHANGED, CURRENT, FAILED = "READY", "CHANGED", "CURRENT", "FAILED"
EMBEDDED, UNEMBEDDED = "EMBEDDED", "UNEMBEDDED"
SECONDS_UNTIL_RETRY, MOST_SECONDS_UNTIL_RETRY = 30.0, 600.0
_EMBED = "embed"
_EXIT_TOLD = 3
"""The exit code of a process that could not embed and has said why."""


class FolderIndex:
    """The index of a folder, which processes that share it keep up to date one after the other."""

    def __init__(self, folder: Path, data: Path, scope: Scope, model: str, kept_bytes: int = 0) -> None:
        self.folder, self.data, self.scope, self.model = folder, data, scope, model
        self._store = IndexStore(data)
        self._indexer = Indexer(data, self._store, TerminalProgress(), kept_bytes=kept_bytes)

    @property
    def is_there(self) -> bool:
        """True if there is an active version."""
        return bool(self._store.active(self.scope))

    @property
    def needs_embeddings(self) -> bool:
        """True if there is a model, and the active version has no embeddings."""
        names = self.scope.repository, self.scope.branch
        return self.model != NO_EMBEDDER and not any(
            entry.active and entry.dimension and (entry.repository, entry.branch) == names
            for entry in self._store.listed()
        )

    def refresh_words(self) -> None:
        """Builds and activates a version without embeddings, unless the active one is what a build would make.

        A version that has the same content with embeddings stays. Older versions are deleted, see `remove_older`.
        Raises OperatorError and OSError as a build does.
        """
        with self._locked("build"):
            if self.model == NO_EMBEDDER or not self._indexer.has_embeddings_of(self._repository(self.model)):
                self._build(NO_EMBEDDER)

    def refresh(self) -> None:
        """The same with embeddings; if texts cannot be embedded, as `refresh_words` does. Raises as that does."""
        try:
            with self._locked("build"):
                self._build(self.model)
        except EmbedderError:
            self.refresh_words()
            raise

    def embed(self) -> None:
        """Embeds all texts, so that a build finds their embeddings in the cache. Raises as `refresh_words` does.

        This is a build too, in a scope of its own: while it runs, the folder's scope can be built.
        """
        scope = replace(self.scope, branch=f"{self.scope.branch}.embedding")
        with self._locked("embedding"):
            if not self.needs_embeddings:  # another process of the folder was faster
                return
            version = own_version_name()
            try:
                self._indexer.index(Repository(self.folder, scope, self.model), version, always=True, activate=False)
            finally:
                for made in self._store.versions(scope):  # also what a process left that was killed
                    self._store.delete(replace(scope, active_index=made))

    def _repository(self, embedder: str) -> Repository:
        return Repository(self.folder, self.scope, embedder)

    def _build(self, embedder: str) -> None:
        self._indexer.index(self._repository(embedder), own_version_name())
        remove_older(self._store, self.scope)

    @contextmanager
    def _locked(self, purpose: str) -> Iterator[None]:
        """Lets processes that do the same for the folder wait for one another."""
        with locked(self.data / f".{escaped(self.scope.repository)}-{escaped(self.scope.branch)}.{purpose}.lock"):
            yield


class Following:
    """Refreshes an index at once and at every change of its folder, and says on standard output what came of it."""

    def __init__(self, index: FolderIndex) -> None:
        self._index = index
        self._embedding: subprocess.Popen[bytes] | None = None
        self._is_embedded = False  # the texts are in the cache, since this process has let them be embedded
        self._is_ready = False
        self._pause = SECONDS_UNTIL_RETRY
        self._retry_at = float("inf")

    def run(self) -> None:
        """Follows the folder until the process ends.

        A build that has failed is tried again after SECONDS_UNTIL_RETRY too: not every cause lies in the folder. An
        embedding that fails again and again is tried at longer and longer intervals, up to MOST_SECONDS_UNTIL_RETRY.
        """
        for paths in chain((None,), changes([self._index.folder], self._index.data, idle=True)):
            if paths:
                _say(CHANGED)
            if self._embedding is not None and self._embedding.poll() is not None:
                self._embedding_has_ended(self._embedding.returncode)
            if paths is None or paths or time.monotonic() >= self._retry_at:
                self._refresh()

    def _refresh(self) -> None:
        self._retry_at = float("inf")
        try:
            if self._is_embedded or not self._index.needs_embeddings:
                self._index.refresh()
                _say(EMBEDDED)
            else:
                self._index.refresh_words()
                self._embedding = self._embedding or self._start_embedding()
        except EmbedderError as error:  # there is an index of words nevertheless
            self._retry_at = time.monotonic() + SECONDS_UNTIL_RETRY
            _tell_failure(UNEMBEDDED, error)
            _say(CURRENT)
        except (OperatorError, OSError) as error:
            self._retry_at = time.monotonic() + SECONDS_UNTIL_RETRY
            _tell_failure(FAILED, error)
        else:
            _say(CURRENT)
        if not self._is_ready and self._index.is_there:
            self._is_ready = True
            _say(READY)

    def _embedding_has_ended(self, exit_code: int) -> None:
        """Lets a build use the new embeddings at once, or sets the time of the next try."""
        self._embedding = None
        self._is_embedded = exit_code == 0
        if self._is_embedded:
            self._pause = SECONDS_UNTIL_RETRY
            self._retry_at = time.monotonic()
            return
        if exit_code != _EXIT_TOLD:
            _say(
                UNEMBEDDED, f"the process that embeds the texts has ended with {exit_code}, perhaps for lack of memory"
            )
        self._retry_at = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, MOST_SECONDS_UNTIL_RETRY)

    def _start_embedding(self) -> "subprocess.Popen[bytes]":
        index = self._index
        arguments = (index.folder, index.data, index.scope.repository, index.scope.branch, index.model, _EMBED)
        # It writes to the standard output and error of this process.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "groundwire_cli.folder_index", *arguments], stdin=subprocess.PIPE
        )


def embed(index: FolderIndex) -> int:
    """Embeds the texts of a folder, and says why if that fails; the exit code of the process."""
    try:
        index.embed()
    except (OperatorError, OSError) as error:
        _tell_failure(UNEMBEDDED, error)
        return _EXIT_TOLD
    return 0


def _tell_failure(event: str, error: OperatorError | OSError) -> None:
    print(f"error: {message_of(error)}; it is tried again", file=sys.stderr, flush=True)
    _say(event, message_of(error))


def _say(event: str, reason: str = "") -> None:
    print(f"{event} {reason}".strip(), flush=True)


def _end_with_standard_input() -> None:
    # Not by `sys.stdin`, whose lock this thread would hold when the program ends.
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(EXIT_FAILED)


def main() -> None:
    """Runs the program."""
    folder, data, repository, branch, model, *mode = sys.argv[1:]
    index = FolderIndex(Path(folder), Path(data), Scope(repository, branch), model, KEPT_BYTES)
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    try:
        with reporting_failures("index"):
            if mode == [_EMBED]:
                sys.exit(embed(index))
            Following(index).run()
    except typer.Exit as ending:  # the reason is told already; here no command turns it into an exit code
        sys.exit(ending.exit_code)


if __name__ == "__main__":
    main()
