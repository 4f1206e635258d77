"""Folders of paths."""

from collections.abc import Iterator


def folder_of(path: str) -> str:
    """The folder that holds a file or folder."""
    return path.rpartition("/")[0]


def path_in(key: str) -> str:
    """The path of the file in the key of a node of code: `a/b.py` of `py::a/b.py#C`."""
    return key.partition("::")[2].partition("#")[0]


def folders_above(path: str) -> Iterator[str]:
    """The folders above a path, from the innermost to the tree's root; none above the root."""
    while path:
        path = folder_of(path)
        yield path
