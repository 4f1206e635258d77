"""The packages and repositories that pairs are taken from: reads `sources.tsv`, and downloads them."""

import csv
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from bench.low_rank.pairs import is_wanted

TABLE = Path(__file__).with_name("sources.tsv")

Use = Literal["train", "kept"]
"""Used for training, or kept aside for measuring."""


class SourceError(Exception):
    """A package or repository cannot be downloaded; names it."""


@dataclass(frozen=True, slots=True)
class CodeSource:
    """A wheel on PyPI at a version, or a repository on GitHub (`owner/name`) at a commit."""

    kind: Literal["pypi", "github"]
    name: str
    version: str
    licence: str
    use: Use


def read_table() -> list[CodeSource]:
    """The sources in the order of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [
            CodeSource(
                cast("Literal['pypi', 'github']", row["kind"]),
                row["name"],
                row["version"],
                row["licence"],
                cast("Use", row["use"]),
            )
            for row in csv.DictReader(file, delimiter="\t")
        ]


def files_of(source: CodeSource, folder: Path) -> Iterator[tuple[str, bytes]]:
    """The source files of a package or repository by path; it is downloaded into the folder unless it is there.

    Raises SourceError.
    """
    yield from _wheel_files(source, folder) if source.kind == "pypi" else _repository_files(source, folder)


def _wheel_files(source: CodeSource, folder: Path) -> Iterator[tuple[str, bytes]]:
    own = folder / "pypi" / f"{source.name}-{source.version}"
    if not any(own.glob("*.whl")):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        _run([*pip, "--dest", str(own), f"{source.name}=={source.version}"], source)
    with zipfile.ZipFile(next(own.glob("*.whl"))) as wheel:
        for path in sorted(filter(is_wanted, wheel.namelist())):
            yield path, wheel.read(path)


def _repository_files(source: CodeSource, folder: Path) -> Iterator[tuple[str, bytes]]:
    clone = folder / "github" / f"{source.name.replace('/', '+')}.git"
    if not clone.is_dir():
        _run(["git", "init", "--quiet", "--bare", str(clone)], source)
        url = f"https://github.com/{source.name}.git"
        _run(["git", "--git-dir", str(clone), "fetch", "--quiet", "--depth", "1", url, source.version], source)
    git = ["git", "--git-dir", str(clone)]
    listed = _run([*git, "ls-tree", "-r", "-z", source.version], source).decode().split("\0")
    blobs = {path: entry.split()[2] for entry, _, path in (line.partition("\t") for line in listed if line)}
    wanted = sorted(path for path in blobs if is_wanted(path))
    answer = _run([*git, "cat-file", "--batch"], source, "".join(f"{blobs[path]}\n" for path in wanted).encode())
    position = 0
    for path in wanted:
        end = answer.index(b"\n", position)
        size = int(answer[position:end].split()[2])
        yield path, answer[end + 1 : end + 1 + size]
        position = end + size + 2


def _run(command: list[str], source: CodeSource, given: bytes = b"") -> bytes:
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    if done.returncode:
        raise SourceError(f"{source.name} {source.version}: {' '.join(command[:4])} ...: {done.stderr.decode()}")
    return done.stdout
