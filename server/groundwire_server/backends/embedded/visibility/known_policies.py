"""Decides whether a version exists for a caller, without opening it."""

import logging
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.nodes.policies import POLICIES_FILE, read_policies
from groundwire_index.store.errors import IndexDamagedError
from groundwire_server.domain.access.access import AccessContext, may_see

_LOG = logging.getLogger(__name__)
MAX_KEPT_CLASSES = 100_000
"""Of all versions together, a version counting as one more; they take about 50 MiB."""

_State: TypeAlias = tuple[int, int, int]


class KnownPolicies:
    """The policy classes of versions, or of what is left of deleted ones: the most recently asked are kept."""

    def __init__(self, most_classes: int = MAX_KEPT_CLASSES) -> None:
        self._most_classes = most_classes
        self._kept: OrderedDict[Path, tuple[_State, tuple[NodeAccess, ...]]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def any_visible(self, directory: Path, access: AccessContext) -> bool:
        """True if the caller may see a node of the version that lies there: every policy class has one.

        False where no policies can be read; the log then says why, unless there are none.
        """
        try:
            return any(may_see(demand, access) for demand in self._of(directory))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, IndexDamagedError) as error:
            _LOG.error("the policies in %s cannot be read: %s", directory, error)
            return False

    def _of(self, directory: Path) -> tuple[NodeAccess, ...]:
        found = (directory / POLICIES_FILE).stat()
        state = found.st_ino, found.st_size, found.st_mtime_ns
        with self._lock:
            kept = self._kept.get(directory)
            if kept is not None and kept[0] == state:
                self._kept.move_to_end(directory)
                return kept[1]
        classes = read_policies(directory)
        with self._lock:
            self._keep(directory, state, classes)
        return classes

    def _keep(self, directory: Path, state: _State, classes: tuple[NodeAccess, ...]) -> None:
        replaced = self._kept.pop(directory, None)
        self._size += 1 + len(classes) - (1 + len(replaced[1]) if replaced else 0)
        self._kept[directory] = state, classes
        while self._size > self._most_classes:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._size -= 1 + len(dropped)
