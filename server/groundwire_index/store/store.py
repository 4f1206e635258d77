"""Index versions on disk: `<data>/<repository>/<branch>/<version>/`, and which one is active.

A version is built in a hidden directory next to its place and moved there in one step. The active version is the
content of one small file that is swapped in one step. A crash at any point leaves the versions and the pointer that
were there before, and at most a hidden directory that the next build removes. A deleted version leaves a tombstone (its
policy classes). So its name is never given to another content, and a pin of it is distinguished from a name that never
existed.
"""

import errno
import logging
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from groundwire_index.files.durable_files import locked, make_durable, replace_durably
from groundwire_index.index_errors import (
    BuildRefusedError,
    IndexDamagedError,
    VersionActiveError,
    VersionDeletedError,
    VersionNotFoundError,
)
from groundwire_index.nodes.policies import POLICIES_FILE
from groundwire_index.scope import Scope, escaped, unescaped, version_problem
from groundwire_index.store.manifest import Manifest, check_sizes
from groundwire_index.store.version_entry import VersionEntry

if TYPE_CHECKING:
    from groundwire_index.progress import Progress
    from groundwire_index.store.loaded import LoadedIndex

_LOG = logging.getLogger(__name__)
MOST_BRANCHES = 4_096
_POINTER_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_MOST_POINTER_BYTES = 1_024
_PASSING = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE))
"""Failures of this process or of the volume, which another try may not have."""
_SETTLED_NANOSECONDS = 1_000_000_000
ACTIVE_FILE = ".active"
"""Of a branch: names its active version."""
TOMBSTONES_FOLDER = ".deleted"
"""Of a branch: what remains of its deleted versions."""
_BUILDING = ".building-"
_REMOVED = ".removed-"
SEGMENTS_FOLDER = ".segments"
"""Of a branch: the segments of its last build, for the next one, and what that collected from its source."""


