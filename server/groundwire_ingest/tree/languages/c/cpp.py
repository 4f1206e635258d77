"""C++: namespaces, classes with their members in and outside of them, and templates."""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_cpp
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Call, Construct, Import, Trait
from groundwire_ingest.tree.languages.c.c_syntax import CSyntax
from groundwire_ingest.tree.languages.c.declarators import declarators, dotted_name, function_of, written_type
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, has_child, last_child, line_of, text_of, type_of
from groundwire_ingest.tree.languages.syntax import Places, Shape

_CPP_ONLY = re.compile(
    r"^[ \t]*(?:class\s+\w|namespace(?:\s+[\w:]+)?\s*\{|template\s*<|using\s+\w|(?:public|private|protected)\s*:)", re.M
)
_BASES = frozenset({"type_identifier", "qualified_identifier", "template_type"})
_PLAIN_CONSTRUCTION = frozenset({"argument_list", "initializer_list"})


class CppSyntax(CSyntax):
    """C++ up to the standard of 2020, as far as the grammar goes: macros are not expanded."""

    kind = "cpp"
    language = "cpp"
    grammar = Language(tree_sitter_cpp.language())
    declarations: ClassVar[Mapping[str, Construct]] = {**CSyntax.declarations, "class_specifier": "type"}
    transparent = CSyntax.transparent | {"template_declaration"}
    wrappers = frozenset({"template_declaration"})
    headers = CSyntax.headers | {"using_declaration"}
    members: ClassVar[Mapping[str, tuple[str, str]]] = {**CSyntax.members, "qualified_identifier": ("scope", "name")}
    unwrapped = CSyntax.unwrapped | {"template_function", "template_type"}
    calls: ClassVar[Mapping[str, CallForm]] = {
        **CSyntax.calls,
        "new_expression": CallForm("type", "arguments", constructs=True),
    }
    strings = CSyntax.strings | {"raw_string_literal"}
    raw = re.compile("R")

    def namespace(self, node: Node) -> str | None:
        """A namespace, which may be one without a name."""
        return dotted_name(node.child_by_field_name("name")) if node.type == "namespace_definition" else None

    def bases(self, node: Node) -> tuple[str, ...]:
        """The classes that a class is derived from."""
        clauses = (child for child in node.named_children if child.type == "base_class_clause")
        named = (child for clause in clauses for child in clause.named_children if child.type in _BASES)
        return tuple(filter(None, map(type_of, named)))

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """Also `override`, `virtual`, and what has no body at all: a pure virtual member, and a class with such."""
        if self.declarations[node.type] == "type":
            is_abstract = any(map(_is_pure, children_of(node, "body")))
            return frozenset({"abstract"}) if is_abstract else frozenset()
        traits: set[Trait] = set(super().traits(node, parent))
        if any(text_of(child) == "override" for child in children_of(function_of(node))):
            traits.add("override")
        if has_child(node, "virtual"):
            traits.add("virtual")
        if _is_pure(node):
            traits.discard("declared")
            traits.add("abstract")
        return frozenset(traits)

    def is_slight(self, node: Node, shape: Shape) -> bool:
        """Also a member that does nothing, or nothing but to set fields before its body."""
        is_empty = shape.construct == "callable" and shape.body is not None and last_child(shape.body) is None
        return is_empty or super().is_slight(node, shape)

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """The includes, and the names and namespaces that are used without their own."""
        yield from super().imports(nodes)
        for node in nodes["using_declaration"]:
            name, line = dotted_name(last_child(node)), line_of(node)
            module, _, last = name.rpartition(".")
            if any(child.type == "namespace" for child in node.children):
                yield Import(name, "*", "", line)
            elif module:
                yield Import(module, last, last, line)

    def implied_calls(self, nodes: Nodes, places: Places) -> Iterator[Call]:
        """`Foo x(1);` and `Foo x{1};` call a constructor."""
        for node in nodes["declaration"]:
            for _, value in declarators(node):
                stated = written_type(node)
                if value is not None and stated and value.type in _PLAIN_CONSTRUCTION:
                    receiver, _, name = stated.partition("<")[0].rpartition(".")
                    arguments = tuple(map(self.argument, value.named_children))
                    yield Call(places.key(node), places.scope(node), receiver, name, line_of(node), True, arguments)


def is_cpp(text: str) -> bool:
    """True if a header has what C does not: classes, namespaces, templates."""
    return _CPP_ONLY.search(text) is not None


def _is_pure(node: Node) -> bool:
    """True if a member is declared with `= 0`."""
    return text_of(node, "default_value") == "0" and function_of(node) is not None
