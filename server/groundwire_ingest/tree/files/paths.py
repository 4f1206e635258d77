"""From a path as a file writes it to a file of the tree."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.files.reading import PathReference
from groundwire_ingest.tree.folders import folder_of, folders_above

RELATIVE_CONFIDENCE = 1.0
FOLDER_CONFIDENCE = 0.9
SUFFIX_CONFIDENCE = 0.8
AMBIGUOUS_CONFIDENCE = 0.5
MAX_AMBIGUOUS = 3
MAX_PATH_CHARACTERS = 500
MAX_LEVELS = 16

_NO_FILE = re.compile(r"[a-z][a-z0-9+.-]*:|//|[^?#]*[*<>{}|\"\n\0]|[^?#]*\$\(", re.IGNORECASE)
_RESOURCE_FOLDERS = (
    *("templates", "views", "Views", "Views/Shared", "Pages", "Pages/Shared", "Shared", "layouts", "partials"),
    *("static", "public", "wwwroot", "assets", "resources", "src/main/resources", "src/main/resources/templates"),
    *("resources/views", "src", "app", "app/views", "proto", "protos", "Proto", "Protos"),
)


class TreePaths:
    """The files of a tree, to be found by what other files call them.

    Paths are relative to the tree with forward slashes.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in sorted(self._paths):
            self._by_name[path.rpartition("/")[2].lower()].append(path)

    def find(self, path: str, written: str) -> tuple[tuple[str, float], ...]:
        """The files that `written` may mean in the file `path`, each with a confidence; none where it is no path.

        RELATIVE_CONFIDENCE: it is relative to the file's folder. FOLDER_CONFIDENCE: it is relative to the nearest
        folder above that has it, or to one of the folders where projects keep templates, static files and the like.
        SUFFIX_CONFIDENCE: just one file of the tree ends so, whatever the case. AMBIGUOUS_CONFIDENCE: up to
        MAX_AMBIGUOUS files do. Back slashes count as slashes; a query and a fragment are left out. URLs, patterns and
        what is longer than MAX_PATH_CHARACTERS mean no file.
        """
        if len(written) > MAX_PATH_CHARACTERS or _NO_FILE.match(written):
            return ()
        plain = re.split(r"[?#]", written, maxsplit=1)[0].strip().replace("\\", "/")
        is_rooted = plain.startswith(("/", "~/"))
        plain = plain.removeprefix("~").lstrip("/")
        if plain.rpartition("/")[2].lower() not in self._by_name:
            return ()
        relative = self._existing(folder_of(path), plain)
        if relative is not None and not is_rooted:
            return ((relative, RELATIVE_CONFIDENCE),)
        above = next(self._above(path, plain), None)
        if above is not None:
            return ((above, FOLDER_CONFIDENCE),)
        return self._ending(path, plain)

    def _existing(self, folder: str, plain: str) -> str | None:
        path = posixpath.normpath(posixpath.join(folder, plain))
        return path if path in self._paths else None

    def _above(self, path: str, plain: str) -> Iterator[str]:
        """The path as seen from each folder above, the nearest first, and from the usual folders in it."""
        if plain.startswith(".."):
            return
        for folder in islice(folders_above(path), MAX_LEVELS):
            for inner in ("", *_RESOURCE_FOLDERS):
                existing = self._existing(posixpath.join(folder, inner), plain)
                if existing is not None:
                    yield existing

    def _ending(self, path: str, plain: str) -> tuple[tuple[str, float], ...]:
        """The files whose paths end so, `..` and `.` at the front left out; none by a bare name that is common."""
        parts = [part for part in plain.split("/") if part not in {"", ".", ".."}]
        if not parts:
            return ()
        end = "/" + "/".join(parts).lower()
        named = self._by_name.get(parts[-1].lower(), ())
        alike = [item for item in named if f"/{item.lower()}".endswith(end) and item != path]
        if len(alike) == 1:
            return ((alike[0], SUFFIX_CONFIDENCE),)
        return tuple((item, AMBIGUOUS_CONFIDENCE) for item in alike) if len(alike) <= MAX_AMBIGUOUS else ()


def path_edges(
    references: Iterable[PathReference], keys_of: Mapping[str, Sequence[str]], first_key: Mapping[str, str]
) -> Iterator[SourceEdge]:
    """An edge from the node at a reference's line to the first node of each file that it may mean.

    `first_key` has the first node of each file that has one. `keys_of` has, for each file with references, its nodes
    by line as `FileReading.keys_by_line` gives them.
    """
    paths = TreePaths(first_key)
    for reference in references:
        keys = keys_of[reference.path]
        from_key = keys[reference.line - 1] or first_key[reference.path]
        existing = next(filter(None, (paths.find(reference.path, item) for item in reference.written)), ())
        for path, confidence in existing:
            if first_key[path] != from_key:
                origin = f"{reference.path}:{reference.line}"
                yield SourceEdge(from_key, first_key[path], reference.edge_type, origin, confidence, reference.line)
