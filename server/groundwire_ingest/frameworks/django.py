"""Django with its REST framework: lists of URL patterns, view sets, the tables of models, and settings."""

import re
from collections.abc import Iterator
from functools import cached_property

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.code_facts import Import
from groundwire_ingest.tree.framework_facts import Mount, Route, TableMapping
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, children_of, first_child, text_of, type_of
from groundwire_ingest.tree.languages.python.conventions import (
    application,
    class_statements,
    class_values,
    keyword,
    mount_at,
    plain_string,
    route_at,
    text,
    variable_around,
    view_path,
)
from groundwire_ingest.tree.languages.python.declarations import is_settings_module
from groundwire_ingest.tree.languages.python.patterns import plain_pattern, regular_pattern
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import head
from groundwire_ingest.tree.names.conventions import NameConventions, SettingsModules
from groundwire_ingest.tree.names.rules import NameRules

_URL_PATTERNS = "urlpatterns"
_LISTING = frozenset({"path", "re_path", "url"})
# The routes of a view set, by method: of the collection, and of one of its items.
_OF_COLLECTION = {"GET": "list", "POST": "create"}
_OF_ITEM = {"GET": "retrieve", "PUT": "update", "PATCH": "partial_update", "DELETE": "destroy"}


def routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Import | Route | Mount]:
    """`path("x/", view)` and `router.register("x", XViewSet)`, and the modules whose patterns are included."""
    for node in nodes["call"]:
        module = _included_module(syntax, node)
        if module:
            # Under a name that no variable has.
            yield Import(module, "", module.replace(".", "/"), node.start_point.row + 1)
        callee = syntax.callee(node)
        if callee is not None and callee[1] in _LISTING and not callee[0]:
            yield from _listed(syntax, node, callee[1], places)
        elif callee is not None and callee[1] == "register" and callee[0]:
            yield from _view_set(syntax, node, callee[0], places)


def _listed(syntax: Syntax, node: Node, name: str, places: Places) -> Iterator[Route | Mount]:
    arguments = arguments_of(node)
    if len(arguments) < 2 or arguments[0].type != "string":
        return
    written, variable = text(syntax, arguments[0]), variable_around(node)
    pattern = plain_pattern(written) if name == "path" else regular_pattern(written)
    included = arguments[1] if arguments[1].type == "call" else None
    if included is not None and syntax.path(included) == ("include()",):
        for router in _included(syntax, included):
            yield mount_at(places, arguments[0], router, pattern, variable, "added")
    else:
        handler = view_path(syntax, arguments[1])
        if handler:
            stated = text(syntax, keyword(node, "name"))
            yield route_at(places, arguments[0], pattern, handler, variable, "", name=stated)


def _included(syntax: Syntax, call: Node) -> Iterator[str]:
    """The paths of the list of patterns that `include` names: by a module's name, as a list, or of a router."""
    module = _included_module(syntax, call)
    if module:
        yield f"{module.replace('.', '/')}.{_URL_PATTERNS}"
        return
    first = next(iter(arguments_of(call)), None)
    path = syntax.value_path(first_child(first) if first is not None and first.type == "tuple" else first)
    if path:
        yield path.removesuffix(".urls")
        yield f"{path}.{_URL_PATTERNS}"


def _view_set(syntax: Syntax, node: Node, router: str, places: Places) -> Iterator[Route]:
    """`router.register("users", UserViewSet)`."""
    arguments = [child for child in arguments_of(node) if child.type != "keyword_argument"]
    handler = syntax.value_path(arguments[1]) if len(arguments) > 1 else ""
    if not handler or arguments[0].type != "string" or not handler.rpartition(".")[2][:1].isupper():
        return
    collection = regular_pattern(text(syntax, arguments[0]))
    item = f"{collection.rstrip('/')}/{{pk}}"
    for pattern, methods in ((collection, _OF_COLLECTION), (item, _OF_ITEM)):
        yield route_at(places, arguments[0], pattern, handler, router, "")
        for method, member in methods.items():
            yield route_at(places, arguments[0], pattern, f"{handler}.{member}", router, method)


