"""From URLs that code asks for to what answers them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from posixpath import dirname, join, normpath

from groundwire_index.repository_edges.confidences import GUESSED, INFERRED, MAX_FAN_OUT, WILDCARD
from groundwire_index.repository_edges.nearest import nearest

REQUESTS = "Requests"
MAX_SEGMENTS = 12
"""Patterns and URLs of more segments than this are not matched."""
MAX_ALIKE = 500
"""A URL that more nodes answer than this is taken to ask for none of them."""
MAX_SHOWN = 8
"""A page that is shown at more URLs than this counts as shown at the first ones."""

# The files in which the name of a route is no more than that: nothing in it is an application or a blueprint.
_WITH_WHOLE_NAMES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".vue", ".svelte", ".php")
_HOLE, _REST = "{}", "{*}"
_API = re.compile(r"api|rest|v\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Request:
    """A string that looks like the path of a URL, without its query; parts inserted at run time are `{}`.

    `url` starts with `/`. In a page it may also be relative to the page's own URL, which is meant by an empty one.
    `has_base`: an unknown value precedes it; in a page that value is the `{}` at the start, unless the URL is relative.
    `method` is the HTTP method in capitals, empty if unknown. `is_sent`: the string is an argument of a call whose name
    says that it requests URLs, such as `get`, `fetch` or `visit`. `is_name`: it is the name of a route instead,
    `order`, `shop:order` or `shop.order`. `service` is the name of the only service that may answer, empty for any.
    """

    from_key: str
    url: str
    line: int
    method: str = ""
    is_sent: bool = False
    has_base: bool = False
    is_name: bool = False
    service: str = ""


@dataclass(frozen=True, slots=True)
class Served:
    """A complete pattern of URLs and the node that answers it; `from_key` is the node that says so.

    `method` is that of HTTP in capitals, empty for any. `within` is the key of the only test or file of tests that it
    is served in; empty for all others. `name` is what requests may name it by, without what is before it.
    `is_open`: the router may be mounted at a place that the tree does not show, so that the pattern may lack its start.
    `router_key` is the node of the variable of the same file that holds the router; empty for one without a node.
    """

    pattern: str
    method: str
    handler_key: str
    from_key: str
    path: str
    line: int
    is_test: bool
    confidence: float
    within: str
    name: str
    is_open: bool
    router_key: str = ""


@dataclass(frozen=True, slots=True)
class Asker:
    """The file that requests are in."""

    path: str
    is_test: bool


class RequestMatching:
    """Matches URLs against all routes of a tree, in any language."""

    def __init__(self, served: Iterable[Served], services: Mapping[str, str]) -> None:
        self._folders: defaultdict[str, list[str]] = defaultdict(list)
        for folder, name in services.items():
            self._folders[name].append(f"{folder}/" if folder else "")
        self._served: defaultdict[tuple[str, ...], list[Served]] = defaultdict(list)
        self._own: defaultdict[tuple[str, tuple[str, ...]], list[Served]] = defaultdict(list)
        self._beginnings: set[tuple[str, ...]] = {()}
        self._endings: defaultdict[tuple[str, ...], list[Served]] = defaultdict(list)
        self._named: defaultdict[str, list[Served]] = defaultdict(list)
        self._shown: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for item in served:
            self._shown[item.handler_key][item.pattern] = None
            self._named[item.name].append(item)
            segments = _segments(item.pattern)
            pattern = tuple(
                segment if "{" not in segment else _REST if segment.endswith("*}") else _HOLE for segment in segments
            )
            if len(pattern) <= MAX_SEGMENTS:
                self._served[pattern].append(item)
                self._own[item.from_key, pattern].append(item)
                self._beginnings.update(pattern[:length] for length in range(len(pattern) + 1))
                for start in range(1, len(pattern)):
                    self._endings[pattern[start:]].append(item)

    def answers(self, asker: Asker, request: Request) -> list[tuple[str, float]]:
        """The handlers of a request, each with the confidence: .9 where a call sends it, .8 for a string alone.

        Where several handlers are equally likely, MAX_FAN_OUT at most, each has a confidence of .5.
        """
        routes, confidence = self._answering(asker, request)
        # Of several that would answer those nearest to the file, and those that state the method.
        near = list(nearest(asker.path, sorted(routes, key=attrgetter("path")), attrgetter("path")))
        likely = [item for item in near if item.method and item.method == request.method] or near
        keys = {item.handler_key for item in likely}
        if len(keys) > MAX_FAN_OUT:
            return []
        sure = confidence if len(keys) == 1 else GUESSED
        return [(item.handler_key, min(sure, item.confidence)) for item in likely]

    def absolute(self, asker: Asker, requests: Iterable[Request], rendered_by: Iterable[str]) -> Iterator[Request]:
        """The requests of a page that code renders; what is relative is so to each URL where the page may be shown."""
        shown = list(dict.fromkeys(url for key in rendered_by for url in self._shown.get(key, ())))[:MAX_SHOWN]
        for request in requests:
            is_relative = not request.url.startswith("/") and not request.is_name
            below = (normpath(join(dirname(base), request.url)) if request.url else base for base in shown)
            urls = below if is_relative else (request.url,)
            possible_requests = [replace(request, url=url) for url in dict.fromkeys(urls)]
            if request.has_base and not any(self._answering(asker, item)[0] for item in possible_requests):
                possible_requests = [replace(request, url=request.url.removeprefix(_HOLE))]
            yield from possible_requests

    def _answering(self, asker: Asker, request: Request) -> tuple[list[Served], float]:
        """The handlers of a request, by the most specific pattern that fits, and their confidence.

        Routes that the node itself serves come first. A pattern without fixed parts fits too much to be sure, unless a
        file next to the request's or below it has it.
        """
        if request.is_name:
            return self._by_name(asker, request)
        segments = tuple(_HOLE if "{" in segment else segment for segment in _segments(request.url))
        is_telling = any(segment != _HOLE for segment in segments)
        if len(segments) > MAX_SEGMENTS or not (is_telling or (request.is_sent and not segments)):
            return [], GUESSED
        for start in range(_prefix_length(segments) + 1 if request.is_sent else 1):
            routes, sure = self._by_pattern(asker, request, segments[start:])
            if routes:
                return routes, sure if not start else min(sure, INFERRED)
        endings = self._endings.get(segments, []) if request.is_sent and segments else []
        return self._reachable(asker, request, endings), INFERRED if request.has_base else GUESSED

    def _by_name(self, asker: Asker, request: Request) -> tuple[list[Served], float]:
        """The handlers of the routes of a name; a class instead of the members that it answers by.

        An application or a blueprint before the name is usually a folder or a file. Otherwise the only handler of the
        name is a guess.
        """
        is_whole = request.url in self._named or asker.path.endswith(_WITH_WHOLE_NAMES)
        *before, name = [request.url] if is_whole else re.split(r"[.:]", request.url)
        routes = self._reachable(asker, request, self._named.get(name, ()))
        if asker.path.endswith(_WITH_WHOLE_NAMES):
            # Python names routes by their handlers, and only for itself.
            routes = [item for item in routes if not item.path.endswith(".py")]
        whole = {(item.path, item.line) for item in routes if not item.method}
        routes = [item for item in routes if not item.method or (item.path, item.line) not in whole]
        inside = [item for item in routes if not before or before[-1] in re.split(r"[/.]", item.path)]
        is_only = len({item.handler_key for item in routes}) == 1
        return (inside, WILDCARD) if inside else (routes if is_only else [], GUESSED)

    def _by_pattern(self, asker: Asker, request: Request, segments: Sequence[str]) -> tuple[list[Served], float]:
        """The handlers with a pattern that the segments fit, and their confidence."""
        patterns = self._fitting(segments)
        own_routes = next(filter(None, (self._own.get((request.from_key, pattern)) for pattern in patterns)), None)
        confidence = (GUESSED if request.has_base else INFERRED) if not request.is_sent else WILDCARD
        if own_routes:
            return own_routes, confidence
        top, _, rest = asker.path.partition("/")
        for pattern in patterns:
            fitting = self._reachable(asker, request, self._served[pattern])
            if pattern and all(part in (_HOLE, _REST) for part in pattern):
                # Any string of as many parts fits: only what a call sends to a router that is mounted nowhere else.
                fitting = [item for item in fitting if request.is_sent and not item.is_open]
            is_near = bool(rest) and all(item.path.startswith(f"{top}/") for item in fitting)
            is_sure = not pattern or any(part not in (_HOLE, _REST) for part in pattern) or is_near
            if fitting:
                return fitting, confidence if is_sure else GUESSED
        return [], GUESSED

    def _fitting(self, segments: Sequence[str]) -> list[tuple[str, ...]]:
        """The patterns that a URL fits, those first that say more of it from the left; none that every URL fits."""
        open_ends: list[tuple[str, ...]] = [()]
        patterns: list[tuple[str, ...]] = []
        for segment in segments:
            patterns.extend((*known, _REST) for known in open_ends if known)
            longer = [(*known, part) for known in open_ends for part in dict.fromkeys((segment, _HOLE))]
            open_ends = [pattern for pattern in longer if pattern in self._beginnings]
        patterns.extend((*known, _REST) for known in open_ends if known)
        return sorted(
            (pattern for pattern in (*open_ends, *patterns) if pattern in self._served),
            key=lambda pattern: [(part == _REST, part == _HOLE) for part in pattern],
        )

    def _reachable(self, asker: Asker, request: Request, served: Sequence[Served]) -> list[Served]:
        """Those that answer the method of a request and that its file may reach; none of more than MAX_ALIKE.

        Routes that tests serve count only for tests: a route inside a test for that test, and a route in a helper for
        the same file.
        """
        served = [item for item in served if self._is_of(request.service, item.path)] if request.service else served
        if len(served) > MAX_ALIKE:
            return []
        of_method = [item for item in served if not request.method or item.method in ("", request.method)]
        seen = [item for item in of_method if asker.is_test or not item.is_test]
        key = request.from_key
        # In the file or declaration itself, or inside of it.
        return [
            item
            for item in seen
            if item.within in ("", key) or key.startswith(tuple(item.within + end for end in ".#@"))
        ]

    def _is_of(self, service: str, path: str) -> bool:
        """True if a file belongs to a service: below the folder that has this name, or that gives itself the name."""
        folders = self._folders.get(service, ())
        return any(map(path.startswith, folders)) or f"/{service}/" in f"/{path}"


def _segments(url: str) -> list[str]:
    return [segment for segment in url.split("/") if segment]


def _prefix_length(segments: Sequence[str]) -> int:
    """How many segments at the start of a URL say no more than that it is one of an API: `/api/v1`.

    Servers often get such a prefix at a place of its own, or from a proxy before them.
    """
    return next((at for at, segment in enumerate(segments) if not _API.fullmatch(segment)), len(segments))
