"""The folders of a path of a tree: relative to the tree, with forward slashes, the tree's root being empty."""

from collections.abc import Iterator


def folder_of(path: str) -> str:
    """The folder that holds a file or folder."""
    return path.rpartition("/")[0]


def folders_above(path: str) -> Iterator[str]:
    """The folders above a path, from the innermost to the tree's root; none above the root."""
    while path:
        path = folder_of(path)
        yield path
