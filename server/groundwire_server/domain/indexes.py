"""The facts about an index version that a caller may learn."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from groundwire_index.store.manifest import Manifest

MAX_NAMES = 1_000
"""With more than that of kinds, languages, edge types or folders, the list is empty."""
_FOLDER_NAMES = 2
"""A folder is cut to this many names."""


@dataclass(frozen=True, slots=True)
class IndexNames:
    """The distinct kinds, languages, edge types and folders of what a caller sees of an index, by code points.

    One of them is empty when it would have more than MAX_NAMES. Nodes without a language add none. Folders are cut to
    two names, such as `src/api/`; a file in fewer folders counts as one of them, and is not listed.
    """

    kinds: tuple[str, ...]
    languages: tuple[str, ...]
    edge_types: tuple[str, ...]
    folders: tuple[str, ...]


def few(names: Iterable[str]) -> tuple[str, ...]:
    """Names as IndexNames has them: none if there are more than MAX_NAMES; no further names are then read."""
    first_names = tuple(islice(names, MAX_NAMES + 1))
    return () if len(first_names) > MAX_NAMES else first_names


def top_of(path: str) -> str:
    """The folder of a path, cut to two names, such as `src/api/`; the path itself if it has fewer folders."""
    *folders, _ = path.split("/", _FOLDER_NAMES)
    return "".join(f"{name}/" for name in folders) if len(folders) == _FOLDER_NAMES else path


def is_folder(top: str) -> bool:
    """True if a result of `top_of` is a folder, False if it is a path."""
    return top.count("/") == _FOLDER_NAMES


def folders_of(tops: Iterable[str]) -> tuple[str, ...]:
    """Folders as IndexNames has them, of distinct results of `top_of`."""
    listed = few(tops)
    return tuple(sorted({top[: top.rindex("/") + 1] for top in listed if "/" in top}))


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """An index version as far as a caller may see it: counts are of visible nodes and edges.

    `embedder`, `embedder_fingerprint` are empty and `dimension` is 0 when the index has no such vectors.
    """

    repository: str
    branch: str
    version: str
    active: bool
    created: datetime
    source: str
    node_count: int
    edge_count: int
    embedder: str
    embedder_fingerprint: str
    dimension: int
    lexical: bool
    token_counter: str
    link_template: str

    @classmethod
    def of(cls, manifest: Manifest, *, active: bool, node_count: int, edge_count: int) -> "IndexSummary":
        """The facts of a version's manifest, with the counts for one caller."""
        space = manifest.vector_space
        return cls(
            repository=manifest.repository,
            branch=manifest.branch,
            version=manifest.version,
            active=active,
            created=manifest.created,
            source=manifest.source,
            node_count=node_count,
            edge_count=edge_count,
            embedder=space.embedder if space else "",
            embedder_fingerprint=space.fingerprint if space else "",
            dimension=space.dimension if space else 0,
            lexical=manifest.code is not None,
            token_counter=manifest.token_counter,
            link_template=manifest.link_template,
        )
