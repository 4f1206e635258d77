"""Pages: the routers of React, Vue and Angular, and the files of Next.js and SvelteKit."""

import re
from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Mount, Route
from groundwire_ingest.tree.languages.nodes import FIRST, Nodes, around_of, field_of, first_child, line_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.conventions import members_of, route_pattern
from groundwire_ingest.tree.languages.typescript.imports import imported_path
from groundwire_ingest.tree.languages.typescript.shapes import FUNCTIONS
from groundwire_ingest.tree.languages.urls import url_path

# Next.js: `app/users/[id]/route.ts`, `app/users/page.tsx`, `pages/api/users.ts`; SvelteKit: `routes/users/+server.ts`.
_ROOTS = {"route": "app", "page": "app", "+server": "routes"}
_ENDINGS = frozenset({"js", "jsx", "ts", "tsx"})
_VARYING = re.compile(r"\[{1,2}(\.\.\.)?(\w+)(?:=\w+)?\]{1,2}")
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_SHOWN = ("component", "Component", "element", "lazy", "loadComponent", "page")
_MAX_STEPS = 8


def pages(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route | Mount]:
    """Routes that the file's own path makes, then `{ path, component }` and `<Route path element>`."""
    folder = _folder(places.path)
    if folder is not None:
        yield from _by_file(nodes, places, folder)
    yield from _angular(syntax, nodes, places)
    stated = {text_of(node, "name"): text_of(node, "type").strip(": ") for node in nodes["variable_declarator"]}
    for node in nodes["object"]:
        members = members_of(node)
        shown = next((members[name] for name in _SHOWN if name in members), None)
        written = _string(syntax, members.get("path"))
        if shown is not None and written is not None:
            variable = _variable_around(node)
            # In Angular routes may be those of a feature, which is loaded below a path of another file.
            holder = variable if stated.get(variable) in ("Routes", "Route[]") else ""
            for page in _page(syntax, node, "/".join((*_around(syntax, node), written)), shown, places):
                yield replace(page, prefix_of=holder)
    for node in nodes.of("jsx_self_closing_element", "jsx_opening_element"):
        if text_of(node.child_by_field_name("name")).endswith("Route"):
            yield from _element(syntax, node, places)


def _angular(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Mount]:
    """Where Angular loads the routes of a feature: by `loadChildren`, through the modules that import each other."""
    for node in nodes["object"]:
        members = members_of(node)
        loaded, written = members.get("loadChildren"), _string(syntax, members.get("path"))
        name = _loaded(syntax, loaded) if loaded is not None and written is not None else ""
        if name:
            prefix = url_path("/".join((*_around(syntax, node), written or "")))
            yield Mount(places.scope(node), name, route_pattern(prefix), line_of(node), _variable_around(node))
    for node in nodes["decorator"]:
        module = text_of(_decorated(node), "name") if text_of(node, FIRST, "function") == "NgModule" else ""
        for item in _imported_modules(node) if module else ():
            called = item.type == "call_expression" and text_of(item, "function", "property") == "forChild"
            name = text_of(first_child(item, "arguments")) if called else text_of(item)
            if name.isidentifier():
                yield Mount(places.around(node), name, "", line_of(item), module)


def _loaded(syntax: Syntax, value: Node) -> str:
    """The path of what `() => import("./users").then(m => m.ROUTES)` loads; of a module by itself its default."""
    body = value.child_by_field_name("body") if value.type in FUNCTIONS else value
    then = field_of(body, "function")
    if then is None or text_of(then, "property") != "then":
        path = imported_path(body)
        return f"{path}.default" if path else ""
    path = imported_path(then.child_by_field_name("object"))
    chosen = syntax.path(field_of(first_child(body, "arguments"), "body"))
    return f"{path}.{chosen[1]}" if path and len(chosen) == 2 else ""


def _variable_around(node: Node) -> str:
    """The variable whose value a route is in, which is the router that it belongs to."""
    declared = next((item for item in around_of(node) if item.type == "variable_declarator"), None)
    return text_of(declared, "name") if declared is not None else ""


def _decorated(decorator: Node) -> Node | None:
    """The class that a decorator is before."""
    around = decorator.parent
    if around is not None and around.type == "export_statement":
        return around.child_by_field_name("declaration")
    return around if around is not None and around.type == "class_declaration" else None


def _imported_modules(decorator: Node) -> Iterator[Node]:
    """The modules in `imports: [...]` of `@NgModule({...})`."""
    options = first_child(first_child(decorator), "arguments")
    listed = members_of(options).get("imports") if options is not None and options.type == "object" else None
    yield from listed.named_children if listed is not None and listed.type == "array" else ()


