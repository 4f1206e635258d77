"""Looking a name up from a place in the tree: within a namespace, nearest first."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Generic, TypeVar

from groundwire_ingest.tree.folders import folders_above

Item = TypeVar("Item")


class NameTable(Generic[Item]):
    """What a tree calls by names that need not be unique.

    Nearest to a file is what stands in the same file, then what stands below the innermost folder around it; of
    several the one that was added first. A look-up costs as many steps as the path has folders.
    """

    def __init__(self) -> None:
        self._nearest: dict[tuple[str | None, str, str], Item] = {}
        self._meanings: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, namespace: str, name: str, path: str, meaning: str, item: Item) -> None:
        """Adds an item of the file `path`; items of one name are told apart by `meaning` alone."""
        self._meanings[name].add(meaning)
        for place in _places(path):
            self._nearest.setdefault((namespace, name, place), item)
            self._nearest.setdefault((None, name, place), item)

    def find_in(self, namespace: str | None, name: str, path: str) -> Item | None:
        """The nearest to `path` of that name in a namespace, None being all of them; None when there is none."""
        for place in _places(path):
            item = self._nearest.get((namespace, name, place))
            if item is not None:
                return item
        return None

    def find_only(self, name: str, path: str) -> Item | None:
        """The nearest of that name in any namespace when all of them mean the same; None otherwise."""
        return self.find_in(None, name, path) if len(self._meanings.get(name, ())) == 1 else None


def _places(path: str) -> Iterator[str]:
    """`path` and the folders around it, innermost first; each folder with a trailing slash, the root empty."""
    yield path
    for folder in folders_above(path.rstrip("/")):
        yield folder and f"{folder}/"
