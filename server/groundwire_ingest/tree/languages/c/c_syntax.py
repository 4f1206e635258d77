"""C: types, functions with the declarations of headers, and macros that take arguments."""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_c
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Construct, Import, Parameter, Trait
from groundwire_ingest.tree.languages.c.c_bindings import c_bindings, c_references
from groundwire_ingest.tree.languages.c.declarators import dotted_name, function_of, name_of, written_type
from groundwire_ingest.tree.languages.c.written_fields import c_fields
from groundwire_ingest.tree.languages.conditionals import one_branch
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    Nodes,
    child_of,
    field_of,
    has_child,
    line_of,
    text_of,
    type_of,
)
from groundwire_ingest.tree.languages.syntax import Shape, Syntax

_PARAMETERS = frozenset({"parameter_declaration", "optional_parameter_declaration"})
_OTHER_BODIES = ("default_method_clause", "delete_method_clause", "try_statement")


class CSyntax(Syntax):
    """C up to the standard of 2023, as far as the grammar goes: macros are not expanded."""

    kind = "c"
    language = "c"
    grammar = Language(tree_sitter_c.language())
    declarations: ClassVar[Mapping[str, Construct]] = {
        **dict.fromkeys(("struct_specifier", "union_specifier", "enum_specifier", "type_definition"), "type"),
        **dict.fromkeys(
            ("function_definition", "declaration", "field_declaration", "preproc_function_def"), "callable"
        ),
    }
    transparent = frozenset(
        "preproc_if preproc_ifdef preproc_elif preproc_elifdef preproc_else linkage_specification declaration_list"
        " declaration field_declaration".split()
    )
    leading = frozenset({"comment"})
    headers = frozenset({"preproc_include"})
    directive = "#"
    members: ClassVar[Mapping[str, tuple[str, str]]] = {"field_expression": ("argument", "field")}
    words = frozenset({"identifier", "type_identifier", "namespace_identifier", "this", "field_identifier"})
    unwrapped = frozenset({"parenthesized_expression", "pointer_expression"})
    subscripts: ClassVar[Mapping[str, str]] = {"subscript_expression": FIRST}
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
        "assignment_expression": (("left",), ("right",))
    }
    calls: ClassVar[Mapping[str, CallForm]] = {"call_expression": CallForm("function", "arguments")}
    strings = frozenset({"string_literal", "concatenated_string"})

    def __init__(self) -> None:
        super().__init__()
        self._made_functions: dict[int, str] = {}

    def prepared(self, source: bytes) -> bytes:
        """The source with blanks for macros that hide declarations, and for branches that are no whole statements."""
        patterns = (_LINKAGE, _EXPORT, _IN_FRONT, _ALONE, *[_BEFORE_TYPE] * _MAX_SPECIFIERS, _BEFORE_NAME)
        for pattern in patterns:
            source = pattern.sub(_blanked, source)
        return self._with_made_functions(one_branch(source))

    def _with_made_functions(self, source: bytes) -> bytes:
        """The source with functions that macros make as functions: `TEST name( x) {` in place of `TEST(name, x) {`.

        The grammar of C takes them for a call and a block; that of C++ reads them as they are.
        """

        def rewritten(match: re.Match[bytes]) -> bytes:
            written = source[match.start(1) : match.end(2) + 1].decode(errors="replace")
            self._made_functions[match.start()] = " ".join(written.split())
            name, comma, others = match[2].partition(b",")
            inside = b" " + name + b"(" + others if comma else b"(" + name
            return source[match.start() : match.end(1)] + inside + source[match.end(2) : match.end()]

        return _MADE_FUNCTION.sub(rewritten, source) if self.language == "c" else source

    def begin_file(self) -> None:
        """Also forgets the functions that macros make in the file before."""
        super().begin_file()
        self._made_functions.clear()

    def shape(self, node: Node) -> Shape | None:
        """Types with a body, functions with or without one, and macros that take arguments."""
        if node.type not in self.declarations:
            return None
        if node.type == "preproc_function_def":
            return super().shape(node)
        if self.declarations[node.type] == "callable":
            return self._function(node)
        described = node.child_by_field_name("type") if node.type == "type_definition" else node
        body = field_of(described, "body")
        named = node.child_by_field_name("declarator" if node.type == "type_definition" else "name")
        owner, _, name = dotted_name(named).rpartition(".")
        return Shape(name, "type", body, body, owner) if body is not None and name else None

    def _function(self, node: Node) -> Shape | None:
        made = self._made_functions.get(node.start_byte) if node.type == "function_definition" else None
        if made is not None:
            return Shape(made, "callable", node.child_by_field_name("body"))
        function = function_of(node)
        if function is None:
            return None
        owner, _, name = dotted_name(name_of(function)).rpartition(".")
        if node.type == "function_definition" and node.child_by_field_name("type") is None and name.isupper():
            # A macro that makes a function, such as TEST(Suite, Case) { ... }.
            name = " ".join(text_of(function).split())
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        return Shape(name, "callable", body, owner=owner) if name else None

    def generated_names(self, node: Node) -> tuple[str, ...]:
        """The tag of a structure that `typedef` gives another name."""
        if node.type != "type_definition":
            return ()
        tag = text_of(node, "type", "name")
        return (tag,) if tag and tag != text_of(node, "declarator") else ()

    def parameters(self, node: Node) -> tuple[Parameter, ...] | None:
        """The parameters of a function; none for `(void)`, and not known of one that a macro makes."""
        if node.start_byte in self._made_functions:
            return None
        function = function_of(node) if self.declarations[node.type] == "callable" else None
        listed = field_of(function, "parameters")
        if listed is None:
            return None
        parameters = [self.parameter(child) for child in listed.named_children if child.type in _PARAMETERS]
        return (
            ()
            if len(parameters) == 1 and not parameters[0].name and parameters[0].type_name == "void"
            else tuple(parameters)
        )

    def parameter(self, node: Node) -> Parameter:
        """One parameter; it is optional when it has a value."""
        name = text_of(name_of(node.child_by_field_name("declarator")))
        return Parameter(name, written_type(node), node.child_by_field_name("default_value") is not None)

    def result(self, node: Node) -> str:
        """The type that a function returns, before its name or behind its parameters."""
        behind = child_of(function_of(node), "trailing_return_type")
        return type_of(behind, FIRST) if behind is not None else written_type(node)

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """The flags of a function: `static`, and a body elsewhere."""
        if self.declarations[node.type] != "callable" or node.type == "preproc_function_def":
            return frozenset()
        kinds = {text_of(child) for child in node.children if child.type == "storage_class_specifier"}
        traits: set[Trait] = {"static"} if "static" in kinds else set()
        if has_child(field_of(function_of(node), "parameters"), "variadic_parameter"):
            traits.add("variadic")
        # A defaulted or deleted function has its body in place, too.
        body = node.child_by_field_name("body") or child_of(node, *_OTHER_BODIES)
        if node.type != "function_definition" or body is None:
            traits.add("declared")
        return frozenset(traits)

    def segment(self, node: Node | None) -> str:
        """Names with dots between their parts and without the arguments of templates."""
        return dotted_name(node)

    def constructed(self, target: Node | None) -> str:
        """The class that is named after `new`."""
        return dotted_name(target)

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """The paths that are included."""
        for node in nodes["preproc_include"]:
            path = text_of(node, "path")
            if path[:1] in ('"', "<"):
                yield Import(path[1:-1], "", "", line_of(node))

    bindings = c_bindings
    written_fields = c_fields
    references = c_references

    def is_slight(self, node: Node, shape: Shape) -> bool:
        """Only members: a function of C is worth a node however short it is."""
        return shape.construct == "callable" and super().is_slight(node, shape)