class IndexStore:
    """The data directory; implements `storage.Storage`.

    Reading needs no lock; writers of one scope exclude each other by file locks.
    """

    build_parameters = ""
    keeps_collections = True

    def __init__(self, data: Path) -> None:
        self.data = data
        self.place = str(data)
        self._active: dict[str, tuple[tuple[int, int], str]] = {}
        # Making a path takes longer than asking the system for it. Names come from callers, so not all are kept.
        self._branch_of = lru_cache(MOST_BRANCHES)(lambda *names: self.data.joinpath(*map(escaped, names)))

    def check_readable(self) -> None:
        """Raises OSError when the data directory cannot be listed: it is gone, or its volume is."""
        os.scandir(self.data).close()

    def scopes(self, is_wanted: Callable[[str], bool] = lambda repository: True) -> Iterator[Scope]:
        """Every branch of the repositories that are wanted, sorted; no other repository is looked into.

        A folder that cannot be read has none, and the log says so.
        """
        for repository, directory in _by_name(self.data):
            if is_wanted(repository):
                for branch, _ in _by_name(directory):
                    yield Scope(repository, branch)

    def versions(self, scope: Scope) -> list[str]:
        """The versions of a scope, sorted."""
        names = (directory.name for directory in _visible_directories(self._branch(scope)))
        return sorted(name for name in names if not version_problem(name))

    def listed(self) -> list[VersionEntry]:
        return [
            VersionEntry.of(
                replace(scope, active_index=version),
                version == self.active(scope),
                partial(_sound_manifest, self._branch(scope) / version),
            )
            for scope in self.scopes()
            for version in self.versions(scope)
        ]

    def active(self, scope: Scope) -> str:
        """The active version of a scope, "" when there is none, or its pointer cannot be used; the log says why then.

        A scope with such a pointer must not break the listings of all others.
        """
        pointer = f"{self._branch(scope)}/{ACTIVE_FILE}"
        try:
            state = os.stat(pointer)  # noqa: PTH116 - every call asks, and making a path takes longer than that
            written = (state.st_ino, state.st_mtime_ns)
            known, version = self._active.get(pointer, (None, ""))
            if known != written:
                version = self._pointed_at(pointer)
                # One that is swapped in the same tick of the clock could look the same, so a young one is read again.
                if time.time_ns() - state.st_mtime_ns > _SETTLED_NANOSECONDS:
                    self._active[pointer] = (written, version)
        except (FileNotFoundError, NotADirectoryError):
            self._active.pop(pointer, None)
            return ""
        except OSError as error:
            if error.errno in _PASSING:
                raise
            _LOG.error("%s cannot be read: %s", pointer, error.strerror)
            return ""
        return version

    def _pointed_at(self, pointer: str) -> str:
        """The version that a pointer names, "" where it names none. Raises OSError."""
        # Opening a named pipe would wait for a writer.
        descriptor = os.open(pointer, _POINTER_FLAGS)
        try:
            is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
            version = os.read(descriptor, _MOST_POINTER_BYTES).decode("ascii", "replace") if is_file else ""
        finally:
            os.close(descriptor)
        if version_problem(version):
            _LOG.error("%s names no version: activate one", pointer)
            return ""
        return version

    def holds(self, scope: Scope) -> bool:
        """True if there is the version that `scope.active_index` names."""
        return os.path.isdir(f"{self._branch(scope)}/{scope.active_index}")  # noqa: PTH112 - as in `active`

    def directory(self, scope: Scope) -> Path:
        """Where the version that `scope.active_index` names lies, if it exists."""
        return self._branch(scope) / scope.active_index

    def tombstone(self, scope: Scope) -> Path:
        """Where the remains of the version lie, if it was deleted."""
        return self._branch(scope) / TOMBSTONES_FOLDER / scope.active_index

    @contextmanager
    def opened(self, scope: Scope) -> "Iterator[LoadedIndex]":
        from groundwire_index.store.loaded import open_version

        yield open_version(self.require(scope), scope)

    def skipped_file(self, scope: Scope) -> Path:
        from groundwire_index.store.writer import SKIPPED_FILE

        return self.directory(scope) / SKIPPED_FILE

    @contextmanager
    def build(self, scope: Scope, progress: "Progress | None" = None) -> Iterator[Path]:
        """Publishing takes no time that `progress` could show."""
        with self.staging(scope) as building:
            self.check_free(scope)
            yield building
            building.rename(self.directory(scope))
            make_durable(self._branch(scope))

    @contextmanager
    def staging(self, scope: Scope) -> Iterator[Path]:
        """Yields an empty directory that no reader sees, and removes what is in it at the end.

        Raises BuildRefusedError when another build of the scope is running.
        """
        branch = self._branch(scope)
        branch.mkdir(parents=True, exist_ok=True)
        _keep_from_readers(self.data)
        for parent in (self.data, branch.parent):
            make_durable(parent)
        with self._build_lock(scope):
            with self._writing(scope):
                _remove_leftovers(branch)
            building = Path(mkdtemp(prefix=_BUILDING, dir=branch))
            building.chmod(0o755)
            try:
                yield building
            finally:
                shutil.rmtree(building, ignore_errors=True)

    def check_free(self, scope: Scope) -> None:
        """Raises BuildRefusedError when the version's name is taken by an index or by a deleted one."""
        for path, state in ((self.directory(scope), "exists"), (self.tombstone(scope), "was deleted")):
            if path.exists():
                raise BuildRefusedError(
                    f"version {scope.active_index!r} of {scope.repository} {scope.branch} {state}; versions are "
                    "immutable and names are not used twice: give another --version"
                )

    def require(self, scope: Scope) -> Path:
        """The directory of a version. Raises VersionNotFoundError, or VersionDeletedError."""
        directory = self.directory(scope)
        if directory.is_dir():
            return directory
        if self.tombstone(scope).is_dir():
            raise VersionDeletedError(f"index {scope.active_index!r} was deleted")
        raise VersionNotFoundError(f"there is no index {scope.active_index!r} in this scope")

    def manifest(self, scope: Scope) -> Manifest:
        """The manifest of a version, whose files are there.

        Raises VersionNotFoundError, VersionDeletedError, IndexDamagedError.
        """
        return _sound_manifest(self.require(scope))

    def verify(self, scope: Scope) -> None:
        """Reads every file of a version and compares its checksum.

        Raises VersionNotFoundError, VersionDeletedError, IndexDamagedError naming a bad file.
        """
        # Loading what searches an index takes longer than asking which version is active.
        from groundwire_index.store.loaded import verify

        verify(self.require(scope))

    def activate(self, scope: Scope) -> str:
        """Makes a version the active one; returns the one before, or "".

        Raises VersionNotFoundError, VersionDeletedError, IndexDamagedError when it is not sound.
        """
        from groundwire_index.store.loaded import open_version, verify

        directory = self.require(scope)
        try:
            verify(directory)
        except IndexDamagedError:
            self.require(scope)  # what is deleted while it is read misses files, but is gone rather than damaged
            raise
        with self._writing(scope):
            open_version(self.require(scope), scope)
            previous = self.active(scope)
            replace_durably(self._branch(scope) / ACTIVE_FILE, scope.active_index.encode())
        return previous

    def delete(self, scope: Scope) -> None:
        """Removes a version, leaving its tombstone; processes that read it go on.

        Raises VersionNotFoundError, VersionDeletedError, VersionActiveError.
        """
        self.require(scope)
        with self._writing(scope):
            directory = self._inactive_directory(scope)
            if directory == max(
                _visible_directories(self._branch(scope)),
                key=lambda version_directory: version_directory.stat().st_mtime_ns,
            ):
                # The last build's segments hold its texts. A build that runs keeps those of its own nodes alone.
                with suppress(BuildRefusedError), self._build_lock(scope):
                    shutil.rmtree(self._branch(scope) / SEGMENTS_FOLDER, ignore_errors=True)
            self._bury(scope, directory)
            self._remove(scope, directory)
        self._remove_killed_builds(scope.repository)

    def _remove_killed_builds(self, repository: str) -> None:
        """Removes what killed builds of a repository have left: they may have read what another branch has kept."""
        for scope in self.scopes(repository.__eq__):
            if any(self._branch(scope).glob(f"{_BUILDING}*")):
                with suppress(BuildRefusedError), self._writing(scope), self._build_lock(scope):
                    _remove_leftovers(self._branch(scope))

    def evict(self, scope: Scope) -> None:
        """Removes a version of which another storage has a copy: it leaves no tombstone, so it can come back.

        Raises VersionNotFoundError, VersionDeletedError, VersionActiveError.
        """
        self.require(scope)
        with self._writing(scope):
            self._remove(scope, self._inactive_directory(scope))

    def _inactive_directory(self, scope: Scope) -> Path:
        """The directory of a version that is not active."""
        directory = self.require(scope)
        if self.active(scope) == scope.active_index:
            raise VersionActiveError(f"index {scope.active_index!r} is active; activate another first")
        return directory

    def _remove(self, scope: Scope, directory: Path) -> None:
        """Takes a version out of the readers' sight in one step, and then removes its files."""
        removed = directory.rename(Path(mkdtemp(prefix=_REMOVED, dir=self._branch(scope))) / directory.name)
        make_durable(self._branch(scope))
        shutil.rmtree(removed.parent)

    def _bury(self, scope: Scope, directory: Path) -> None:
        """Keeps the version's policy classes, so that only callers who could see it learn that it was deleted."""
        tombstone = self.tombstone(scope)
        tombstone.mkdir(parents=True, exist_ok=True)
        policies = directory / POLICIES_FILE
        content = policies.read_bytes() if policies.is_file() else b"[]"  # callers never learn of a damaged version
        replace_durably(tombstone / POLICIES_FILE, content)
        make_durable(tombstone.parent)

    def _build_lock(self, scope: Scope) -> AbstractContextManager[None]:
        refusal = f"another build of {scope.repository} {scope.branch} is running"
        return locked(self._branch(scope) / ".build.lock", refusal)

    @contextmanager
    def _writing(self, scope: Scope) -> Iterator[None]:
        with locked(self._branch(scope) / ".write.lock"):
            yield

    def _branch(self, scope: Scope) -> Path:
        return self._branch_of(scope.repository, scope.branch)


