"""The results of reading files on their own, kept from one build to the next by the files' content."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from groundwire_ingest.files_below import size_below
from groundwire_ingest.tree.contents import listed_content
from groundwire_ingest.tree.other_readings import OtherReadings
from groundwire_ingest.tree.walk import ListedFile
from groundwire_ingest.workers import GivenUp, Pickler, Unpickler, Workers

Report = TypeVar("Report")
_HASH_CHARACTERS = 64


class Readings(Protocol):
    """Pickled results by the path of the file, the name of the reader, and a key of the content."""

    def known(self, reader: str) -> Set[tuple[str, str]]:
        """The paths and keys of the results of a reader."""
        ...

    def content(self, path: str, reader: str, key: str) -> bytes | None:
        """A result; None if it is not kept, or damaged."""
        ...

    def keep(self, path: str, reader: str, key: str, content: bytes) -> None:
        """Keeps a result."""
        ...


class ReadBefore:
    """The results that were used last, as far as they take `most_bytes` of memory; with 0, none is kept.

    Between builds they may be in a file instead. Not thread-safe.
    """

    def __init__(self, most_bytes: int = 0) -> None:
        self._readings: Readings | None = _HeldReadings(most_bytes) if most_bytes else None
        self._others: OtherReadings | None = None

    @contextmanager
    def kept_in(self, readings: Readings, others: OtherReadings) -> Iterator[None]:
        """Keeps results there rather than in memory, in this context; those that `others` have are known too."""
        held, self._readings, self._others = self._readings, readings, others
        try:
            yield
        finally:
            self._readings, self._others = held, None

    def take_over(self, read: Callable[..., object], contents: Iterable[tuple[str, str]]) -> None:
        """Keeps what others have that a function made of the files with these contents, by path and key."""
        if self._readings is None or self._others is None or self._others.is_empty:
            return
        reader = read.__name__
        known = self._readings.known(reader)
        for path, key in contents:
            content = None if (path, key) in known else self._others.content(path, reader, key)
            if content is not None:
                self._readings.keep(path, reader, key, content)

    def map(
        self, read: Callable[[Path, ListedFile], Report], root: Path, items: Sequence[ListedFile], workers: Workers
    ) -> Iterator[Report | GivenUp]:
        """The results of reading files below `root`, in their order; workers read those whose content is new."""

        def size(item: ListedFile) -> int:
            try:
                return size_below(root, item.path)
            except OSError:
                return 0  # gone since it was listed; who reads it will say so

        if self._readings is None:
            yield from workers.map(partial(read, root), items, size)
            return
        reading, reader = partial(_read, read, root), read.__name__
        keys = [_content_key(root, item) for item in items]
        self.take_over(read, ((item.path, key) for item, key in zip(items, keys, strict=True) if key is not None))
        kept = self._readings.known(reader)
        known = [(item.path, key) in kept for item, key in zip(items, keys, strict=True)]
        fresh = (item for item, is_known in zip(items, known, strict=True) if not is_known)
        answers = workers.map(reading, fresh, size)
        for item, key, is_known in zip(items, keys, known, strict=True):
            content = self._readings.content(item.path, reader, key) if is_known and key is not None else None
            if content is None:
                answer = next(workers.map(reading, (item,), size) if is_known else answers)
                if isinstance(answer, GivenUp):
                    yield answer
                    continue
                key, content = answer
                if key is not None:
                    self._readings.keep(item.path, reader, key, content)
            report: Report = Unpickler(content).load()
            yield report

    def is_kept(self, read: Callable[..., object], path: str, key: str) -> bool:
        """True if what was read of a file last was this content."""
        return self._readings is not None and self._readings.content(path, read.__name__, key) is not None

    def last_read(self, read: Callable[[Path, ListedFile], Report], path: str, key: str) -> Report | None:
        """What was read of a file when its content was another one, by the key of that; None if it is not kept.

        What other branches keep is looked at as well.
        """
        content = self._readings.content(path, read.__name__, key) if self._readings is not None else None
        if content is None and self._others is not None:
            content = self._others.content(path, read.__name__, key)
        report: Report | None = None if content is None else Unpickler(content).load()
        return report


class _HeldReadings:
    """Readings in memory: those that were used last, as far as they take `most_bytes`."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[tuple[str, str, str], bytes] = OrderedDict()
        self._size = 0

    def known(self, reader: str) -> Set[tuple[str, str]]:
        return {(path, key) for path, of_reader, key in self._kept if of_reader == reader}

    def content(self, path: str, reader: str, key: str) -> bytes | None:
        return self._kept.get((path, reader, key))

    def keep(self, path: str, reader: str, key: str, content: bytes) -> None:
        place = (path, reader, key)
        self._size += len(content) - len(self._kept.pop(place, b""))
        self._kept[place] = content
        while self._size > self._most_bytes:
            self._size -= len(self._kept.popitem(last=False)[1])


def _content_key(root: Path, item: ListedFile) -> str | None:
    """The key of a file's results; None for one that is gone, or so large that it is not read either."""
    content = listed_content(root, item)
    return content if len(content) == len(item.language) + 1 + _HASH_CHARACTERS else None


def _read(read: Callable[[Path, ListedFile], Report], root: Path, item: ListedFile) -> tuple[str | None, bytes]:
    """The pickled result of a file, and its key; None for a file that changes while it is read."""
    before, report = _content_key(root, item), read(root, item)
    return before if before == _content_key(root, item) else None, bytes(Pickler.dumps(report))
