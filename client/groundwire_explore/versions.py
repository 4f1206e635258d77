"""Two versions of an index: what differs between them in a folder.

The counts are exact. A folder that was read whole in both versions also has its added, removed and changed nodes.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire_client import AsyncGroundwireClient, IndexScope, IndexVersion, SearchHit, pinned
from groundwire_client.cli import SEPARATOR, scope_name
from groundwire_explore.folders import Folder, read_edges, read_folder
from groundwire_explore.parameters import index_scope


@dataclass(frozen=True, slots=True)
class Counts:
    """How often something is in the old version and in the new one."""

    name: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs.

    Attributes:
        old: The old version.
        new: The new version.
        folder: The folder that was compared; empty for the whole index.
        totals: The nodes of the folder, and the edges inside it where both versions were read whole.
        parts: The nodes of each part of the folder; those that differ come first.
        is_whole: True if `added`, `removed` and `changed` are known.
        added: Nodes that only the new version has.
        removed: Nodes that only the old version has.
        changed: Nodes of both versions whose texts differ, as the new version has them.
    """

    old: IndexVersion
    new: IndexVersion
    folder: str
    totals: tuple[Counts, ...]
    parts: tuple[Counts, ...]
    is_whole: bool
    added: tuple[SearchHit, ...] = ()
    removed: tuple[SearchHit, ...] = ()
    changed: tuple[SearchHit, ...] = ()


async def difference(client: AsyncGroundwireClient, old: IndexScope, new: IndexScope, path: str) -> Difference:
    """Compares two versions in a folder. Raises one of `problems.FAILURES`."""
    described = await asyncio.gather(*(client.get_index(side) for side in (old, new)))
    sides = [pinned(side, description.index.version) for side, description in zip((old, new), described, strict=True)]
    folders = await asyncio.gather(*(read_folder(client, side, path) for side in sides))
    parts = [{part.path: part.nodes for part in folder.parts} for folder in folders]
    is_whole = all(folder.is_whole for folder in folders)
    totals = [Counts("nodes", folders[0].nodes, folders[1].nodes)]
    if is_whole:
        walks = await asyncio.gather(
            *(read_edges(client, side, description) for side, description in zip(sides, folders, strict=True))
        )
        totals.append(Counts("edges", walks[0].total, walks[1].total))
    compared = Difference(described[0].index, described[1].index, path, tuple(totals), _counts(*parts), is_whole)
    return _with_changes(compared, *folders) if is_whole else compared


def _with_changes(compared: Difference, old: Folder, new: Folder) -> Difference:
    # Ids without repository and branch, so that two branches can be compared.
    olds, news = ({hit.id.split(SEPARATOR, 2)[-1]: hit for hit in folder.hits} for folder in (old, new))
    common = olds.keys() & news.keys()
    return replace(
        compared,
        added=_in_order(hit for node, hit in news.items() if node not in common),
        removed=_in_order(hit for node, hit in olds.items() if node not in common),
        changed=_in_order(
            news[node] for node in common if olds[node].location.content_hash != news[node].location.content_hash
        ),
    )


def _in_order(hits: Iterable[SearchHit]) -> tuple[SearchHit, ...]:
    return tuple(sorted(hits, key=lambda hit: (hit.location.path, hit.location.start_line, hit.id)))


def _counts(old: Mapping[str, int], new: Mapping[str, int]) -> tuple[Counts, ...]:
    counts = (Counts(path, old.get(path, 0), new.get(path, 0)) for path in {*old, *new})
    return tuple(sorted(counts, key=lambda count: (-abs(count.new - count.old), count.name)))


def version_before(scope: str, listed: Sequence[IndexVersion]) -> str:
    """The version that was built before the one of a scope; empty where there is none."""
    asked_scope = index_scope(scope) if scope else IndexScope()
    of_branch = [
        version
        for version in listed
        if (version.repository, version.branch) == (asked_scope.repository, asked_scope.branch)
    ]
    of_branch.sort(key=lambda version: (version.create_time.ToNanoseconds(), version.version))
    chosen = [
        version.version == asked_scope.active_index if asked_scope.active_index else version.active
        for version in of_branch
    ]
    place = chosen.index(True) if True in chosen else 0
    others = of_branch[:place][-1:] or of_branch[place + 1 :][:1]
    return scope_name(asked_scope.repository, asked_scope.branch, others[0].version) if others else ""
