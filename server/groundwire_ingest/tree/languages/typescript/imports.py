"""The imports and exports of TypeScript and JavaScript files, as ES modules and as CommonJS.

An export under another name is an Import of this very file (empty module), so that one look-up serves both.
"""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Import
from groundwire_ingest.tree.languages.nodes import Nodes, child_of, children_of, field_of, first_child, line_of, text_of
from groundwire_ingest.tree.languages.syntax import Syntax

_MAX_WRAPPERS = 8
_DECLARATIONS = frozenset({"lexical_declaration", "variable_declaration", "ambient_declaration"})
_REQUIRING = frozenset({"require", "import"})


def script_imports(syntax: Syntax, nodes: Nodes) -> Iterator[Import]:
    """Imports, re-exports, renamed and default exports, and `require` in all its positions."""
    for node in nodes["import_statement"]:
        yield from _import_statement(node)
    for node in nodes["export_statement"]:
        yield from _export_statement(node)
    for node in nodes["variable_declarator"]:
        yield from _required_variable(node)
    for node in nodes["call_expression"]:
        module = _required(node)
        if module:
            yield Import(module, "", "", line_of(node))
            yield Import(module, "default", imported_path(node), line_of(node))
    for node in nodes["assignment_expression"]:
        yield from _assigned_export(syntax, node)


def _import_statement(node: Node) -> Iterator[Import]:
    clauses = {child.type: child for child in node.named_children}
    required = clauses.get("import_require_clause")
    module, line = _quoted((required or node).child_by_field_name("source")), line_of(node)
    if not module:
        return
    yield Import(module, "", "", line)
    if required is not None:
        yield Import(module, "default", text_of(first_child(required)), line)
    for part in clauses["import_clause"].named_children if "import_clause" in clauses else ():
        if part.type == "identifier":
            yield Import(module, "default", text_of(part), line)
        elif part.type == "namespace_import":
            yield Import(module, "", text_of(first_child(part)), line)
        else:
            yield from _specifiers(part, module, line)


def _export_statement(node: Node) -> Iterator[Import]:
    module, line = _quoted(node.child_by_field_name("source")), line_of(node)
    clauses = {child.type: child for child in node.children}
    if "export_clause" in clauses:
        yield from _specifiers(clauses["export_clause"], module, line)
    elif "namespace_export" in clauses:
        yield Import(module, "", text_of(first_child(clauses["namespace_export"])), line)
    elif module:
        yield Import(module, "*", "", line)
    if "default" in clauses:
        named = field_of(node, "declaration", "name") or _wrapped(node.child_by_field_name("value"))
        if named is not None and named.type in ("identifier", "type_identifier"):
            yield Import("", text_of(named), "default", line)


def is_exported(declarator: Node) -> bool:
    """True if the declaration of a variable says that the file exports it."""
    around = declarator.parent
    while around is not None and around.type in _DECLARATIONS:
        around = around.parent
    return around is not None and around.type == "export_statement"


def exported_names(syntax: Syntax, root: Node) -> Iterator[str]:
    """The names of the file that `export { a, b as c }`, `export default a` and `module.exports = { a }` give away."""
    for statement in root.named_children:
        if statement.type == "export_statement" and statement.child_by_field_name("source") is None:
            yield from (text_of(part, "name") for part in children_of(child_of(statement, "export_clause")))
            yield text_of(_wrapped(statement.child_by_field_name("value")))
        elif statement.type == "expression_statement":
            assignment = first_child(statement)
            path = syntax.path(field_of(assignment, "left"))
            value = field_of(assignment, "right")
            if value is not None and path[:1] in (("module",), ("exports",)):
                yield text_of(value)
                for pair in value.named_children if value.type == "object" else ():
                    yield text_of(pair.child_by_field_name("value") or pair)


def _wrapped(value: Node | None) -> Node | None:
    """`Page` of `Page`, `observer(Page)`, `connect(state)(Page)`."""
    for _ in range(_MAX_WRAPPERS):
        if value is None or value.type != "call_expression":
            return value
        value = first_child(value, "arguments")
    return None


def _specifiers(clause: Node, module: str, line: int) -> Iterator[Import]:
    for part in clause.named_children:
        name = text_of(part, "name")
        alias = text_of(part, "alias") or name
        if name and (module or alias != name):
            yield Import(module, name, alias, line)


def _required_variable(node: Node) -> Iterator[Import]:
    """`const x = require("m")`, `const x = require("m").y`, `const {a, b: c} = require("m")`.

    The first takes what `module.exports` was set to, which is a module's default export.
    """
    value, target = node.child_by_field_name("value"), node.child_by_field_name("name")
    member = "default"
    if value is not None and value.type == "member_expression":
        member, value = text_of(value, "property"), value.child_by_field_name("object")
    module = _required(value)
    if not module or target is None:
        return
    if target.type == "identifier":
        yield Import(module, member, text_of(target), line_of(node))
    for part in target.named_children if target.type == "object_pattern" else ():
        name = text_of(part, "key") or text_of(part)
        yield Import(module, name, text_of(part, "value") or name, line_of(node))


def _assigned_export(syntax: Syntax, node: Node) -> Iterator[Import]:
    """`module.exports = Foo`, `module.exports = {a: b}`, `module.exports = require("m")`, `exports.a = b`."""
    path, value = syntax.path(node.child_by_field_name("left")), node.child_by_field_name("right")
    if value is None or path[:1] not in (("module",), ("exports",)):
        return
    names, line = [name for name in path if name not in ("module", "exports")], line_of(node)
    if value.type == "identifier":
        alias = names[0] if names else "default"
        if alias != text_of(value):
            yield Import("", text_of(value), alias, line)
    elif not names and _required(value):
        yield Import(_required(value), "*", "", line)
    for pair in value.named_children if value.type == "object" and not names else ():
        renamed = pair.child_by_field_name("value") if pair.type == "pair" else None
        if renamed is not None and renamed.type == "identifier":
            yield Import("", text_of(renamed), text_of(pair, "key"), line)


def _required(node: Node | None) -> str:
    """The module of `require("m")` or `import("m")`; empty for any other expression."""
    is_import = node is not None and node.type == "call_expression" and text_of(node, "function") in _REQUIRING
    return _quoted(first_child(node, "arguments")) if is_import else ""


def imported_path(node: Node | None) -> str:
    """The alias under which the file knows what an expression `require("m")` or `import("m")` brings; else empty."""
    module = _required(node)
    return f"import:{module.replace('.', ':')}" if module else ""


def _quoted(node: Node | None) -> str:
    text = text_of(node)
    return text[1:-1] if len(text) > 2 and text[0] in "'\"" else ""
