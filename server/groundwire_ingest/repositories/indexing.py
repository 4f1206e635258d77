"""Indexing repositories one after the other, each only if its active version is not what a build would make."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire_index.embedding.model_names import NO_EMBEDDER, PACKAGED_MODELS
from groundwire_index.files.durable_files import sha256
from groundwire_index.index_errors import IndexDamagedError, VersionActiveError
from groundwire_index.progress import Progress
from groundwire_index.scope import Scope
from groundwire_index.storage import Storage
from groundwire_ingest.files_below import regular_files_below, sha256_below
from groundwire_ingest.git_trees import git_tree, is_git_repository
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.recognise import is_tree, recognise
from groundwire_ingest.repositories.repositories_file import Repository
from groundwire_ingest.software import software
from groundwire_ingest.tree.contents import TreeContents, tree_contents

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
        contents = _tree_contents(repository)
        known_inputs = inputs(contents)
        active = replace(repository.scope, active_index=self._storage.active(repository.scope))
        if known_inputs and not always and active.active_index and self._inputs_of_version(active) == known_inputs:
            return Unchanged(active)
        # Modules that only a build needs take longer to load than the check that nothing has changed.
        from groundwire_ingest.workers import FILE_READERS, load_libraries

        if contents is not None:
            load_libraries(FILE_READERS)
        from groundwire_ingest.build.build import BuildOptions, build_index
        from groundwire_ingest.tree.read_before import ReadBefore

        self._read_before = self._read_before or ReadBefore(self._kept_bytes)
        origin = "" if repository.origin is None else str(repository.origin)
        source = recognise(repository.path, repository.exclude, repository.access, self._read_before, origin, contents)
        options = BuildOptions(
            data=self._data,
            scope=replace(repository.scope, active_index=version),
            embedder=None if repository.embedder == NO_EMBEDDER else self._model(repository.embedder),
            activate=activate,
            skip_dangling_edges=repository.skip_dangling_edges,
            inputs=known_inputs,
            are_inputs_unchanged=lambda: inputs() == known_inputs,
            send_texts_to=self._send_texts_to,
            link_template=repository.stored_link_template,
            spaces=self._spaces,
        )
        return build_index(source, options, self._progress, self._storage)

    def has_embeddings_of(self, repository: Repository) -> bool:
        """True if the active version has the source as it is now, with embeddings of the repository's model.

        The model is not asked: it may be out of reach.
        """
        active = replace(repository.scope, active_index=self._storage.active(repository.scope))
        if not active.active_index:
            return False
        try:
            manifest = self._storage.manifest(active)
        except IndexDamagedError:
            return False
        if manifest.vector_space is None:
            return False
        name = repository.embedder
        model = name if name in PACKAGED_MODELS else f"{name} {manifest.vector_space.fingerprint}"
        return inputs_of(repository, model, self._storage.build_parameters) == manifest.inputs

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
            with self._progress.stage("Loading model", "models") as report:
                from groundwire_ingest.embedding.index_texts import load_embedder

                self._models[name] = load_embedder(name)
                report(1, 1)
        return self._models[name]


@contextmanager
def with_files(repository: Repository) -> Iterator[Repository]:
    """The repository with its files in a folder, until the context ends: those of a commit if it is one of Git.

    Raises IngestError.
    """
    if not repository.git_source:
        yield repository
        return
    if not is_git_repository(repository.git_source, repository.ref):
        raise IngestError(f"{repository.git_source}: is no Git repository; leave out `ref`, or name one")
    with git_tree(repository.git_source, repository.ref) as tree:
        yield replace(repository, path=tree.folder, origin=tree.origin)


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
    own_versions = sorted(name for name in storage.versions(scope) if name.startswith(_PREFIX))
    for version in own_versions[:-VERSIONS_KEPT]:
        try:
            storage.delete(replace(scope, active_index=version))
        except VersionActiveError:
            continue  # an operator has gone back to it


def inputs_of(repository: Repository, model: str, storage: str = "", contents: TreeContents | None = None) -> str:
    """The hash of a source's content, of the settings that matter to its index, of its model, and of this software.

    `model` identifies the embedding model, `storage` the parameters of the storage that shape a version. Of a tree only
    what is read counts: neither what is ignored or excluded, nor when a file was written. `contents` are those of a
    tree, if they are known already. Hexadecimal; "" when the source cannot be read. Raises IngestError as `recognise`
    does.
    """
    path = repository.path
    settings = {
        "name": path.resolve().name,
        "model": model,
        "storage": storage,
        "exclude": repository.exclude,
        "access": [asdict(rule) for rule in repository.access],
        "skip_dangling_edges": repository.skip_dangling_edges,
        "origin": "" if repository.origin is None else str(repository.origin),
        "link_template": repository.stored_link_template,
    }
    digest = hashlib.sha256(json.dumps([software(), settings]).encode())
    contents = contents or _tree_contents(repository)
    try:
        for name, content in _files(path) if contents is None else contents.contents:
            digest.update(f"{name}\0{content}\n".encode(errors="surrogateescape"))
    except OSError:
        return ""
    return digest.hexdigest()


def _tree_contents(repository: Repository) -> TreeContents | None:
    """What a tree holds; None for another source. Raises IngestError as `recognise` does."""
    return tree_contents(repository.path, repository.exclude) if is_tree(repository.path) else None


def _files(path: Path) -> Iterator[tuple[str, str]]:
    """A file, or every regular file below a folder, links aside."""
    if not path.is_dir():
        yield "", sha256(path)
        return
    for name in sorted(regular_files_below(path)):
        yield name, sha256_below(path, name)
