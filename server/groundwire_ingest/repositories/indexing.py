"""Indexing repositories one after the other, each only if its active version is not what a build would make."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire_index.embedding.model_names import NO_EMBEDDER, PACKAGED_MODELS
from groundwire_index.progress import Progress
from groundwire_index.scope import Scope
from groundwire_index.storage import Storage
from groundwire_index.store.errors import IndexDamagedError, VersionActiveError
from groundwire_ingest.recognise import recognise
from groundwire_ingest.repositories.inputs import inputs_of
from groundwire_ingest.repositories.repositories_file import Repository

if TYPE_CHECKING:
    from groundwire_index.embedding.embedder import Embedder, TextEmbedder
    from groundwire_index.store.manifest import VectorSpace
    from groundwire_ingest.build.build import BuildReport
    from groundwire_ingest.tree.read_before import ReadBefore


KEPT_BYTES = 256 << 20
"""Of a process that follows changes: about the results of reading 20,000 files."""

VERSIONS_KEPT = 3
"""How many own versions a branch has: the active one, and two for calls that have pinned one before."""

_PREFIX = "auto-"


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The active version, which `scope` pins, is what a build would make: nothing was built."""

    scope: Scope


class Indexer:
    """Indexes repositories into one storage; each embedding model is loaded once, and only for a build."""

    def __init__(
        self, data: Path, storage: Storage, progress: Progress, send_texts_to: str = "", kept_bytes: int = 0
    ) -> None:
        """`data` is the folder of the embeddings and encoders; for `send_texts_to` see `BuildOptions`.

        The results of reading files take at most `kept_bytes`, for later builds of the same trees.
        """
        self._kept_bytes = kept_bytes
        self._read_before: ReadBefore | None = None
        self._spaces: dict[Embedder, tuple[VectorSpace, TextEmbedder]] = {}
        self._data, self._storage, self._progress = data, storage, progress
        self._send_texts_to = send_texts_to
        self._models: dict[str, Embedder] = {}

    def index(
        self, repository: Repository, version: str, *, always: bool = False, activate: bool = True
    ) -> "BuildReport | Unchanged":
        """Builds `version` unless the active one is what it would be; with `always` in any case.

        Raises OperatorError and OSError; then, and when interrupted, nothing was published.
        """
        inputs = partial(inputs_of, repository, self._model_id(repository.embedder), self._storage.build_parameters)
        found = inputs()
        active = replace(repository.scope, active_index=self._storage.active(repository.scope))
        if found and not always and active.active_index and self._inputs_of_version(active) == found:
            return Unchanged(active)
        # Modules that only a build needs take longer to load than the check that nothing has changed.
        from groundwire_ingest.build.build import BuildOptions, build_index
        from groundwire_ingest.tree.read_before import ReadBefore

        self._read_before = self._read_before or ReadBefore(self._kept_bytes)
        source = recognise(repository.path, repository.exclude, repository.access, self._read_before)
        options = BuildOptions(
            data=self._data,
            scope=replace(repository.scope, active_index=version),
            embedder=None if repository.embedder == NO_EMBEDDER else self._model(repository.embedder),
            activate=activate,
            skip_dangling_edges=repository.skip_dangling_edges,
            # A file that changed while it was read may have been read before or after the change.
            inputs=lambda: found if inputs() == found else "",
            send_texts_to=self._send_texts_to,
            spaces=self._spaces,
        )
        return build_index(source, options, self._progress, self._storage)

    def _inputs_of_version(self, scope: Scope) -> str:
        try:
            return self._storage.manifest(scope).inputs
        except IndexDamagedError:
            return ""

    def _model_id(self, name: str) -> str:
        """The identity of a model: the name of one that is a package, whose version counts as software."""
        if name == NO_EMBEDDER or name in PACKAGED_MODELS:
            return name
        return f"{name} {self._model(name).fingerprint}"

    def _model(self, name: str) -> "Embedder":
        if name not in self._models:
            with self._progress.stage("Loading model") as report:
                from groundwire_ingest.embedding.index_texts import load_embedder

                self._models[name] = load_embedder(name)
                report(1, 1)
        return self._models[name]


def version_name() -> str:
    """The name of a version that is built on command and not named: the time in UTC, which orders by name."""
    return f"{datetime.now(UTC):%Y-%m-%d_%H%M%S.%f}"


def own_version_name() -> str:
    """The name of a version that a program builds on its own: the same, with a distinguishing prefix."""
    return f"{_PREFIX}{version_name()}"


def remove_older(storage: Storage, scope: Scope) -> None:
    """Deletes the own versions of a branch but the newest VERSIONS_KEPT, and but one that is active.

    Raises OperatorError and OSError.
    """
    own = sorted(name for name in storage.versions(scope) if name.startswith(_PREFIX))
    for version in own[:-VERSIONS_KEPT]:
        try:
            storage.delete(replace(scope, active_index=version))
        except VersionActiveError:
            continue  # an operator has gone back to it
