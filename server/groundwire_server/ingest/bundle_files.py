"""The files of a RoslynIndexer bundle, whether it is a zip or a folder, with a top folder inside or without.

Nothing is ever unpacked to disk. Only files of the bundle's own folders are seen; links are not followed.
"""

import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Protocol

from groundwire_server.domain.errors import IngestError

CODE_FOLDER = "regular_code_bundle"
SQL_FOLDERS = ("sql_bundle", "sql_code_bundle")
REPOSITORY_FILE = "repo_meta.json"
MARKERS = (
    f"{CODE_FOLDER}/chunks.json",
    *(f"{folder}/{name}" for folder in SQL_FOLDERS for name in ("docs/sql_bodies.jsonl", "graph/nodes.csv")),
)
"""A zip or folder is a bundle when it holds one of these, at its top or below a single top folder."""

MAX_UNPACKED_BYTES = 2 * 1024**3
"""How large the files of a zipped bundle may be together, unpacked."""

_ENCRYPTED = 0x1
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, OSError)


class BundleFiles(Protocol):
    """Files by their path below the bundle's top, such as `regular_code_bundle/chunks.json`."""

    @property
    def names(self) -> frozenset[str]:
        """Every file there is."""
        ...

    def place(self, name: str) -> str:
        """The file as error messages name it."""
        ...

    def read(self, name: str) -> bytes:
        """The content of one of `names`. Raises IngestError when it cannot be read."""
        ...


def open_bundle_files(path: Path) -> BundleFiles | None:
    """The files of the bundle at `path`, or None when it is a folder or zip that holds none.

    Raises IngestError for a zip that is damaged or too large, or that names paths outside itself.
    """
    if path.is_dir():
        try:
            root = _folder_top(path)
            return None if root is None else _FolderFiles(root)
        except OSError as error:
            raise IngestError(f"{error.filename}: cannot be read ({error.strerror})") from error
    members = _zip_members(path)
    top = _zip_top(members)
    return None if top is None else _ZipFiles(path, top, members)


class _FolderFiles:
    def __init__(self, root: Path) -> None:
        self._root = root
        parts = [root / name for name in (CODE_FOLDER, *SQL_FOLDERS)]
        files = [root / REPOSITORY_FILE, *(file for part in parts for file in _files_below(part))]
        self.names = frozenset(
            file.relative_to(root).as_posix() for file in files if file.is_file() and not file.is_symlink()
        )

    def place(self, name: str) -> str:
        return str(self._root / name)

    def read(self, name: str) -> bytes:
        try:
            return (self._root / name).read_bytes()
        except OSError as error:
            raise IngestError(f"{self.place(name)}: cannot be read ({error.strerror})") from error


class _ZipFiles:
    def __init__(self, path: Path, top: str, members: dict[str, zipfile.ZipInfo]) -> None:
        self._path = path
        self._members = {
            name.removeprefix(top): member for name, member in members.items() if _is_ours(name.removeprefix(top))
        }
        self.names = frozenset(self._members)
        unpacked = sum(member.file_size for member in self._members.values())
        if unpacked > MAX_UNPACKED_BYTES:
            raise IngestError(
                f"{path}: unpacks to {unpacked} bytes; at most {MAX_UNPACKED_BYTES} are read from a zip, so unpack it "
                "and give the folder"
            )

    def place(self, name: str) -> str:
        return f"{self._path}/{name}"

    def read(self, name: str) -> bytes:
        member = self._members[name]
        if member.flag_bits & _ENCRYPTED:
            raise IngestError(f"{self.place(name)}: is encrypted; give a zip without a password")
        try:
            with zipfile.ZipFile(self._path) as archive:
                return archive.read(member)
        except _DAMAGE as error:
            raise IngestError(f"{self.place(name)}: cannot be unpacked ({error}); make the zip anew") from error


def _files_below(folder: Path) -> Iterable[Path]:
    if folder.is_dir() and not folder.is_symlink():
        for entry in folder.iterdir():
            if entry.is_dir():
                yield from _files_below(entry)
            else:
                yield entry


def _folder_top(path: Path) -> Path | None:
    """The folder that holds the parts: this one, or the only one in it."""
    tops = [path]
    visible = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
    if len(visible) == 1 and visible[0].is_dir():
        tops.append(visible[0])
    return next((top for top in tops if any((top / marker).is_file() for marker in MARKERS)), None)


def _zip_members(path: Path) -> dict[str, zipfile.ZipInfo]:
    """The zip's regular files by path. Some .NET tools write backslashes; they separate folders too."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except _DAMAGE as error:
        raise IngestError(f"{path}: is no zip that can be read ({error}); make it anew") from error
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        name = info.filename.replace("\\", "/")
        if info.is_dir() or name.endswith("/") or stat.S_ISLNK(info.external_attr >> 16):
            continue
        if name.startswith("/") or ".." in PurePosixPath(name).parts:
            raise IngestError(f"{path}: names a path outside itself ({name[:80]!r}); make the zip anew")
        if name in members:
            raise IngestError(f"{path}: holds {name!r} twice; make the zip anew")
        members[name] = info
    return members


def _zip_top(members: Iterable[str]) -> str | None:
    """What every path of the bundle starts with: nothing, or the only top folder and a slash."""
    names = [name for name in members if not name.startswith(("__MACOSX/", "."))]
    tops = [""]
    folders = {name.partition("/")[0] for name in names}
    if len(folders) == 1:
        tops.append(f"{folders.pop()}/")
    return next((top for top in tops if any(f"{top}{marker}" in names for marker in MARKERS)), None)


def _is_ours(name: str) -> bool:
    return name == REPOSITORY_FILE or name.partition("/")[0] in {CODE_FOLDER, *SQL_FOLDERS}
