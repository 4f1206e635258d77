"""From URLs that code asks for to what answers them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from groundwire_server.ingest.records import SourceEdge
from groundwire_server.ingest.tree.facts import CodeFacts, Request
from groundwire_server.ingest.tree.names.calls import MAX_FAN_OUT
from groundwire_server.ingest.tree.names.edges import FileEdges
from groundwire_server.ingest.tree.names.routes import Served
from groundwire_server.ingest.tree.names.rules import GUESSED, INFERRED, WILDCARD
from groundwire_server.ingest.tree.names.table import common_length

REQUESTS = "Requests"
MAX_SEGMENTS = 12
"""Patterns and URLs of more segments than this are not matched."""
MAX_ALIKE = 500
"""A URL that more nodes answer than this is taken to ask for none of them."""

_HOLE, _REST = "{}", "{*}"
_API = re.compile(r"api|rest|v\d+(?:\.\d+)?")


class RequestMatching:
    """Matches URLs against all that a tree serves, in whatever language."""

    def __init__(self, served: Iterable[Served]) -> None:
        self._served: defaultdict[tuple[str, ...], list[Served]] = defaultdict(list)
        self._own: defaultdict[tuple[str, tuple[str, ...]], list[Served]] = defaultdict(list)
        self._beginnings: set[tuple[str, ...]] = {()}
        self._endings: defaultdict[tuple[str, ...], list[Served]] = defaultdict(list)
        for item in served:
            pattern = tuple(map(_pattern_segment, _segments(item.pattern)))
            if len(pattern) <= MAX_SEGMENTS:
                self._served[pattern].append(item)
                self._own[item.from_key, pattern].append(item)
                self._beginnings.update(pattern[:length] for length in range(len(pattern) + 1))
                for start in range(1, len(pattern)):
                    self._endings[pattern[start:]].append(item)

    def edges(self, facts: CodeFacts) -> Iterator[SourceEdge]:
        """The `Requests` edges of a file: of .9 where a call sends the request, of .8 where the URL stands by itself.

        Where several handlers are equally likely, MAX_FAN_OUT at most, each is told of at .5.
        """
        edges = FileEdges(facts.path)
        for request in facts.requests:
            found, confidence = self._answering(request)
            likely = _likely(facts, request, found)
            keys = {item.handler_key for item in likely}
            if len(keys) <= MAX_FAN_OUT:
                sure = confidence if len(keys) == 1 else GUESSED
                for item in likely:
                    at_most = min(sure, item.confidence)
                    edges.note(request.from_key, item.handler_key, REQUESTS, request.line, at_most)
        yield from edges.sorted()

    def _answering(self, request: Request) -> tuple[list[Served], float]:
        """What answers a request, by the most specific pattern that fits, and how sure that is."""
        segments = tuple(_HOLE if "{" in segment else segment for segment in _segments(request.url))
        is_telling = any(segment != _HOLE for segment in segments)
        if len(segments) > MAX_SEGMENTS or not (is_telling or (request.is_sent and not segments)):
            return [], GUESSED
        for start in range(_prefix_length(segments) + 1):
            for pattern in self._fitting(segments[start:]) if start < len(segments) or not start else ():
                served = self._own.get((request.from_key, pattern)) or self._served[pattern]
                fitting = _of_method(request, served)
                if fitting and (request.is_sent or any(part not in (_HOLE, _REST) for part in pattern)):
                    return fitting, WILDCARD if request.is_sent and not start else INFERRED
        endings = self._endings.get(segments, []) if request.is_sent and segments else []
        return _of_method(request, endings), INFERRED if request.has_base else GUESSED

    def _fitting(self, segments: Sequence[str]) -> list[tuple[str, ...]]:
        """The patterns that a URL fits, those first that say more of it from the left."""
        open_ends: list[tuple[str, ...]] = [()]
        found: list[tuple[str, ...]] = []
        for segment in segments:
            found.extend((*known, _REST) for known in open_ends)
            longer = [(*known, part) for known in open_ends for part in dict.fromkeys((segment, _HOLE))]
            open_ends = [pattern for pattern in longer if pattern in self._beginnings]
        found.extend((*known, _REST) for known in open_ends)
        return sorted(
            (pattern for pattern in (*open_ends, *found) if pattern in self._served),
            key=lambda pattern: [(part == _REST, part == _HOLE) for part in pattern],
        )


def _segments(url: str) -> list[str]:
    return [segment for segment in url.split("/") if segment]


def _prefix_length(segments: Sequence[str]) -> int:
    """How many segments at the start of a URL say no more than that it is one of an API: `/api/v1`.

    Servers often get such a prefix at a place of its own, or from a proxy before them.
    """
    return next((at for at, segment in enumerate(segments) if not _API.fullmatch(segment)), len(segments))


def _pattern_segment(segment: str) -> str:
    if "{" not in segment:
        return segment
    return _REST if segment.endswith("*}") else _HOLE


def _of_method(request: Request, served: Sequence[Served]) -> list[Served]:
    """Those that answer the method of a request; none where more than MAX_ALIKE answer the same URL."""
    if len(served) > MAX_ALIKE:
        return []
    return [item for item in served if not request.method or item.method in ("", request.method)]


def _likely(facts: CodeFacts, request: Request, found: Sequence[Served]) -> list[Served]:
    """Of several that would answer those nearest to the file, and those that state the method.

    What tests serve is for tests alone.
    """
    seen = [item for item in found if facts.is_test or not item.is_test]
    folders = facts.path.split("/")
    shared = [common_length(folders, item.path.split("/")) for item in seen]
    near = [item for item, length in zip(seen, shared, strict=True) if length == max(shared)]
    stating = [item for item in near if item.method and item.method == request.method]
    return stating or near
