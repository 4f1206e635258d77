"""The files of a source that comes as a zip or as a folder, with a top folder inside or without.

Nothing is ever unpacked to disk. Only files that belong to the source are seen; links are not followed.
"""

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Protocol

from groundwire_ingest.files_below import read_below, regular_files_below, scan_below, size_below
from groundwire_ingest.ingest_errors import IngestError

MAX_UNPACKED_BYTES = 2 * 1024**3
"""How large the files of a zipped source may be together, unpacked."""
MAX_MEMBER_BYTES = 512 * 1024**2
"""How large one of them may be: it is read as a whole."""
MAX_RATIO = 50
"""How many times larger than in the zip a file may be, and all of them together. Sources deflate to a third or a
thirtieth; what deflates to a thousandth is made to fill memory."""
FREE_MEMBER_BYTES = 1024**2
"""A file up to this size may deflate as well as it does."""
FREE_BYTES = 8 * FREE_MEMBER_BYTES
"""The same for all files together."""
MAX_DIRECTORY_BYTES = 16 * 1024**2
"""How large the list of a zip's files may be: it is held as a whole, some tenfold. A file takes some 80 bytes of it."""

_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_READ_BYTES = 256 * 1024
_LOCAL_HEADER_BYTES = 30
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class ArchiveLayout:
    """How a kind of source is recognised, and which files belong to it.

    A folder or zip is such a source when all files of one of the `markers` are there, at its top or below a single top
    folder. `belongs` is True for a name at the top that belongs to the source; everything below such a folder belongs
    too.
    """

    markers: tuple[tuple[str, ...], ...]
    belongs: Callable[[str], bool]


class ArchiveFiles(Protocol):
    """Files by their path below the source's top, with forward slashes."""

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


def open_archive(path: Path, layout: ArchiveLayout) -> ArchiveFiles | None:
    """The files of the source at `path`, or None when it is a folder or zip that holds none of this layout.

    Raises IngestError for a zip that is damaged or too large, or that names paths outside itself, and for a folder that
    cannot be listed.
    """
    if path.is_dir():
        try:
            root = _folder_top(path, layout)
            return None if root is None else _FolderFiles(root, layout)
        except OSError as error:
            raise IngestError(f"{error.filename}: cannot be read ({error.strerror})") from error
    archive = _opened(path)
    members = _members(archive, path)
    top = _zip_top(members, layout)
    return None if top is None else _ZipFiles(path, archive, top, members, layout)


class _FolderFiles:
    def __init__(self, root: Path, layout: ArchiveLayout) -> None:
        self._root = root
        self.names = frozenset(_utf8_name(root, name) for name in _belonging(root, layout))

    def place(self, name: str) -> str:
        return str(self._root / name)

    def read(self, name: str) -> bytes:
        try:
            return read_below(self._root, name, size_below(self._root, name))
        except OSError as error:
            raise IngestError(f"{self.place(name)}: cannot be read ({error.strerror})") from error


class _ZipFiles:
    """Holds the zip open as long as it lives: finding one member among many costs a look at each of them."""

    def __init__(
        self, path: Path, archive: zipfile.ZipFile, top: str, members: dict[str, zipfile.ZipInfo], layout: ArchiveLayout
    ) -> None:
        self._path = path
        self._archive = archive
        inside = {name.removeprefix(top): member for name, member in members.items()}
        self._members = {name: member for name, member in inside.items() if layout.belongs(name.partition("/")[0])}
        self.names = frozenset(self._members)
        for name, member in self._members.items():
            _check_size(self.place(name), member.file_size, member.compress_size, MAX_MEMBER_BYTES, FREE_MEMBER_BYTES)
        unpacked = sum(member.file_size for member in self._members.values())
        _check_size(str(path), unpacked, path.stat().st_size, MAX_UNPACKED_BYTES, FREE_BYTES)

    def place(self, name: str) -> str:
        return f"{self._path}/{name}"

    def read(self, name: str) -> bytes:
        member = self._members[name]
        if member.flag_bits & _ENCRYPTED:
            raise IngestError(f"{self.place(name)}: is encrypted; give a zip without a password")
        if member.compress_type not in _METHODS:
            raise IngestError(
                f"{self.place(name)}: is compressed by method {member.compress_type}; only stored and deflated files "
                "are read, so make the zip anew, or unpack it and give the folder"
            )
        try:
            return self._inflated(member)
        except _DAMAGE as error:
            raise IngestError(f"{self.place(name)}: cannot be unpacked ({error}); make the zip anew") from error

    def _inflated(self, member: zipfile.ZipInfo) -> bytes:
        """Piece by piece: asked for all at once, zipfile inflates what is there whatever size the member claims."""
        content = bytearray()
        with self._archive.open(member) as stream:
            while piece := stream.read(_READ_BYTES):
                content += piece
                if len(content) > member.file_size:
                    raise zipfile.BadZipFile(f"it holds more than the {member.file_size} bytes that it claims")
        if len(content) < member.file_size:
            raise zipfile.BadZipFile(f"it holds {len(content)} bytes and claims {member.file_size}")
        return bytes(content)


