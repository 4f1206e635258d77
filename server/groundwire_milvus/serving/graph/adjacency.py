"""The edges of rows, read from Milvus a whole level at a time and remembered for as long as a walk lasts.

The edges of a row in one direction, called a near end, are stored in chunks. The first chunk of every near end is read
at once. Further chunks of a hub are read only when needed, eight times as many each time. Every edge is stored with
both its ends: from a great hub to few rows edges are read with the few rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from groundwire_milvus.packing import EDGE, EDGES_A_CHUNK, INCOMING, OUTGOING, chunk_key, near_keys, unpacked_edges
from groundwire_milvus.store import MilvusStore
from groundwire_server.domain.graph.expansion import Direction

CHUNKS_AT_A_TIME = 2_048
"""How many chunks one request asks for: less than the 100 MB that Milvus answers with."""
_GROWTH = 8
_SIDES = {Direction.OUTGOING: (OUTGOING,), Direction.INCOMING: (INCOMING,), Direction.BOTH: (OUTGOING, INCOMING)}


def near_ends(rows: Sequence[int], direction: Direction) -> list[int]:
    """The near ends of rows [m] in a direction, which are [m] or, for both, [2 m]: all outgoing ones come first."""
    return _nears(rows, _SIDES[direction])


def _nears(rows: Sequence[int], sides: Sequence[int]) -> list[int]:
    numbers = np.asarray(rows, dtype=np.int64)
    return [near for side in sides for near in near_keys(numbers, side).tolist()]


@dataclass(slots=True)
class _Chunks:
    """The edges read of a near end; the flag is set when all are read."""

    read: list[NDArray[np.void]] = field(default_factory=list)
    is_whole: bool = False

    def missing(self) -> range:
        """The numbers of the chunks to read next."""
        count = len(self.read)
        return range(count, max(1, _GROWTH * count))

    def extend(self, wanted: int, chunks: Sequence[NDArray[np.void]]) -> None:
        """Records the result of a request for a number of chunks."""
        self.is_whole = len(chunks) < wanted or len(chunks[-1]) < EDGES_A_CHUNK
        self.read += chunks


class Adjacency:
    """The edges of one index version."""

    def __init__(self, store: MilvusStore, collection: str) -> None:
        self._store = store
        self._collection = collection
        self._chunks: dict[int, _Chunks] = {}

    def begin(self, nears: Iterable[int]) -> None:
        """Reads the first edges of those near ends that have none read yet: one round trip, or none."""
        self._read([near for near in nears if near not in self._chunks])

    def go_on(self, nears: Iterable[int]) -> None:
        """Reads more edges of those near ends that are not complete: one round trip, or none."""
        self._read(self.unfinished(nears))

    def finish(self, nears: Sequence[int]) -> None:
        """Reads all edges of near ends: one round trip, and one to four more where hubs are among them."""
        self.begin(nears)
        while self.unfinished(nears):
            self.go_on(nears)

    def unfinished(self, nears: Iterable[int]) -> list[int]:
        """Those of some near ends with edges read that may have more."""
        return [near for near in nears if not self._chunks[near].is_whole]

    def edges_of(self, nears: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """The edges read of near ends, one end after the other: for each edge the place of its end, and the edge."""
        read = [self._chunks[near].read for near in nears]
        counts = [sum(map(len, chunks)) for chunks in read]
        edges = [np.empty(0, dtype=EDGE), *(chunk for chunks in read for chunk in chunks)]
        return np.repeat(np.arange(len(nears)), counts), np.concatenate(edges)

    def between(self, nears: Sequence[int], chosen: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """All edges of near ends that lead to chosen rows, as `edges_of` but in no order and some of them twice.

        One round trip, and up to two more where hubs are among them that were not read whole; more between hubs. The
        `far_class` of the edges is undefined.
        """
        self.begin(nears)
        self.go_on(near for near in nears if len(self._chunks[near].read) == 1)
        hubs = self.unfinished(nears)
        fars = _nears(chosen, sorted({1 - near % 2 for near in hubs}))
        self.begin(fars)
        if self.unfinished(fars):
            self.finish(hubs)
            hubs = []
        places, edges = self.edges_of(nears)
        kept = np.isin(edges["far"], chosen)
        if not hubs:
            return places[kept], edges[kept]
        place_of = {near: place for place, near in enumerate(nears)}
        hub_places, turned = self._turned(hubs, fars)
        hub_places = np.asarray([place_of[near] for near in hubs]).take(hub_places)
        return np.concatenate((places[kept], hub_places)), np.concatenate((edges[kept], turned))

    def known(self) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """All edges that were read, and the near end of each; [e]. One that was read from both its ends is twice."""
        nears = list(self._chunks)
        places, edges = self.edges_of(nears)
        return np.asarray(nears, dtype=np.int64).take(places), edges

    def _turned(self, hubs: Sequence[int], fars: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """The edges between hubs and the near ends of other rows, as seen from the hubs; each with its hub's place."""
        places, edges = self.edges_of(fars)
        ends = np.asarray(fars, dtype=np.int64).take(places)
        nears, order = edges["far"] * 2 + (1 - ends % 2), np.argsort(hubs)
        hub_places = order.take(np.searchsorted(hubs, nears, sorter=order), mode="clip")
        kept = np.asarray(hubs, dtype=np.int64).take(hub_places) == nears
        turned = edges[kept]
        turned["far"] = ends[kept] // 2
        return hub_places[kept], turned

    def _read(self, nears: Sequence[int]) -> None:
        known = {near: self._chunks.get(near) or _Chunks() for near in nears}
        wanted = {near: chunks.missing() for near, chunks in known.items()}
        keys = [chunk_key(near, chunk) for near, chunks in wanted.items() for chunk in chunks]
        contents: dict[int, str] = {}
        for first in range(0, len(keys), CHUNKS_AT_A_TIME):
            some = keys[first : first + CHUNKS_AT_A_TIME]
            chunk_rows = self._store.by_keys(self._collection, some, ["content"])
            contents.update(zip(chunk_rows.integers("key").tolist(), chunk_rows.strings("content"), strict=True))
        for near, chunks in wanted.items():
            held = [contents[key] for chunk in chunks if (key := chunk_key(near, chunk)) in contents]
            known[near].extend(len(chunks), list(map(unpacked_edges, held)))
        self._chunks |= known
