"""The files of a Git commit, written into a folder without a checkout: no hook, filter or attribute has an effect.

`git` reads the objects, from a repository's folder or by its address, and knows the credentials for it.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from groundwire_index.addresses import without_credentials
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.tree.decoding import MAX_FILE_BYTES

_ADDRESS = re.compile(r"(?:https?|ssh|git|file)://.+|[\w.-]+@[\w.-]+:.+")
"""A URL, or `USER@HOST:PATH`."""
_ENTRY = re.compile(rb"(?P<mode>\d+) (?P<type>\w+) (?P<object>[0-9a-f]+) +(?P<size>\d+|-)\t(?P<path>.+)", re.DOTALL)
_FILE_MODES = (b"100644", b"100755", b"100664")
_SEGMENTS_REFUSED = frozenset(("", ".", "..", ".git"))
_PROTOCOLS = "https:http:ssh:git:file"
_SHORT_COMMIT = 12


@dataclass(frozen=True, slots=True)
class GitOrigin:
    """Where files come from: the address of a repository without credentials, and a commit in hexadecimal."""

    address: str
    commit: str

    def __str__(self) -> str:
        """The same for the manifest, in short."""
        return f"{self.address} at {self.commit[:_SHORT_COMMIT]}"


@dataclass(frozen=True, slots=True)
class GitTree:
    """The files of a commit in `folder`; `branch` is the name of what was asked for, such as `main`."""

    folder: Path
    branch: str
    origin: GitOrigin


def is_address(source: str) -> bool:
    """True for the address of a Git repository, such as `https://github.com/pallets/flask` or `git@host:shop.git`."""
    return _ADDRESS.fullmatch(source) is not None


def is_git_repository(source: str, ref: str) -> bool:
    """True for the address of a Git repository and for the folder of a bare one; with a `ref`, for any with `.git`."""
    if is_address(source):
        return True
    folder = Path(source)
    is_bare = all((folder / name).exists() for name in ("HEAD", "objects", "refs"))
    return is_bare or (bool(ref) and (folder / ".git").exists())


def repository_name(source: str) -> str:
    """The name of the repository at an address or in a folder, such as `flask`."""
    last = source.rstrip("/").rpartition("/")[2].rpartition(":")[2]
    if not is_address(source):
        last = Path(source).resolve().name  # also of `.` and `..`
    return last.removesuffix(".git") or "repository"


@contextmanager
def git_tree(source: str, ref: str) -> Iterator[GitTree]:
    """The files of a ref (a branch, a tag or a commit) of a repository, until the context ends; "" is its default.

    Files larger than a build reads are empty but for their size. Links and submodules are left out.
    Raises IngestError, which never names credentials.
    """
    address = without_credentials(source)
    with TemporaryDirectory(prefix="groundwire-git-") as name:
        workspace = Path(name)
        git = _Git(workspace / "objects", source, address)
        if is_address(source):
            commit, branch = git.fetch(ref)
        else:
            commit, branch = git.resolve(ref)
        folder = workspace / repository_name(source)
        folder.mkdir()
        git.write_files(commit, folder)
        yield GitTree(folder, branch, GitOrigin(address, commit))


@dataclass
class _Git:
    """Calls of `git` about one repository; `folder` has its objects."""

    folder: Path
    source: str
    address: str

    def fetch(self, ref: str) -> tuple[str, str]:
        """The commit and the name of a ref, after its files have been fetched, and nothing else."""
        self._run("init", "--quiet", "--bare", str(self.folder), at_folder=False)
        branch = ref or self._default_branch()
        self._run("fetch", "--quiet", "--depth=1", "--no-tags", "--", self.source, ref or "HEAD")
        return self._run("rev-parse", "--verify", "FETCH_HEAD^{commit}").strip(), branch

    def resolve(self, ref: str) -> tuple[str, str]:
        """The commit and the name of a ref of a repository that is here."""
        folder = self._run("-C", self.source, "rev-parse", "--absolute-git-dir", at_folder=False)
        self.folder = Path(folder.removesuffix("\n"))
        branch = ref or self._run("symbolic-ref", "--short", "HEAD").strip()
        commit = self._run("rev-parse", "--verify", "--end-of-options", f"{branch}^{{commit}}").strip()
        return commit, branch

    def write_files(self, commit: str, folder: Path) -> None:
        """Writes the files of a commit into an empty folder."""
        listing = self._bytes("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        matches = (_ENTRY.fullmatch(entry) for entry in listing.split(b"\0") if entry)
        entries = [match for match in matches if match is not None and match["mode"] in _FILE_MODES]
        with subprocess.Popen(
            self._command("cat-file", "--batch"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for entry in entries:
                path = _path_in(folder, entry["path"])
                path.parent.mkdir(parents=True, exist_ok=True)
                if int(entry["size"]) > MAX_FILE_BYTES:
                    with path.open("wb") as file:
                        file.truncate(int(entry["size"]))
                    continue
                process.stdin.write(entry["object"] + b"\n")
                process.stdin.flush()
                path.write_bytes(_object(process.stdout, entry["object"]))
            process.stdin.close()

    def _default_branch(self) -> str:
        for line in self._run("ls-remote", "--symref", "--", self.source, "HEAD").splitlines():
            if line.startswith("ref: refs/heads/"):
                return line.removeprefix("ref: refs/heads/").partition("\t")[0]
        raise IngestError(f"{self.address}: does not say which branch is its default; give --ref")

    def _command(self, *arguments: str, at_folder: bool = True) -> list[str]:
        place = ["--git-dir", str(self.folder)] if at_folder else []
        return ["git", *place, *arguments]

    def _run(self, *arguments: str, at_folder: bool = True) -> str:
        return self._bytes(*arguments, at_folder=at_folder).decode(errors="replace")

    def _bytes(self, *arguments: str, at_folder: bool = True) -> bytes:
        try:
            done = subprocess.run(
                self._command(*arguments, at_folder=at_folder),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                env=_environment(),
            )
        except FileNotFoundError as error:
            raise IngestError("git is not installed, and reads the repository: install it, or name a folder") from error
        if done.returncode:
            lines = done.stderr.decode(errors="replace").replace(self.source, self.address).strip().splitlines()
            raise IngestError(f"{self.address}: git failed: {'; '.join(lines[-2:])}")
        return done.stdout


def _object(stream: IO[bytes], name: bytes) -> bytes:
    """The content of the next object of `git cat-file --batch`."""
    header = stream.readline().split()
    if len(header) != 3 or header[0] != name:
        raise IngestError(f"git cannot read the object {name.decode()}")
    content = stream.read(int(header[2]))
    stream.read(1)
    return content


def _path_in(folder: Path, path: bytes) -> Path:
    """The path of a file below a folder. Raises IngestError for one that leads out of it, as no commit of git has."""
    segments = os.fsdecode(path).split("/")
    if any(segment.casefold() in _SEGMENTS_REFUSED or "\\" in segment for segment in segments):
        raise IngestError(f"the commit has a file at {os.fsdecode(path)!r}, which is no path in a folder")
    return folder.joinpath(*segments)


def _environment() -> dict[str, str]:
    """Git asks nobody for a password, and starts no program for an address of another kind."""
    kept = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": _PROTOCOLS, "LC_ALL": "C"}
