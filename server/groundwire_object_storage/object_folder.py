"""A folder in object storage, or on a file system, by its address; fsspec reads and writes it."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, cast

import fsspec

from groundwire_index.addresses import without_credentials, without_secrets
from groundwire_index.files.durable_files import make_durable
from groundwire_index.operator_errors import OperatorError

_PIECE = 1 << 23
"""Bytes that are read at once."""
_S3_PROTOCOLS = ("s3", "s3a")
_S3_OPTIONS: Mapping[str, object] = {
    "config_kwargs": {"connect_timeout": 10, "read_timeout": 30, "retries": {"max_attempts": 3}}
}
"""A storage that does not answer fails within minutes: by default each of several tries would take as long as one."""


class ObjectStorageError(OperatorError):
    """The storage cannot be used, or holds what it should not; the message names the place and the cure."""


class _ObjectNotFoundError(ObjectStorageError):
    """There is no such object or folder."""


class _FileSystem(Protocol):
    """What is used of fsspec's file systems, which have no types."""

    def ls(self, path: str, detail: bool) -> list[str]: ...
    def open(self, path: str, mode: str, block_size: int) -> IO[bytes]: ...
    def pipe_file(self, path: str, value: bytes) -> None: ...
    def put_file(self, lpath: str, rpath: str) -> None: ...
    def rm_file(self, path: str) -> None: ...
    def makedirs(self, path: str, exist_ok: bool) -> None: ...


class ObjectFolder:
    """A folder by its address, such as `s3://bucket/folder`, or by its path; paths in it are separated by `/`.

    Every method raises ObjectStorageError where the storage cannot be reached or refuses.
    """

    def __init__(self, address: str) -> None:
        """Finds the library of the address's protocol; nothing is read yet."""
        self.place, self._address = without_credentials(address), address
        protocol = address.partition("://")[0] if "://" in address else "file"
        options = _S3_OPTIONS if protocol in _S3_PROTOCOLS else {}
        with self._reporting(""):
            # What another program has written since must be seen.
            files, root = fsspec.core.url_to_fs(address, use_listings_cache=False, skip_instance_cache=True, **options)
        self._files, self._root = cast("_FileSystem", files), cast("str", root).rstrip("/")
        self._has_folders = protocol in ("file", "local")

    def names(self, path: str = "") -> list[str]:
        """The names in a folder, sorted; none where it does not exist."""
        place = self._at(path)
        try:
            with self._reporting(path):
                children = self._files.ls(place, detail=False)
        except _ObjectNotFoundError:
            return []
        return sorted({child.rstrip("/").rpartition("/")[2] for child in children if child.rstrip("/") != place})

    def content(self, path: str, most_bytes: int) -> bytes | None:
        """The content of a small object, None where there is none.

        Raises ObjectStorageError for one of more than `most_bytes`.
        """
        try:
            with self._reporting(path), self._files.open(self._at(path), "rb", block_size=_PIECE) as stream:
                content = stream.read(most_bytes + 1)
        except _ObjectNotFoundError:
            return None
        if len(content) > most_bytes:
            raise ObjectStorageError(f"{self._shown(path)}: has more than {most_bytes} bytes; publish it again")
        return content

    def write(self, path: str, content: bytes) -> None:
        """Writes a small object in one step."""
        with self._reporting(path):
            self._make_parent(path)
            self._files.pipe_file(self._at(path), content)

    def upload(self, file: Path, path: str) -> None:
        """Writes a file as an object."""
        with self._reporting(path):
            self._make_parent(path)
            self._files.put_file(str(file), self._at(path))

    def download(self, path: str, file: Path, size: int, sha256: str) -> None:
        """Writes an object to a new file, which is on disk when this returns.

        At most one byte more than `size` is read. Raises ObjectStorageError unless size and SHA-256 are as given.
        """
        digest, missing = hashlib.sha256(), size
        try:
            with (
                self._reporting(path),
                self._files.open(self._at(path), "rb", block_size=_PIECE) as stream,
                file.open("xb") as target,
            ):
                while missing >= 0 and (piece := stream.read(min(_PIECE, missing + 1))):
                    missing -= len(piece)
                    digest.update(piece)
                    target.write(piece)
        except _ObjectNotFoundError as error:
            raise ObjectStorageError(f"{self._shown(path)}: is missing; publish the version again") from error
        if missing or digest.hexdigest() != sha256:
            raise ObjectStorageError(
                f"{self._shown(path)}: does not have the size and the checksum that the manifest says; publish the "
                "content as another version"
            )
        make_durable(file)

    def remove(self, path: str) -> None:
        """Removes an object, if it is there."""
        try:
            with self._reporting(path):
                self._files.rm_file(self._at(path))
        except _ObjectNotFoundError:
            pass

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    def _shown(self, path: str) -> str:
        return f"{self.place.rstrip('/')}/{path}" if path else self.place

    def _make_parent(self, path: str) -> None:
        if self._has_folders:
            self._files.makedirs(self._at(path).rpartition("/")[0], exist_ok=True)

    @contextmanager
    def _reporting(self, path: str) -> Iterator[None]:
        """Turns what a library raises into ObjectStorageError."""
        try:
            yield
        except ObjectStorageError:
            raise
        except FileNotFoundError as error:
            raise _ObjectNotFoundError(self._message(path, f"does not exist: {error}")) from error
        except ImportError as error:
            cure = 'pip install "groundwire[object-storage]" for S3, and the library of fsspec for another protocol'
            raise ObjectStorageError(self._message(path, f"{error}: {cure}")) from error
        except OSError as error:
            raise ObjectStorageError(self._message(path, error.strerror or str(error))) from error
        except Exception as error:
            # The library of each protocol has errors of its own, which share no class.
            raise ObjectStorageError(self._message(path, f"{type(error).__name__}: {error}")) from error

    def _message(self, path: str, problem: str) -> str:
        """The message for a problem: libraries quote the address, which may have a password or a signature."""
        return f"{self._shown(path)}: {without_secrets(problem, self._address)}"