def _included_module(syntax: Syntax, call: Node) -> str:
    """`shop.urls` of `include("shop.urls")`, alone or with the name of an application."""
    if syntax.path(call) != ("include()",):
        return ""
    first = next(iter(arguments_of(call)), None)
    first = first_child(first) if first is not None and first.type == "tuple" else first
    module = text(syntax, first)
    return module if all(part.isidentifier() for part in module.split(".")) else ""


CONVENTION = 0.8
"""Django derives the name of a table from the application and the class."""

_FIELD = re.compile(r"models\.(?:\w*Field|ForeignKey)\(\)")


def tables(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`db_table` of `Meta`, else `shop_order` of a model `Order` in the application `shop`."""
    for node in nodes["class_definition"]:
        inner = (child for child in class_statements(node, "class_definition"))
        meta = next((item for item in inner if text_of(item.child_by_field_name("name")) == "Meta"), None)
        options = class_values(meta) if meta is not None else {}
        table, key = plain_string(options.get("db_table")), places.key(node)
        if table:
            yield TableMapping(key, places.scope(node), "", table, 1.0)
        elif text_of(options.get("abstract")) != "True" and application(key):
            arguments = children_of(node.child_by_field_name("superclasses"))
            fields = (".".join(syntax.path(value)) for value in class_values(node).values())
            if any(head(type_of(base)) == "models.Model" for base in arguments) or any(map(_FIELD.fullmatch, fields)):
                name = text_of(node.child_by_field_name("name")).lower()
                yield TableMapping(key, places.scope(node), "", f"{application(key)}_{name}", CONVENTION)


MAX_SETTINGS_FILES = 4
"""A setting that more files than this set, all equally near to the code that reads it, leads to none of them."""


class Settings(SettingsModules):
    """The modules that set what Django reads."""

    def __init__(self, rules: NameRules) -> None:
        self._rules = rules
        self._table = rules.table

    def settings(self, file: int, path: str) -> tuple[int, ...]:
        """The assignments of what is read of the object that Django makes of its settings modules."""
        alias, _, attributes = path.partition(".")
        item, name = self._rules.import_of(file, alias), attributes.partition(".")[0]
        if item is None or (item.module, item.name) != ("django.conf", "settings"):
            return ()
        table, is_test = self._table, self._table.files[file].is_test
        files = (other for other in self._files if is_test or not table.files[other].is_test)
        named = (number for other in files for number in table.members(table.module_of(other), name))
        near = table.nearest(
            file, tuple(candidate for candidate in named if table.definitions[candidate].construct == "value")
        )
        return near if len(near) <= MAX_SETTINGS_FILES else ()

    @cached_property
    def _files(self) -> list[int]:
        """The modules that set what Django reads, those that these take everything from, and those that take theirs."""
        files = range(len(self._table.files))
        taken = {file: set(self._wildcard_files(file)) for file in files}
        settings_files = {
            file for file in files if is_settings_module(item.name for item in self._table.files[file].definitions)
        }
        known: set[int] = set()
        while known != settings_files:
            known = set(settings_files)
            settings_files |= {file for file, sources in taken.items() if not settings_files.isdisjoint(sources)}
            settings_files |= {source for file in settings_files for source in taken[file]}
        return sorted(settings_files)

    def _wildcard_files(self, file: int) -> Iterator[int]:
        """The files that a file imports everything from."""
        wildcards = self._rules.wildcards_of(file)
        for item, source in self._rules.imported(file) if wildcards else ():
            if item in wildcards:
                yield from map(self._table.file_of, source.numbers)


DJANGO = Framework(languages="python", finders=(routes, tables), names=NameConventions(settings=Settings))
