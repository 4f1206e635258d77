"""Which nodes answer which URLs, prefixes included."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from groundwire_index.repository_edges.confidences import EXACT, MAX_FAN_OUT, WILDCARD
from groundwire_index.repository_edges.requests import Served
from groundwire_ingest.tree.code_facts import RETURNED
from groundwire_ingest.tree.framework_facts import Mount, Route
from groundwire_ingest.tree.languages.urls import url_path
from groundwire_ingest.tree.names.calls import Uses
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.table import Found

MAX_PREFIXES = 8
"""A router that is mounted at more places than this counts as mounted at the first ones."""

_MAX_MOUNT_STEPS = 10
# The path of a callable with the place of what it is handed, or with nothing for what it returns.
_HANDED = re.compile(r"(.+)\((\d{0,3})\)")
# What makes routers that are parts of others.
_PART = re.compile(r"router|blueprint|group|^Routes\b|^Array<Route>", re.IGNORECASE)
_METHODS = frozenset("get post put patch delete head options".split())

Holder = tuple[int, str]
"""Where an object is kept: a definition and the name of a variable in it."""


class Routes:
    """Resolves the routes of one language family."""

    def __init__(self, lookup: Lookup, uses: Uses) -> None:
        self._lookup = lookup
        self._uses = uses
        self._table = lookup.table
        self._known_prefixes: dict[tuple[Holder, int], tuple[str, ...]] = {}
        self._known_open: dict[tuple[Holder, int], bool] = {}
        self._mounts: defaultdict[Holder, list[tuple[int, Mount]]] = defaultdict(list)
        for file, facts in enumerate(self._table.files):
            for mount in facts.mounts:
                scope = self._table.module_of(file) + mount.scope
                holder = self._holder(scope, mount.router)
                if holder is not None:
                    self._mounts[holder].append((scope, mount))

    def served(self, file: int) -> Iterator[Served]:
        """The served routes of a file, one for each prefix and handler.

        Of several routes that differ in their handlers alone the first holds whose handler is found.
        """
        facts = self._table.files[file]
        served_routes: set[Route] = set()
        for route in facts.routes:
            same = replace(route, handler="")
            if same in served_routes:
                continue
            scope = self._table.module_of(file) + route.scope
            around = scope if route.handler else self._table.parent_of(scope)
            within = self._test_around(around) if facts.is_test else ""
            for key, own_name, method, confidence in self._handlers(scope, route):
                served_routes.add(same)
                # Of the frameworks, those of Python name a route by its handler.
                name = route.name or (own_name if facts.language == "python" else "")
                holder = self._holder(scope, route.prefix_of) if route.prefix_of else None
                is_open = holder is not None and self._is_open(holder, _MAX_MOUNT_STEPS)
                router_key = self._router_key(file, holder) if holder is not None else ""
                for prefix in self._prefixes_of(holder, _MAX_MOUNT_STEPS) if holder is not None else ("",):
                    pattern, at = url_path(prefix + route.pattern), (route.from_key, facts.path, route.line)
                    yield Served(
                        pattern, method, key, *at, facts.is_test, confidence, within, name, is_open, router_key
                    )

    def _router_key(self, file: int, holder: Holder) -> str:
        """The key of the variable that holds a router, where that is a node of the file."""
        for number in self._table.members(*holder):
            if self._table.file_of(number) == file and self._table.is_variable_with_node(number):
                return self._table.definitions[number].key
        return ""

    def _handlers(self, scope: int, route: Route) -> Iterator[tuple[str, str, str, float]]:
        """Key, name, method and confidence of each handler; a class answers by its members that are named so."""
        handler = self._uses.value(scope, route.handler) if route.handler else Found((scope,), EXACT)
        numbers = handler.numbers if handler is not None else ()
        confidence = min(handler.confidence if handler is not None else EXACT, WILDCARD)
        for number in numbers if len(numbers) <= MAX_FAN_OUT else ():
            definition = self._table.definitions[number]
            if definition.construct == "module" and not route.handler:
                yield route.from_key, "", route.method, confidence
            is_named = not route.handler or definition.name == route.handler.rpartition(".")[2]
            if definition.construct == "type" and not is_named:
                continue
            if definition.construct == "type":
                yield from self._answering(number, confidence)
            if definition.construct != "module":
                yield definition.key, definition.name, route.method, confidence

    def _test_around(self, scope: int) -> str:
        """The key of the outermost callable around a place when it is a test, of its file when it is a helper."""
        outermost = None
        while scope >= 0:
            definition = self._table.definitions[scope]
            outermost = definition if definition.construct == "callable" else outermost
            scope = self._table.parent_of(scope)
        if outermost is None:
            return ""
        return outermost.key if outermost.name.lower().startswith("test") else outermost.key.partition("#")[0]

    def _answering(self, type_number: int, confidence: float) -> Iterator[tuple[str, str, str, float]]:
        for owner, inherited in self._lookup.lineage(type_number):
            for member in self._table.members_of(owner):
                definition = self._table.definitions[member]
                if definition.construct == "callable" and definition.name.lower() in _METHODS:
                    yield definition.key, definition.name, definition.name.upper(), min(confidence, inherited)

    def _prefixes_of(self, holder: Holder, steps: int) -> tuple[str, ...]:
        """The prefixes under which the routes of an object are found; an empty one where it is mounted nowhere."""
        key = (holder, steps)
        if key not in self._known_prefixes:
            self._known_prefixes[key] = self._find_prefixes(holder, steps)
        return self._known_prefixes[key]

    def _is_open(self, holder: Holder, steps: int) -> bool:
        """True if an object is a router that others mount, and no mount of it leads to one that nothing mounts.

        That is one that a callable takes or returns, or one of a module that is made as a part of others, or such a
        module itself.
        """
        key = (holder, steps)
        if key not in self._known_open:
            self._known_open[key] = self._find_open(holder, steps)
        return self._known_open[key]

    def _find_open(self, holder: Holder, steps: int) -> bool:
        mounts = [item for item in self._mounts.get(holder, []) if item[1].role != "own"]
        if mounts and steps:
            around = [self._holder(scope, mount.within) if mount.within else None for scope, mount in mounts]
            return all(
                mounting is not None and mounting != holder and self._is_open(mounting, steps - 1)
                for mounting in around
            )
        number, name = holder
        binding, returned = self._table.variable(number, name), self._table.variable(number, RETURNED)
        parameters = self._table.definitions[number].parameters or ()
        is_handed = any(parameter.name == name for parameter in parameters)
        is_returned = returned is not None and returned.value == name
        made = f"{binding.type_name} {binding.value}" if binding is not None else ""
        is_kept = self._table.definitions[number].construct != "callable"
        # A type may be a module of routes, which others import or load.
        is_module = any(self._table.is_type(member) for member in self._table.members(number, name))
        return is_handed or is_returned or is_module or (is_kept and _PART.search(made) is not None)

    def _find_prefixes(self, holder: Holder, steps: int) -> tuple[str, ...]:
        mounts = self._mounts.get(holder, []) if steps else []
        own_prefix = "".join(url_path(mount.prefix) for _, mount in mounts if mount.role == "own")
        prefixes: list[str] = []
        for scope, mount in mounts:
            if mount.role != "own" and len(prefixes) < MAX_PREFIXES:
                within = self._holder(scope, mount.within) if mount.within else None
                tail = mount.prefix + (own_prefix if mount.role == "added" else "")
                outer = self._prefixes_of(within, steps - 1) if within not in (None, holder) else ("",)
                prefixes.extend(url_path(before + tail).rstrip("/") for before in outer)
        return tuple(dict.fromkeys(prefixes[:MAX_PREFIXES])) or (own_prefix.rstrip("/"),)

    def _holder(self, scope: int, path: str) -> Holder | None:
        """Where the object that a path leads to is kept: also one that a callable takes or returns."""
        handed = _HANDED.fullmatch(path)
        if handed is not None:
            return self._handed(scope, handed[1], handed[2])
        before, _, name = path.rpartition(".")
        variable = None if before else self._lookup.variable(scope, name)
        if variable is not None:
            return variable[0], name
        numbers = self._uses.numbers(scope, path)
        return (self._table.owner_of(numbers[0]), self._table.definitions[numbers[0]].name) if numbers else None

    def _handed(self, scope: int, path: str, place: str) -> Holder | None:
        """The parameter that a callable keeps what it is handed in, or the variable that it returns."""
        numbers = self._uses.numbers(scope, path)
        if not numbers and "." not in path:
            extension = self._lookup.extensions.fitting(scope, None, path)
            numbers = extension.numbers if extension is not None else ()
        number, *others = numbers or (-1,)
        if others or number < 0 or self._table.definitions[number].construct != "callable":
            return None
        parameters = self._table.definitions[number].parameters or ()
        if place:
            return (number, parameters[int(place)].name) if int(place) < len(parameters) else None
        returned = self._table.variable(number, RETURNED)
        name = returned.value if returned is not None else ""
        variable = self._lookup.variable(number, name) if name.isidentifier() else None
        return (variable[0], name) if variable is not None else None
