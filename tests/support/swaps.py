"""Replacements of a file, and folders that are deeper than a path may be long."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

Swap: TypeAlias = Callable[[Path, Path], None]
"""Replaces a file; the second path is that of a file outside, which nobody is to read."""


def link_to_a_file(file: Path, secret: Path) -> None:
    """The file becomes a link to one outside."""
    file.unlink()
    file.symlink_to(secret)


def link_to_a_folder(file: Path, secret: Path) -> None:
    """The folder of the file becomes a link to one outside with a file of that name."""
    outside = secret.parent / "outside"
    outside.mkdir()
    (outside / file.name).write_bytes(secret.read_bytes())
    file.parent.rename(secret.parent / "moved")
    file.parent.symlink_to(outside)


def named_pipe(file: Path, _: Path) -> None:
    """The file becomes a pipe that nobody writes into."""
    file.unlink()
    os.mkfifo(file)


def endless_device(file: Path, _: Path) -> None:
    """The file becomes a link to a device that has no end."""
    file.unlink()
    file.symlink_to("/dev/zero")


SWAPS: tuple[Swap, ...] = (link_to_a_file, link_to_a_folder, named_pipe, endless_device)


@contextmanager
def deep_folders(folder: Path, levels: int) -> Iterator[None]:
    """A chain of folders in a folder, longer than any path that a system opens at once."""
    descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=descriptor)
        inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    try:
        yield
    finally:
        subprocess.run(["rm", "-r", folder / "d"], check=True)  # `shutil` calls itself for each level
