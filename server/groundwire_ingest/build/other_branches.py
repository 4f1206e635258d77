"""What builds of other branches of a repository have kept, for a build that takes of it what its branch has as well.

Each branch has a folder of its own, which goes with its version. A build takes over only what its branch has too. A
build of the other branch, or a deletion there, may remove any of the files meanwhile.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from groundwire_index.store.store import SEGMENTS_FOLDER
from groundwire_ingest.build.kept_collection import COLLECTION_FOLDER, READINGS_FILE

MOST_BRANCHES_READ = 8
"""A repository may have thousands of branches. Those that changed last are the most likely to be like this one."""


@dataclass(frozen=True, slots=True)
class OtherBranches:
    """The folders of what other branches keep: that of the branch that changed last comes first."""

    folders: tuple[Path, ...] = ()

    @classmethod
    def beside(cls, branch: Path) -> "OtherBranches":
        """Those of the same repository, given the folder of a branch."""
        changed: list[tuple[int, str]] = []
        for entry in _entries(branch.parent):
            folder = branch.parent / entry.name / SEGMENTS_FOLDER
            # Another process may remove a folder meanwhile, and that of another user may not be readable.
            with suppress(OSError):
                if entry.name != branch.name and not entry.name.startswith(".") and folder.is_dir():
                    changed.append((entry.stat().st_mtime_ns, entry.name))
        latest = sorted(changed, reverse=True)[:MOST_BRANCHES_READ]
        return cls(tuple(branch.parent / name / SEGMENTS_FOLDER for _, name in latest))

    @property
    def collections(self) -> tuple[Path, ...]:
        """The folders of what their last builds collected."""
        return tuple(folder / COLLECTION_FOLDER for folder in self.folders)

    @property
    def readings(self) -> tuple[Path, ...]:
        """The files of what their files were read as."""
        return tuple(folder / READINGS_FILE for folder in self.collections)

    def segments(self) -> Mapping[str, Path]:
        """The files of their segments by stem."""
        paths = (Path(entry.path) for folder in self.folders for entry in _entries(folder))
        return {path.stem: path for path in paths}


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    """The entries of a folder; none if it is gone."""
    with suppress(OSError), os.scandir(folder) as entries:
        return list(entries)
    return []