def _folder(path: str) -> str | None:
    """Where below `app`, `pages` or `routes` the path of a file that makes a route leads; None for another file."""
    *folders, name = path.split("/")
    stem, _, ending = name.rpartition(".")
    if ending in _ENDINGS:
        numbers = range(len(folders), 0, -1)
        for number in (*numbers[-1:], *numbers):  # the tree's own `app`, else the innermost
            if folders[number - 1] == "pages" and "api" in folders[number : number + 1]:
                return "/".join((*folders[number:], stem))
            if folders[number - 1] == _ROOTS.get(stem):
                return "/".join(folders[number:])
    return None


def _by_file(nodes: Nodes, places: Places, folder: str) -> Iterator[Route]:
    """The exports of a file that are named after methods of HTTP, and its default export."""
    segments = (_segment(part) for part in folder.removesuffix("/index").split("/"))
    pattern = url_path("/".join(segment for segment in segments if segment))
    for node in nodes["export_statement"]:
        line, key = node.start_point.row + 1, places.key(node)
        if any(child.type == "default" for child in node.children):
            yield Route(key, 0, pattern, "default", line)
        declaration = node.child_by_field_name("declaration")
        is_variable = declaration is not None and declaration.type == "lexical_declaration"
        named = first_child(declaration) if is_variable else declaration
        name = text_of(named.child_by_field_name("name")) if named is not None else ""
        if name in _METHODS:
            yield Route(key, 0, pattern, name, line, "", name)


def _segment(part: str) -> str:
    """A folder's name as a part of a pattern; empty for groups and slots, which URLs do not have."""
    if part.startswith(("(", "@")):
        return ""
    return _VARYING.sub(lambda match: f"{{{match[2]}{'*' if match[1] else ''}}}", part)


def _element(syntax: Syntax, node: Node, places: Places) -> Iterator[Route]:
    attributes = [child for child in node.named_children if child.type == "jsx_attribute"]
    values = {text_of(first_child(attribute)): attribute.named_children[-1] for attribute in attributes}
    shown = next((values[name] for name in _SHOWN if name in values), None)
    written = _string(syntax, values["path"]) if "path" in values else None
    if shown is not None and written is not None and written.startswith("/"):
        yield from _page(syntax, node, written, shown, places)


def _page(syntax: Syntax, node: Node, written: str, shown: Node, places: Places) -> Iterator[Route]:
    handler = _shown(syntax, shown)
    if handler:
        line = node.start_point.row + 1
        yield Route(places.key(node), places.scope(node), route_pattern(written), handler, line, "", "GET")


def _shown(syntax: Syntax, value: Node | None) -> str:
    """The path of the component that a value is: by its name, as an element, or as a module that is loaded for it."""
    for _ in range(_MAX_STEPS):
        if value is None:
            return ""
        path = imported_path(value)
        if path:
            return path
        if value.type in ("jsx_self_closing_element", "jsx_opening_element"):
            return ".".join(syntax.path(value.child_by_field_name("name")))
        if value.type in ("jsx_expression", "jsx_element", "parenthesized_expression", "await_expression"):
            value = first_child(value)
        elif value.type in FUNCTIONS:
            value = value.child_by_field_name("body")
        elif value.type == "call_expression":
            function = value.child_by_field_name("function")
            chosen = _loaded(syntax, value) if text_of(function, "property") == "then" else ""
            if chosen:
                return chosen
            arguments = value.child_by_field_name("arguments")
            before = field_of(function, "object")
            value = before or first_child(arguments)
        else:
            return ".".join(syntax.path(value))
    return ""


def _around(syntax: Syntax, node: Node) -> list[str]:
    """The paths of the routes whose children a route is, the outermost first."""
    segments: list[str] = []
    current = node.parent
    for _ in range(_MAX_STEPS):
        pair = current.parent if current is not None and current.type == "array" else None
        current = pair.parent if pair is not None and pair.type == "pair" else None
        if current is None or text_of(field_of(pair, "key")) != "children":
            break
        segments.append(_string(syntax, members_of(current).get("path")) or "")
        current = current.parent
    return segments[::-1]


def _string(syntax: Syntax, value: Node | None) -> str | None:
    if value is not None and value.type == "jsx_expression":
        value = first_child(value)
    return string_value(syntax, value) if value is not None and value.type in syntax.strings else None


REACT = Framework(languages="typescript javascript", finders=(pages,))
