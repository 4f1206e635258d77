"""The results of reading files on their own, kept from one build of a process to the next by the files' content."""

import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

from groundwire_ingest.files_below import sha256_below, size_below
from groundwire_ingest.tree.decoding import MAX_FILE_BYTES
from groundwire_ingest.tree.walk import ListedFile
from groundwire_ingest.workers import GivenUp, Pickler, Workers

Report = TypeVar("Report")
_Key: TypeAlias = tuple[str, ListedFile, str]


class ReadBefore:
    """The results that were used last, as far as they take `most_bytes`; with 0, none is kept. Not thread-safe."""

    def __init__(self, most_bytes: int = 0) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[_Key, bytes] = OrderedDict()
        self._size = 0

    def map(
        self, read: Callable[[Path, ListedFile], Report], root: Path, items: Sequence[ListedFile], workers: Workers
    ) -> Iterator[Report | GivenUp]:
        """The results of reading files below `root`, in their order; workers read those whose content is new."""

        def size(item: ListedFile) -> int:
            try:
                return size_below(root, item.path)
            except OSError:
                return 0  # gone since it was listed; who reads it will say so

        if not self._most_bytes:
            yield from workers.map(partial(read, root), items, size)
            return
        keys = [_key(read, root, item) for item in items]
        known = [None if key is None else self._kept.get(key) for key in keys]
        fresh = (item for item, content in zip(items, known, strict=True) if content is None)
        answers = workers.map(partial(_read, read, root), fresh, size)
        for content in known:
            if content is not None:
                yield pickle.loads(content)
                continue
            answer = next(answers)
            if isinstance(answer, GivenUp):
                yield answer
                continue
            key, report = answer
            if key is not None:
                self._keep(key, bytes(Pickler.dumps(report)))
            yield report

    def _keep(self, key: _Key, content: bytes) -> None:
        self._size += len(content) - len(self._kept.pop(key, b""))
        self._kept[key] = content
        while self._size > self._most_bytes:
            self._size -= len(self._kept.popitem(last=False)[1])


def _read(read: Callable[[Path, ListedFile], Report], root: Path, item: ListedFile) -> tuple[_Key | None, Report]:
    """The result of a file, and its key; None for a file that changes while it is read."""
    before, report = _key(read, root, item), read(root, item)
    return before if before == _key(read, root, item) else None, report


def _key(read: Callable[[Path, ListedFile], object], root: Path, item: ListedFile) -> _Key | None:
    """The parameters of a result; None for a file that is gone, or so large that it is not read either."""
    try:
        is_read = size_below(root, item.path) <= MAX_FILE_BYTES
        return (read.__name__, item, sha256_below(root, item.path)) if is_read else None
    except OSError:
        return None
