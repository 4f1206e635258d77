"""Ruby: modules and classes, which may be opened again, with their methods."""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_ruby
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Construct, Import, Parameter, Trait
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.nodes import FIRST, Nodes, children_of, field_of, line_of, text_of
from groundwire_ingest.tree.languages.ruby.ruby_bindings import ruby_bindings, ruby_calls, ruby_references
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Shape, Syntax
from groundwire_ingest.tree.languages.types import type_text

_TYPES = frozenset({"class", "module"})
_OPTIONAL = frozenset({"optional_parameter", "splat_parameter", "hash_splat_parameter", "block_parameter"})
_TYPE_MAKERS = frozenset({"Struct.new()", "Class.new()", "Module.new()", "Data.define()"})
_INCLUDING = frozenset({"include", "extend", "prepend"})


class RubySyntax(Syntax):
    """Ruby up to version 3, as far as the grammar goes. `class A::B` is a class `B` of `A`."""

    kind = "rb"
    language = "ruby"
    grammar = Language(tree_sitter_ruby.language())
    declarations: ClassVar[Mapping[str, Construct]] = {
        "class": "type",
        "module": "type",
        "assignment": "type",
        "method": "callable",
        "singleton_method": "callable",
    }
    transparent = frozenset(
        """singleton_class body_statement call argument_list do_block block block_body if unless then else begin
        program""".split()
    )
    leading = frozenset({"comment"})
    headers = frozenset[str]()
    constructors = frozenset({"initialize"})
    assignments = frozenset({"assignment"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {
        "call": ("receiver", "method"),
        "scope_resolution": ("scope", "name"),
    }
    words = frozenset({"identifier", "constant", "self", "super", "instance_variable", "class_variable"})
    unwrapped = frozenset({"parenthesized_statements"})
    subscripts: ClassVar[Mapping[str, str]] = {"element_reference": FIRST}
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {"assignment": (("left",), ("right",))}
    calls: ClassVar[Mapping[str, CallForm]] = {"call": CallForm("", "arguments")}
    strings = frozenset({"string"})
    raw = re.compile("'")

    def shape(self, node: Node) -> Shape | None:
        """Types and methods; also `Name = Struct.new(...) do` and the like."""
        construct = self.declarations.get(node.type)
        if construct is None:
            return None
        if node.type == "assignment":
            return self._made_type(node)
        name = text_of(node, "name").replace("::", ".").lstrip(".")
        body = node.child_by_field_name("body")
        if construct == "callable":
            return Shape(name, "callable", body or node) if name else None
        owner, _, last = name.rpartition(".")
        return Shape(last, "type", body, body, owner) if last else None

    def _made_type(self, node: Node) -> Shape | None:
        name, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if name is None or name.type != "constant" or ".".join(self.path(value)) not in _TYPE_MAKERS:
            return None
        block = field_of(value, "block")
        return Shape(text_of(name), "type", block, block)

    def bases(self, node: Node) -> tuple[str, ...]:
        """The superclass, and the modules that are included or extended."""
        named = [field_of(node, "superclass", FIRST)]
        for child in children_of(node, "body"):
            if child.type == "call" and text_of(child, "method") in _INCLUDING:
                listed = children_of(child, "arguments")
                named += [item for item in listed if item.type in ("constant", "scope_resolution")]
        return tuple(filter(None, (type_text(text_of(item)) for item in named)))

    def parameters(self, node: Node) -> tuple[Parameter, ...] | None:
        """The parameters of a method; None for a type."""
        is_method = node.type in ("method", "singleton_method")
        return tuple(map(self.parameter, children_of(node, "parameters"))) if is_method else None

    def parameter(self, node: Node) -> Parameter:
        """One parameter; what takes any number of arguments, or a block, is optional."""
        name = text_of(node.child_by_field_name("name") or node)
        return Parameter(name, "", node.type in _OPTIONAL or node.child_by_field_name("value") is not None)

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """Methods of the class itself are static; types may be opened again."""
        if node.type in _TYPES:
            return frozenset({"partial"})
        around = node.parent.parent if node.parent is not None else None
        is_static = node.type == "singleton_method" or (around is not None and around.type == "singleton_class")
        return frozenset({"static"}) if is_static else frozenset()

    def is_slight(self, node: Node, shape: Shape) -> bool:
        """Also a method without statements."""
        return shape.body is not None and (shape.body == node or super().is_slight(node, shape))

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """`require` by its name, `require_relative` as a path that starts with a dot."""
        for node in nodes["call"]:
            method = text_of(node, "method")
            value = field_of(node, "arguments", FIRST)
            if method in ("require", "require_relative") and value is not None and value.type == "string":
                path = string_value(self, value)
                module = f"./{path}" if method == "require_relative" else path
                if path and "#{" not in path:
                    yield Import(module, "", "", line_of(node))

    bindings = ruby_bindings

    implied_calls = ruby_calls
    references = ruby_references
