"""Which of several files are nearest to another file by the folders that they share."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def nearest(path: str, items: Sequence[T], path_of: Callable[[T], str]) -> Sequence[T]:
    """Of items sorted by path, those of the file `path` itself, or else those that share the most folders with it.

    In the sorted list, items below one folder are adjacent, and the nearest ones are adjacent to where `path` itself
    would be. So only a few items are compared, however many there are: a tree may have thousands of files, or types,
    of one name.
    """
    first, after = bisect_left(items, path, key=path_of), bisect_right(items, path, key=path_of)
    if first < after:
        return items[first:after]
    folders = max((_shared(path, path_of(item)) for item in items[max(first - 1, 0) : first + 1]), key=len, default="")
    after = bisect_right(items, folders, key=lambda item: path_of(item)[: len(folders)])
    return items[bisect_left(items, folders, key=path_of) : after]


def _shared(left: str, right: str) -> str:
    """The leading folders that two paths have in common, with a slash at the end."""
    length = next(
        (at for at, (left_part, other) in enumerate(zip(left, right, strict=False)) if left_part != other), None
    )
    common = left[: min(len(left), len(right)) if length is None else length]
    return common[: common.rfind("/") + 1]
