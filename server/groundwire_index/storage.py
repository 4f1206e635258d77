"""The storage of indexes: what commands and builds ask of it, and the record of a backend. `backends` lists them."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from groundwire_index.progress import Progress
from groundwire_index.scope import Scope
from groundwire_index.store.version_entry import VersionEntry

if TYPE_CHECKING:
    from groundwire_index.store.loaded import LoadedIndex
    from groundwire_index.store.manifest import Manifest

Values: TypeAlias = Mapping[str, Any]
"""Settings of backends by name, each value of the type that its `Setting` names."""


class Storage(Protocol):
    """The versions of all scopes, whatever their access.

    Methods about one version raise VersionNotFoundError, VersionDeletedError and IndexDamagedError; all raise
    OperatorError and OSError when the storage cannot be reached.
    """

    @property
    def place(self) -> str:
        """Where the versions are, for messages."""
        ...

    @property
    def build_parameters(self) -> str:
        """The settings of the storage that shape a version: with others the same source is built again."""
        ...

    @property
    def keeps_collections(self) -> bool:
        """True if what was collected from sources may stay beside versions: a deletion of them removes it."""
        ...

    def listed(self) -> list[VersionEntry]:
        """Every version, damaged ones included, ordered by repository, branch and version."""
        ...

    def versions(self, scope: Scope) -> list[str]:
        """The versions of the scope, sorted."""
        ...

    def active(self, scope: Scope) -> str:
        """The active version, "" when there is none."""
        ...

    def manifest(self, scope: Scope) -> "Manifest":
        """The manifest of a version."""
        ...

    def opened(self, scope: Scope) -> AbstractContextManager["LoadedIndex"]:
        """Yields a version with its nodes and edges, from files that may be removed afterwards."""
        ...

    def skipped_file(self, scope: Scope) -> Path | None:
        """The file that lists what a version left out of its source; None where there is no such file."""
        ...

    def check_free(self, scope: Scope) -> None:
        """Raises BuildRefusedError when the version's name is taken by an index or by a deleted one."""
        ...

    def build(self, scope: Scope, progress: Progress) -> AbstractContextManager[Path]:
        """Yields an empty directory to fill; on success it becomes the version `scope.active_index`, not yet active.

        Raises BuildRefusedError when the name is taken or another build is running. When the body raises, nothing is
        left.
        """
        ...

    def activate(self, scope: Scope) -> str:
        """Makes a version the active one; returns the one before, or ""."""
        ...

    def verify(self, scope: Scope) -> None:
        """Reads everything of a version and compares checksums."""
        ...

    def delete(self, scope: Scope) -> None:
        """Removes a version. Raises VersionActiveError."""
        ...


class OptionError(ValueError):
    """A setting that cannot be used: `setting: value: rule`, without a value that may be secret."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a backend, by one name: in the settings of a server, as `--name`, and as `GROUNDWIRE_NAME`.

    `check` raises ValueError with the rule that a value breaks; it is not asked about the default. A required setting
    must be given. A secret is no option of the commands, which read its variable. A setting that shapes builds is an
    option of `groundwire index`, and none of a server.
    """

    name: str
    type: type
    default: Any
    meaning: str
    check: Callable[[Any], object] = str
    required: bool = False
    secret: bool = False
    builds: bool = False


@dataclass(frozen=True, slots=True)
class Backend:
    """The record of a backend.

    Attributes:
        settings: Its settings.
        threads: How many threads the calls of a server share.
        storage: Gives its storage, from the data folder and the values of the settings. Raises OptionError.
        serving: `module:function` that opens it for a server, from the same; loaded by servers alone.
        extras: The libraries that only this backend needs, each with the extra of Groundwire that installs it.
    """

    settings: tuple[Setting, ...]
    threads: int
    storage: Callable[[Path, Values], Storage]
    serving: str
    extras: Mapping[str, str] = field(default_factory=dict)
