"""Python: modules, classes with their attributes, functions; SQLAlchemy and Django tables."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import ClassVar

import tree_sitter_python
from tree_sitter import Language, Node

from groundwire_server.ingest.tree.facts import Binding, Construct, Import, TableMapping
from groundwire_server.ingest.tree.languages.syntax import CallForm, Nodes, Places, Syntax, first_child, text_of

# The name that a type annotation starts with, whether quoted or wrapped in `Optional[...]` and the like.
_ANNOTATION = re.compile(
    r"""["']?(?:(?:typing\.|t\.)?(?:Optional|Annotated|Final|ClassVar)\[\s*["']?)?([^\W\d]\w*(?:\.[^\W\d]\w*)*)"""
)
_PLAIN_STRING = re.compile(r"""[rRuU]?(["'])([^"'\\]+)\1""")
_SCHEMA = re.compile(r"""["']schema["']\s*:\s*["']([^"']+)["']""")
_SELF = frozenset({"self", "cls"})


class PythonSyntax(Syntax):
    """Python 3, and Python 2 as far as the grammar admits it."""

    kind = "py"
    language = "python"
    grammar = Language(tree_sitter_python.language())
    declarations: ClassVar[Mapping[str, Construct]] = {"class_definition": "type", "function_definition": "callable"}
    transparent = frozenset(
        {
            "decorated_definition",
            "if_statement",
            "elif_clause",
            "else_clause",
            "try_statement",
            "except_clause",
            "except_group_clause",
            "finally_clause",
            "with_statement",
            "for_statement",
            "while_statement",
            "match_statement",
            "case_clause",
            "block",
        }
    )
    wrappers = frozenset({"decorated_definition"})
    leading = frozenset({"comment", "decorator"})
    headers = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
    elided = " ..."
    constructors = frozenset({"__init__"})
    assignments = frozenset({"expression_statement"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {"attribute": ("object", "attribute")}
    words = frozenset({"identifier"})
    unwrapped = frozenset({"parenthesized_expression", "await"})
    calls: ClassVar[Mapping[str, CallForm]] = {"call": CallForm("function", "arguments")}
    strings = frozenset({"string"})
    facts = frozenset(
        {
            "import_statement",
            "import_from_statement",
            "assignment",
            "typed_parameter",
            "typed_default_parameter",
            "as_pattern",
            "class_definition",
            "expression_statement",
        }
    )

    def module_symbol(self, path: str) -> str:
        """The path with dots, a package being named by its folder."""
        parts = PurePosixPath(path).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)

    def documentation(self, nodes: Nodes) -> frozenset[int]:
        """Strings that are statements of their own."""
        statements = (first_child(node) for node in nodes["expression_statement"])
        strings = [node for node in statements if node and node.type in ("string", "concatenated_string")]
        return frozenset(part.start_byte for node in strings for part in (node, *node.children))

    def is_raw(self, prefix: str, quote: str) -> bool:
        """Strings with the prefix `r`."""
        return "r" in prefix.lower()

    def bases(self, node: Node) -> tuple[str, ...]:
        """The base classes; keywords such as `metaclass` are none."""
        arguments = node.child_by_field_name("superclasses")
        listed = arguments.named_children if arguments else []
        names = (_annotated(child) for child in listed if child.type != "keyword_argument")
        return tuple(name for name in names if name)

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """`import`, `from ... import` and wildcard imports, wherever in the file they stand."""
        for node in nodes["import_statement"]:
            for child in node.children_by_field_name("name"):
                yield from _plain_import(child, node.start_point.row + 1)
        for node in nodes["import_from_statement"]:
            line = node.start_point.row + 1
            module = text_of(node.child_by_field_name("module_name")).replace(" ", "")
            for child in node.children_by_field_name("name"):
                name = text_of(child.child_by_field_name("name")) or text_of(child)
                yield Import(module, name, text_of(child.child_by_field_name("alias")) or name, line)
            if any(child.type == "wildcard_import" for child in node.named_children):
                yield Import(module, "*", "", line)

    def bindings(self, nodes: Nodes, places: Places) -> Iterator[Binding]:
        """Annotated parameters and variables, and those set to a call, attributes of `self` included."""
        parameters: dict[tuple[int, str], str] = {}
        for node in (*nodes["typed_parameter"], *nodes["typed_default_parameter"]):
            name = text_of(node.child_by_field_name("name") or first_child(node))
            stated = _annotated(node.child_by_field_name("type"))
            if stated:
                parameters.setdefault((places.scope(node), name), stated)
                yield Binding(places.scope(node), name, stated, True)
        for node in nodes["assignment"]:
            yield from self._assigned(node, places, parameters)
        for node in nodes["as_pattern"]:
            made, name = self._constructed(first_child(node)), text_of(node.child_by_field_name("alias"))
            if made and name.isidentifier():
                yield Binding(places.scope(node), name, made, False)

    def _assigned(self, node: Node, places: Places, parameters: Mapping[tuple[int, str], str]) -> Iterator[Binding]:
        """`x = Foo()`, `x: Foo`, and the same for `self.x`, to which a typed parameter may be assigned as well."""
        value = node.child_by_field_name("right")
        stated = _annotated(node.child_by_field_name("type"))
        stated = stated or parameters.get((places.scope(node), text_of(value)), "")
        type_name = stated or self._constructed(value)
        path = self.path(node.child_by_field_name("left")) if type_name else ()
        if len(path) == 1:
            yield Binding(places.scope(node), path[0], type_name, bool(stated))
        elif len(path) == 2 and path[0] in _SELF:
            yield Binding(places.type_scope(node), path[1], type_name, bool(stated))

    def _constructed(self, value: Node | None) -> str:
        """The dotted name of what `Foo(...)` calls, which name resolution finds to be a type or not."""
        if value is None or value.type != "call":
            return ""
        name = ".".join(self.path(value.child_by_field_name("function")))
        return "" if "(" in name else name

    def mappings(self, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
        """`__tablename__` of SQLAlchemy, with its schema, and `db_table` of Django's `Meta`."""
        for node in nodes["class_definition"]:
            values = _class_values(node)
            table = _plain_string(values.get("__tablename__"))
            schema = _SCHEMA.search(text_of(values.get("__table_args__")))
            if table:
                table = f"{schema[1]}.{table}" if schema else table
            for inner in _statements(node, "class_definition"):
                if text_of(inner.child_by_field_name("name")) == "Meta":
                    table = table or _plain_string(_class_values(inner).get("db_table"))
            if table:
                yield TableMapping(places.key(node), places.scope(node), "", table, 1.0)


def _plain_import(node: Node, line: int) -> Iterator[Import]:
    """`import a.b as c` binds c to a.b; `import a.b` imports a.b but binds a."""
    alias = text_of(node.child_by_field_name("alias"))
    module = text_of(node.child_by_field_name("name")) or text_of(node)
    if alias or "." not in module:
        yield Import(module, "", alias or module, line)
    else:
        yield Import(module, "", "", line)
        first = module.partition(".")[0]
        yield Import(first, "", first, line)


def _annotated(node: Node | None) -> str:
    match = _ANNOTATION.match(text_of(node))
    return match[1] if match else ""


def _statements(class_node: Node, statement_type: str) -> Iterator[Node]:
    body = class_node.child_by_field_name("body")
    return (child for child in (body.named_children if body else ()) if child.type == statement_type)


def _class_values(class_node: Node) -> dict[str, Node | None]:
    """The values of the plain assignments in a class body, by name."""
    assignments = (first_child(child) for child in _statements(class_node, "expression_statement"))
    return {
        text_of(node.child_by_field_name("left")): node.child_by_field_name("right")
        for node in assignments
        if node is not None and node.type == "assignment"
    }


def _plain_string(node: Node | None) -> str:
    match = _PLAIN_STRING.fullmatch(text_of(node))
    return match[2] if match else ""
