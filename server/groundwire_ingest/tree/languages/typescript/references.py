"""The names that TypeScript and JavaScript code uses without calling them."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Reference
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, field_of, first_child, text_of, type_name
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.imports import imported_path, script_imports

# Where a name is declared, imported, or used by what is a call of its own.
_NOT_USES = frozenset(
    """import_specifier import_clause namespace_import export_specifier namespace_export jsx_opening_element
    jsx_closing_element jsx_self_closing_element nested_identifier decorator""".split()
)
_DECLARING = frozenset(
    """class_declaration abstract_class_declaration interface_declaration type_alias_declaration enum_declaration
    type_parameter nested_type_identifier""".split()
)
_HERITAGE = frozenset({"class_heritage", "extends_clause", "implements_clause", "extends_type_clause"})
# The calls of Nest on the classes that a decorator names, before or after the decorated code.
_CALLED_BY_FRAMEWORK = {
    "UseGuards": "canActivate",
    "UseInterceptors": "intercept",
    "UsePipes": "transform",
    "UseFilters": "catch",
}
_NAMING = (
    "variable_declarator",
    "function_declaration",
    "generator_function_declaration",
    "class_declaration",
    "abstract_class_declaration",
    "enum_declaration",
)
_CALLED = {"call_expression": "function", "new_expression": "constructor"}


def script_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then decorators, then modules that are brought in at run time, then values."""
    for node in filter(_is_type_use, nodes.of("type_identifier", "nested_type_identifier")):
        yield from places.reference(node, type_name(node), "type")
    for node in nodes["decorator"]:
        value = first_child(node)
        path = ".".join(syntax.path(field_of(value, "function") or value))
        yield from places.reference(node, path, "decorator")
        member = _CALLED_BY_FRAMEWORK.get(path)
        for argument in arguments_of(value) if member is not None and value is not None else ():
            if argument.type == "identifier":
                yield from places.reference(argument, f"{text_of(argument)}.{member}", "value")
    for node in nodes["call_expression"]:
        yield from places.reference(node, imported_path(node), "value")
    yield from _values(syntax, nodes, places)


def _values(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Names that come from the file's own declarations or imports, and members that are read."""
    # The names that a file imports or declares outside of functions: other files may mean these.
    known = {text_of(node, "name") for node in nodes.of(*_NAMING)}
    known |= {item.alias for item in script_imports(syntax, nodes)}
    for node in nodes.of("identifier", "shorthand_property_identifier"):
        name = text_of(node)
        if name in known and _is_use(node):
            yield from places.reference(node, name, "value")
    for node in nodes["member_expression"]:
        yield from places.reference(node, _member_path(syntax, node), "value")


def _is_type_use(node: Node) -> bool:
    """True if a type is named other than by its declaration and by what derives from it."""
    parent = node.parent
    if parent is None or parent.type in _HERITAGE:
        return False
    if parent.type == "generic_type" and parent.parent is not None and parent.parent.type in _HERITAGE:
        return parent.child_by_field_name("name") != node
    return parent.type not in _DECLARING or parent.child_by_field_name("name") != node


def _is_use(node: Node) -> bool:
    """True if a name is used as a value: it is neither imported nor exported there, nor called."""
    parent = node.parent
    if parent is None or parent.type in _NOT_USES or parent.type in _HERITAGE:
        return False
    field = _CALLED.get(parent.type)
    return field is None or parent.child_by_field_name(field) != node


def _member_path(syntax: Syntax, node: Node) -> str:
    """The path of a member that is read, or of what a method that is called belongs to."""
    parent = node.parent
    if parent is None or parent.type in ("member_expression", "decorator"):
        return ""
    field = _CALLED.get(parent.type)
    if field is not None and parent.child_by_field_name(field) == node:
        owner = node.child_by_field_name("object")
        is_member = owner is not None and owner.type == "member_expression"
        return ".".join(syntax.path(owner)) if is_member else ""
    return ".".join(syntax.path(node))
