"""Python: modules with their variables, classes, functions and what is declared inside of these."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import ClassVar

import tree_sitter_python
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Construct, Import
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    LAST,
    Nodes,
    children_of,
    first_child,
    line_of,
    text_of,
    type_of,
)
from groundwire_ingest.tree.languages.python.declarations import (
    decorators,
    is_settings_module,
    is_shared_variable,
    module_variable,
    parameters_of,
    result_of,
    traits_of,
)
from groundwire_ingest.tree.languages.python.python_bindings import python_bindings, value_of
from groundwire_ingest.tree.languages.python.references import python_calls, python_references
from groundwire_ingest.tree.languages.python.written_fields import python_fields
from groundwire_ingest.tree.languages.syntax import Shape, Syntax
from groundwire_ingest.tree.languages.types import arguments, head

_GENERIC = frozenset({"Generic", "Protocol"})


class PythonSyntax(Syntax):
    """Python 3, and Python 2 as far as the grammar allows."""

    kind = "py"
    language = "python"
    grammar = Language(tree_sitter_python.language())
    declarations: ClassVar[Mapping[str, Construct]] = {"class_definition": "type", "function_definition": "callable"}
    transparent = frozenset(
        """decorated_definition if_statement elif_clause else_clause try_statement except_clause
        except_group_clause finally_clause with_statement for_statement while_statement match_statement
        case_clause block""".split()
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
    subscripts: ClassVar[Mapping[str, str]] = {"subscript": "value"}
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {"assignment": (("left",), ("right",))}
    calls: ClassVar[Mapping[str, CallForm]] = {"call": CallForm("function", "arguments")}
    strings = frozenset({"string"})
    raw = re.compile("[rR]")

    def shape(self, node: Node) -> Shape | None:
        """Classes, functions, and the variables of the module; overloads that only state types are no declarations."""
        if node.type == "expression_statement":
            name = module_variable(self, node)
            return Shape(name, "value", None) if name else None
        construct = self.declarations.get(node.type)
        name = text_of(node, "name")
        is_overload = construct == "callable" and "overload" in decorators(self, node)
        if construct is None or not name or is_overload:
            return None
        body = node.child_by_field_name("body")
        return Shape(name, construct, body, body)

    def module_symbol(self, path: str) -> str:
        """The path with dots, a package being named by its folder."""
        parts = PurePosixPath(path).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)

    def documentation(self, nodes: Nodes) -> frozenset[int]:
        """Strings that are statements of their own."""
        statements = (first_child(node) for node in nodes["expression_statement"])
        strings = [node for node in statements if node and node.type in ("string", "concatenated_string")]
        return frozenset(part.start_byte for node in strings for part in (node, *node.children))

    def bases(self, node: Node) -> tuple[str, ...]:
        """The base classes; keywords such as `metaclass` are none."""
        named = children_of(node, "superclasses")
        return tuple(filter(None, (type_of(child) for child in named if child.type != "keyword_argument")))

    def type_parameters(self, node: Node) -> tuple[str, ...]:
        """Those behind the name of a class, or of `Generic` among its bases."""
        stated = tuple(name for name, _ in _type_parameters(node))
        generic = (base for base in self.bases(node) if head(base).rpartition(".")[2] in _GENERIC)
        return stated or next(map(arguments, generic), ())

    def type_bounds(self, node: Node) -> tuple[tuple[str, str], ...]:
        """Those behind the name of a class or function."""
        return tuple((name, bound) for name, bound in _type_parameters(node) if bound)

    parameters = parameters_of
    result = result_of
    traits = traits_of

    def shared_variables(self, root: Node, variables: Sequence[tuple[Node, str]]) -> frozenset[int]:
        """Also settings: what is written in capitals in a settings module."""
        shared = super().shared_variables(root, variables)
        if not is_settings_module(name for _, name in variables):
            return shared
        return shared | {node.start_byte for node, name in variables if name.isupper()}

    is_shared = is_shared_variable

    def is_slight(self, node: Node, shape: Shape) -> bool:
        """Also a class that consists of assignments, such as `Meta` and `Config`."""
        if shape.construct == "type" and shape.body is not None:
            return all(child.type == "expression_statement" or child.is_extra for child in shape.body.named_children)
        return super().is_slight(node, shape)

    def read_callee(self, node: Node) -> tuple[str, str] | None:
        """None for a decorator, which is a reference of its own kind."""
        return None if node.parent is not None and node.parent.type == "decorator" else super().read_callee(node)

    def argument(self, node: Node) -> str:
        """One argument; the keyword before it is left out."""
        value = node.child_by_field_name("value") if node.type == "keyword_argument" else node
        return '"' if value is not None and value.type in self.strings else self.value_path(value)

    value_path = value_of

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """`import`, `from ... import` and wildcard imports, anywhere in the file."""
        for node in nodes["import_statement"]:
            for child in node.children_by_field_name("name"):
                yield from _plain_import(child, line_of(node))
        for node in nodes["import_from_statement"]:
            line = line_of(node)
            module = text_of(node, "module_name").replace(" ", "")
            for child in node.children_by_field_name("name"):
                name = text_of(child, "name") or text_of(child)
                yield Import(module, name, text_of(child, "alias") or name, line)
            if any(child.type == "wildcard_import" for child in node.named_children):
                yield Import(module, "*", "", line)

    bindings = python_bindings

    implied_calls = python_calls
    references = python_references
    written_fields = python_fields


def _type_parameters(node: Node) -> Iterator[tuple[str, str]]:
    """The type parameters behind a name, each with its bound, which may be empty."""
    for child in children_of(node, "type_parameters"):
        inner = first_child(child)
        if inner is not None and inner.type == "constrained_type":
            yield text_of(inner, FIRST), type_of(inner, LAST)
        else:
            yield text_of(inner or child), ""


def _plain_import(node: Node, line: int) -> Iterator[Import]:
    """`import a.b as c` binds c to a.b; `import a.b` imports a.b but binds a."""
    alias = text_of(node, "alias")
    module = text_of(node, "name") or text_of(node)
    if alias or "." not in module:
        yield Import(module, "", alias or module, line)
    else:
        yield Import(module, "", "", line)
        first = module.partition(".")[0]
        yield Import(first, "", first, line)