# A macro between `class` and the name.
_EXPORT = re.compile(
    rb"\b(?:class|struct|union)[ \t]+([A-Z][A-Z0-9_]+(?:\([^()\n]{0,100}\))?)[ \t]+(?=[A-Za-z_]\w*\s*(?:final\s*)?[:{])"
)
# A macro in front of the type of a function.
_IN_FRONT = re.compile(
    rb"^[ \t]*(?:extern[ \t]+|static[ \t]+)?([A-Z][A-Z0-9]*_[A-Z0-9_]+(?:\([^()\n]{0,100}\))?)[ \t]+"
    rb"(?=(?:const[ \t]+|struct[ \t]+|unsigned[ \t]+|inline[ \t]+){0,3}"
    rb"[A-Za-z_][\w:<>]{0,100}[ \t*&]+[A-Za-z_]\w{0,100}[ \t]*\()",
    re.MULTILINE,
)
# A macro such as __printf(1, 2) among the specifiers of a function, with the type and the name behind it; one a time.
_BEFORE_TYPE = re.compile(
    rb"^(?:(?:static|extern|inline|const|volatile)[ \t]+){0,4}"
    rb"(__(?!attribute__|declspec)[a-z]\w*(?:\([^()\n]{0,100}\))?)"
    rb"[ \t]+(?=[A-Za-z_]\w{0,100}(?:[ \t]+[A-Za-z_]\w{0,100}){0,4}[ \t*]+[A-Za-z_]\w{0,100}[ \t]*\()",
    re.MULTILINE,
)
# A macro such as __init between the type and the name of a function.
_BEFORE_NAME = re.compile(
    rb"^(?:(?:static|extern|inline|const|volatile|struct|unsigned)[ \t]+){0,4}(?!static\b|extern\b|inline\b|const\b)"
    rb"[A-Za-z_]\w{0,100}[ \t*]+(__[a-z]\w*)[ \t]+(?=[A-Za-z_]\w{0,100}[ \t]*\()",
    re.MULTILINE,
)
_MAX_SPECIFIERS = 3
# A macro that makes a function, such as SYSCALL_DEFINE1(close, int, fd), by its name and its arguments.
_MADE_FUNCTION = re.compile(
    rb"^(?:static[ \t]+)?([A-Z][A-Z0-9_]+)\(([A-Za-z_]\w*[^(){};#=]{0,300})\)\s{0,20}(?=\{)", re.MULTILINE
)
# A macro by itself where a declaration could be, and without a block.
_ALONE = re.compile(
    rb"(?:\A|[;{}:][ \t]*\r?\n|^[ \t]*\r?\n)[ \t]*([A-Z][A-Z0-9_]{2,}(?:\([^()\n]{0,100}\))?)[ \t]*\r?$(?!\n[ \t]*\{)",
    re.MULTILINE,
)
# `extern "C" {` and its end where only a compiler of C++ sees them: the braces are in branches of their own.
_LINKAGE = re.compile(
    rb"^[ \t]*#[ \t]*if(?:def[ \t]+|[ \t]+defined[ \t]*+(?:\([ \t]*+)?)__cplusplus[^\n]*\n"
    rb"((?:[ \t]*+(?:extern[ \t]+\"C\"[ \t]*+\{?|\{|\})?[ \t]*+(?:/[/*][^\n]*+)?\r?\n)++)[ \t]*#[ \t]*e(?:ndif|lse)",
    re.MULTILINE,
)
_TEXT = re.compile(rb"[^\r\n]")


def _blanked(match: re.Match[bytes]) -> bytes:
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    return match[0][:start] + _TEXT.sub(b" ", match[1]) + match[0][end:]
