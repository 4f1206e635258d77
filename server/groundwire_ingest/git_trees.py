"""The files of a Git commit, written into a folder without a checkout: no hook, filter or attribute has an effect.

`git` reads the objects, from a repository's folder or by its address, and knows the credentials for it. Neither a
repository's folder nor a server is trusted: git starts no program that they name, and no more than MOST_FILES and
MOST_BYTES are written.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from groundwire_index.addresses import without_credentials, without_secrets
from groundwire_ingest.files_below import MAX_DEPTH
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.tree.decoding import MAX_FILE_BYTES

_ADDRESS = re.compile(r"(?:https?|ssh|git|file)://.+|[\w.-]+@[\w.-]+:.+")
"""A URL, or `USER@HOST:PATH`."""
_ENTRY = re.compile(rb"(?P<mode>\d+) (?P<type>\w+) (?P<object>[0-9a-f]+) +(?P<size>\S+)\t(?P<path>.+)", re.DOTALL)
_FILE_MODES = (b"100644", b"100755", b"100664")
_SEGMENTS_REFUSED = frozenset(("", ".", "..", ".git"))
_PROTOCOLS = "https:http:ssh:git:file"
_NO_PROTOCOL = "none"
_SHORT_COMMIT = 12
_SECONDS_OF_SILENCE = 60
"""A server that sends nothing for so long over HTTP is given up."""
_LISTING_PIECE = 1 << 16
_MOST_PATH_BYTES = 3_000
_MOST_NAME_BYTES = 255
_SHOWN_BYTES = 80
"""Of a path that is too long."""
MOST_FILES = 1_000_000
MOST_BYTES = 20_000_000_000
"""Of the files of a commit. A few kilobytes of objects can be any number of files, all of the same content."""
_OF_OTHER_REPOSITORIES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
"""Variables by which git, when it starts a program such as a hook, says where its own repository is."""


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
    name = last.removesuffix(".git")
    return "repository" if name in ("", ".", "..") else name


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
        folder = workspace / "files" / repository_name(source)
        folder.mkdir(parents=True)
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
        if ":" in ref or ref.startswith(("+", "^")):
            raise IngestError(f"--ref: {ref!r} is no name of a branch, tag or commit; leave out `:`, `+` and `^`")
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
        count = written_bytes = 0
        with self._started("cat-file", "--batch") as process:
            for entry in self._files(commit):
                count += 1
                if not entry["size"].isdigit():
                    raise _unreadable(entry["object"])
                size = int(entry["size"])
                is_read = size <= MAX_FILE_BYTES
                written_bytes += size if is_read else 0
                if count > MOST_FILES or written_bytes > MOST_BYTES:
                    raise IngestError(
                        f"{self.address}: the commit has more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes; "
                        "check it out, and index a part of it"
                    )
                path = _path_in(folder, entry["path"])
                path.parent.mkdir(parents=True, exist_ok=True)
                if is_read:
                    path.write_bytes(_object(process, entry["object"]))
                    continue
                with path.open("wb") as file:
                    file.truncate(size)

    def _files(self, commit: str) -> Iterator[re.Match[bytes]]:
        """The entries of the files of a commit, as they are listed: there may be any number of them."""
        with self._started("ls-tree", "-r", "-l", "-z", "--full-tree", commit) as process:
            assert process.stdout is not None
            rest = b""
            while piece := process.stdout.read(_LISTING_PIECE):
                *entries, rest = (rest + piece).split(b"\0")
                if len(rest) > 2 * _MOST_PATH_BYTES:
                    raise _too_long(rest.partition(b"\t")[2])
                for match in map(_ENTRY.fullmatch, entries):
                    if match is not None and match["mode"] in _FILE_MODES:
                        yield match
            if process.wait():
                raise IngestError(f"{self.address}: git cannot list the files of {commit}: is the repository complete?")

    @contextmanager
    def _started(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """A process of git that reads the objects, until the context ends."""
        with subprocess.Popen(
            self._command(*arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment(_NO_PROTOCOL)
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def _default_branch(self) -> str:
        for line in self._run("ls-remote", "--symref", "--", self.source, "HEAD").splitlines():
            if line.startswith("ref: refs/heads/"):
                return line.removeprefix("ref: refs/heads/").partition("\t")[0]
        raise IngestError(f"{self.address}: does not say which branch is its default; give --ref")

    def _command(self, *arguments: str, at_folder: bool = True) -> list[str]:
        place = ["--git-dir", str(self.folder)] if at_folder else []
        silence = ["-c", "http.lowSpeedLimit=1", "-c", f"http.lowSpeedTime={_SECONDS_OF_SILENCE}"]
        return ["git", *silence, *place, *arguments]

    def _run(self, *arguments: str, at_folder: bool = True) -> str:
        return self._bytes(*arguments, at_folder=at_folder).decode(errors="replace")

    def _bytes(self, *arguments: str, at_folder: bool = True) -> bytes:
        try:
            done = subprocess.run(
                self._command(*arguments, at_folder=at_folder),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                env=_environment(_PROTOCOLS if is_address(self.source) else _NO_PROTOCOL),
            )
        except FileNotFoundError as error:
            raise IngestError("git is not installed, and reads the repository: install it, or name a folder") from error
        if done.returncode:
            output = done.stderr.decode(errors="replace").replace(self.source, self.address)
            lines = without_secrets(output, self.source).strip().splitlines()
            raise IngestError(f"{self.address}: git failed: {'; '.join(lines[-2:])}")
        return done.stdout


def _object(process: subprocess.Popen[bytes], name: bytes) -> bytes:
    """The content of an object, which `git cat-file --batch` is asked for. Raises IngestError, also where git died."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(name + b"\n")
        process.stdin.flush()
    except BrokenPipeError as error:
        raise _unreadable(name) from error
    header = process.stdout.readline().split()
    if len(header) != 3 or header[0] != name:
        raise _unreadable(name)
    size = int(header[2])
    content = process.stdout.read(size)
    if len(content) < size or process.stdout.read(1) != b"\n":
        raise _unreadable(name)
    return content


def _unreadable(name: bytes) -> IngestError:
    return IngestError(f"git cannot read the object {name.decode()}: is the repository complete?")


def _path_in(folder: Path, path: bytes) -> Path:
    """The path of a file below a folder.

    Raises IngestError for one that leads out of it, or that is very long or deep: folders are made recursively.
    """
    segments = os.fsdecode(path).split("/")
    if any(segment.casefold() in _SEGMENTS_REFUSED or "\\" in segment for segment in segments):
        raise IngestError(f"the commit has a file at {os.fsdecode(path)!r}, which is no path in a folder")
    longest = max(map(len, path.split(b"/")))
    if len(path) > _MOST_PATH_BYTES or longest > _MOST_NAME_BYTES or len(segments) > MAX_DEPTH:
        raise _too_long(path)
    return folder.joinpath(*segments)


def _too_long(path: bytes) -> IngestError:
    return IngestError(
        f"the commit has a file at {os.fsdecode(path[:_SHOWN_BYTES])!r} and further; a path may have at most "
        f"{_MOST_PATH_BYTES:,} bytes and {MAX_DEPTH} names of {_MOST_NAME_BYTES} bytes: take it out of the commit"
    )


def _environment(protocols: str) -> dict[str, str]:
    """Git asks nobody for a password, and starts no program for an address of another kind than `protocols`.

    Without protocols it fetches nothing. Otherwise the folder of a repository that lacks objects could name a program
    that is started to fetch them. Replacements of objects do not count: the host of the repository does not show them.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _OF_OTHER_REPOSITORIES}
    settings = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }
    return kept | settings