class _ZipStream(io.FileIO):
    """A zip's bytes, closed with the last reference to them.

    Nothing but the list of its files is ever asked for in one large piece.
    """

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MAX_DIRECTORY_BYTES:
            raise IngestError(
                f"{self.name}: lists its files in {size} bytes; at most {MAX_DIRECTORY_BYTES} are read of a zip's "
                "list, so unpack it and give the folder"
            )
        return super().read(size)

    def __del__(self) -> None:
        self.close()


def _check_size(place: str, unpacked: int, packed: int, most: int, free: int) -> None:
    if unpacked > most:
        raise IngestError(
            f"{place}: unpacks to {unpacked} bytes; at most {most} are read from a zip, so unpack it and give the "
            "folder"
        )
    if unpacked > max(free, MAX_RATIO * packed):
        raise IngestError(
            f"{place}: unpacks from {packed} to {unpacked} bytes; beyond {free} bytes at most {MAX_RATIO} times the "
            "size in a zip is read, so unpack it and give the folder"
        )


def _belonging(root: Path, layout: ArchiveLayout) -> Iterator[str]:
    """The regular files of a source, links aside, by their paths below its top."""
    with scan_below(root, "") as entries:
        wanted_entries = [entry for entry in entries if layout.belongs(entry.name)]
        folders = [entry.name for entry in wanted_entries if entry.is_dir(follow_symlinks=False)]
        yield from (entry.name for entry in wanted_entries if entry.is_file(follow_symlinks=False))
    for folder in folders:
        yield from regular_files_below(root, folder)


def _utf8_name(root: Path, name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise IngestError(f"{root}: holds {name!r}, a name that is not UTF-8; rename that file") from error
    return name


def _folder_top(path: Path, layout: ArchiveLayout) -> Path | None:
    """The folder that holds the markers: this one, or the only one in it, links aside."""
    tops = [""]
    with scan_below(path, "") as entries:
        visible = [entry for entry in entries if not entry.name.startswith(".")]
        if len(visible) == 1 and visible[0].is_dir(follow_symlinks=False):
            tops.append(visible[0].name)
    return next(
        (
            path / top
            for top in tops
            if any(all(_is_file(path, f"{top}/{name}".lstrip("/")) for name in marker) for marker in layout.markers)
        ),
        None,
    )


def _is_file(root: Path, name: str) -> bool:
    try:
        size_below(root, name)
    except PermissionError:
        raise
    except OSError:
        return False
    return True


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(_ZipStream(path))
        _check_apart(archive, path)
    except _DAMAGE as error:
        raise IngestError(f"{path}: is no zip that can be read ({error}); make it anew") from error
    return archive


def _check_apart(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuses files that share bytes of the zip: with them a small zip would unpack to much more than it holds."""
    listed = sorted(archive.infolist(), key=lambda member: member.header_offset)
    starts = [*(member.header_offset for member in listed), path.stat().st_size]
    for member, (start, following) in zip(listed, pairwise(starts), strict=True):
        if start + _LOCAL_HEADER_BYTES + member.compress_size > following:
            raise zipfile.BadZipFile(f"{member.filename[:80]!r} reaches into what follows it")


def _members(archive: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    """The zip's regular files by path. Some .NET tools write backslashes; they separate folders too."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.replace("\\", "/")
        if info.is_dir() or name.endswith("/") or stat.S_ISLNK(info.external_attr >> 16):
            continue
        if name.startswith("/") or ".." in PurePosixPath(name).parts:
            raise IngestError(f"{path}: names a path outside itself ({name[:80]!r}); make the zip anew")
        if name in members:
            raise IngestError(f"{path}: holds {name!r} twice; make the zip anew")
        members[name] = info
    return members


def _zip_top(members: Iterable[str], layout: ArchiveLayout) -> str | None:
    """The common start of every path of the source: nothing, or the only top folder and a slash."""
    names = {name for name in members if not name.startswith(("__MACOSX/", "."))}
    tops = [""]
    folders = {name.partition("/")[0] for name in names}
    if len(folders) == 1:
        tops.append(f"{folders.pop()}/")
    return next(
        (top for top in tops if any(all(top + name in names for name in marker) for marker in layout.markers)), None
    )
