"""The keys of a tree's configuration files, and which of equal ones a file of code reads."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from pathlib import PurePosixPath

from groundwire_index.repository_edges.nearest import nearest
from groundwire_ingest.frameworks.registry import SERVICE_NAMES
from groundwire_ingest.tree.files.facts_about_code import Setting
from groundwire_ingest.tree.folders import folder_of, folders_above

BETWEEN = "\0"
"""Stands between the names in a key."""
CONNECTIONS = "connectionstrings"

_SOURCES = "/src/"

Holder = tuple[str, str]
"""The path of a file and the node in it that has a key."""


class SettingKeys:
    """The nodes that hold each key. Keys are in small letters, their names from the top down."""

    def __init__(self) -> None:
        self._holders: defaultdict[str, dict[Holder, None]] = defaultdict(dict)
        self._sections: defaultdict[str, dict[Holder, None]] = defaultdict(dict)
        self._services: dict[str, str] = {}

    def add(self, path: str, settings: Iterable[Setting], keys: Sequence[str]) -> None:
        """Adds the settings of a file; `keys` is the key of the node at each line."""
        for setting in settings:
            node = keys[setting.line - 1]
            if not node:
                continue
            names = [name.lower() for name in setting.path]
            self._holders[joined(names)][path, node] = None
            for length in range(2, len(names)):
                self._sections[joined(names[:length])][path, node] = None
            if names[0] == CONNECTIONS and len(names) == 2:
                self._holders[names[1]][path, node] = None
            if ".".join(names) in SERVICE_NAMES and setting.value:
                self._services.setdefault(_module_of(path), setting.value.strip("\"' "))

    @property
    def services(self) -> dict[str, str]:
        """The names that services give themselves, by the folders of their modules."""
        return self._services

    def __contains__(self, key: str) -> bool:
        return key in self._holders or key in self._sections

    def is_setting(self, key: str) -> bool:
        """True if a file gives the key a value."""
        return key in self._holders

    def holders(self, path: str, key: str, is_test: Callable[[str], bool]) -> Sequence[Holder]:
        """The nodes with a key, or with keys below it, that the code at a path reads.

        Those of tests count only for tests. Then come those in a file that is named as the service of the code, and
        those of the nearest files, which share the most folders with the code's.
        """
        known = self._holders.get(key) or self._sections.get(key, {})
        holders = sorted(holder for holder in known if is_test(path) or not is_test(holder[0])) or sorted(known)
        service = next((self._services[above] for above in folders_above(path) if above in self._services), "")
        of_service = [item for item in holders if service and PurePosixPath(item[0]).stem == service]
        return of_service or nearest(path, holders, itemgetter(0))


def joined(names: Iterable[str]) -> str:
    """A key by its names."""
    return BETWEEN.join(names)


def _module_of(path: str) -> str:
    """The folder of the module that a configuration file belongs to."""
    before, sources, _ = path.rpartition(_SOURCES)
    if sources:
        return before
    return "" if path.startswith(_SOURCES[1:]) else folder_of(path)