def _sound_manifest(directory: Path) -> Manifest:
    manifest = Manifest.read(directory)
    check_sizes(directory, manifest)
    return manifest


def _keep_from_readers(data: Path) -> None:
    """Lets neither git nor a build of the source tree around the data folder read what lies in it."""
    rules = data / ".gitignore"
    if not rules.exists():
        replace_durably(rules, b"*\n")


def _remove_leftovers(branch: Path) -> None:
    """Removes the remains of killed writers; no other writer may run."""
    for pattern in (f"{_BUILDING}*", f"{_REMOVED}*"):
        for directory in branch.glob(pattern):
            shutil.rmtree(directory)
    for temporary in branch.glob(f".{ACTIVE_FILE}.*.tmp"):
        temporary.unlink()


def _by_name(parent: Path) -> list[tuple[str, Path]]:
    """The directories of repositories or branches below a directory, sorted by their names.

    Those that the store did not make are none: no scope leads to them.
    """
    named = ((unescaped(path.name), path) for path in _visible_directories(parent))
    return sorted((name, path) for name, path in named if name is not None)


def _visible_directories(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            return [parent / entry.name for entry in entries if not entry.name.startswith(".") and _is_directory(entry)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        if error.errno in _PASSING:
            raise
        _LOG.error("%s cannot be read: %s", parent, error.strerror)
        return []


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle, or to where this process may not look
        return False
