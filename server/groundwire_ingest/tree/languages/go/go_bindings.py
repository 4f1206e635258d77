"""The variables of Go code and what their values are."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import RETURNED, Binding, StatedImplementation
from groundwire_ingest.tree.languages.go.types import SPECS, go_type
from groundwire_ingest.tree.languages.nodes import FIRST, LAST, Nodes, children_of, field_of, first_child, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_TYPE_MAKERS = frozenset({"make", "new"})
_LISTS = frozenset({"var_declaration", "const_declaration", "var_spec_list"})


def go_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Receivers, parameters, fields and variables, also of loops, channels and type switches."""
    for node in nodes.of("parameter_declaration", "variadic_parameter_declaration"):
        yield from _parameters(node, places)
    for node in nodes["type_spec"]:
        yield from _fields(node, places)
    yield from _variables(syntax, nodes, places)
    for node in nodes.of("short_var_declaration", "receive_statement"):
        names, values = node.child_by_field_name("left"), node.child_by_field_name("right")
        listed = values.named_children if values is not None and values.type == "expression_list" else [values]
        yield from _paired(syntax, places.scope(node), children_of(names), listed)
    for node in nodes["range_clause"]:
        yield from _ranged(syntax, node, places)
    for node in nodes["type_switch_statement"]:
        yield from _switched(node, places)
    for node in nodes.of("function_declaration", "method_declaration"):
        yield from _returned(node, places)


def _parameters(node: Node, places: Places) -> Iterator[Binding]:
    written = go_type(node.child_by_field_name("type"))
    type_name = f"Array<{written}>" if node.type == "variadic_parameter_declaration" and written else written
    for name in node.children_by_field_name("name"):
        yield Binding(places.scope(node), text_of(name), type_name, bool(type_name))


def _fields(spec: Node, places: Places) -> Iterator[Binding]:
    """The fields of a struct outside of functions; what is embedded is a field that has the name of its type."""
    scope, declared = places.type_scope(spec), spec.child_by_field_name("type")
    if not scope or scope != places.scope(spec) or declared is None or declared.type != "struct_type":
        return
    for field in children_of(declared, FIRST):
        stated = go_type(field.child_by_field_name("type"))
        names = [text_of(name) for name in field.children_by_field_name("name")]
        for name in names or [stated.partition("<")[0].rpartition(".")[2]]:
            if stated and name:
                yield Binding(scope, name, stated, True)


def _variables(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Variables and constants; those of the package belong to the file, whether or not they are a node."""
    of_package = frozenset(spec.start_byte for root in nodes["source_file"] for spec in package_specs(root))
    for node in nodes.of("var_spec", "const_spec"):
        scope = 0 if node.start_byte in of_package else places.scope(node)
        stated, values = go_type(node.child_by_field_name("type")), node.child_by_field_name("value")
        names = [name for name in node.children_by_field_name("name") if name.is_named]
        if stated:
            yield from (Binding(scope, text_of(name), stated, True) for name in names)
        else:
            yield from _paired(syntax, scope, names, children_of(values))


def package_specs(root: Node) -> Iterator[Node]:
    """The variables and constants that a file declares outside of functions."""
    pending = [child for child in root.named_children if child.type in _LISTS]
    while pending:
        for child in pending.pop().named_children:
            if child.type in SPECS:
                yield child
            elif child.type in _LISTS:
                pending.append(child)


def go_implementations(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[StatedImplementation]:
    """`var _ Store = (*FileStore)(nil)`, `var _ Store = &FileStore{}`, `var _ Store = new(FileStore)`."""
    for node in nodes["var_spec"]:
        names, values = node.children_by_field_name("name"), children_of(node, "value")
        interface = go_type(node.child_by_field_name("type"))
        if interface and [text_of(name) for name in names if name.is_named] == ["_"] and len(values) == 1:
            made = made_type(values[0]) or converted_type(values[0])
            if made:
                yield StatedImplementation(places.scope(node), interface, made)


def converted_type(value: Node) -> str:
    """`FileStore` of the conversion `(*FileStore)(nil)`; empty for any other expression."""
    function = value.child_by_field_name("function") if value.type == "call_expression" else None
    inner = first_child(function) if function is not None and function.type == "parenthesized_expression" else None
    is_pointer = inner is not None and inner.type == "unary_expression" and text_of(inner, "operator") == "*"
    return "".join(text_of(inner, "operand").split()) if is_pointer else ""


def _paired(syntax: Syntax, scope: int, names: Sequence[Node], values: Sequence[Node | None]) -> Iterator[Binding]:
    """Names with their values; of one value with several results the first is what is known of it."""
    for number, node in enumerate(names):
        name = text_of(node)
        if name and name != "_" and node.type == "identifier":
            yield _binding(syntax, scope, name, values[number] if number < len(values) else None)


def _binding(syntax: Syntax, scope: int, name: str, value: Node | None) -> Binding:
    """A variable by what it is set to; with neither type nor path where the value is unknown."""
    made = made_type(value)
    if made or value is None:
        return Binding(scope, name, made, False)
    is_received = value.type == "unary_expression" and text_of(value, "operator") == "<-"
    if value.type == "call_expression" and text_of(value, "function") == "append":
        return Binding(scope, name, "", False, syntax.value_path(first_child(value, "arguments")))
    return Binding(scope, name, "", False, syntax.value_path(value), is_received)


def made_type(value: Node | None) -> str:
    """The type of `T{}`, `&T{}`, `make(T)`, `new(T)`, `x.(T)` and of conversions to a type that is no plain name."""
    if value is not None and value.type == "unary_expression":
        value = value.child_by_field_name("operand")
    if value is None:
        return ""
    if value.type in ("composite_literal", "type_assertion_expression", "type_conversion_expression"):
        return go_type(value.child_by_field_name("type"))
    if value.type == "call_expression" and text_of(value, "function") in _TYPE_MAKERS:
        return go_type(first_child(value, "arguments"))
    return ""


def _ranged(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """The last variable of `k, v := range x` is an item of `x`; a single one is that only where `x` is a channel."""
    value, last = node.child_by_field_name("right"), "".join(map(text_of, children_of(node, "left")[-1:]))
    made = made_type(value)
    if last not in ("", "_"):
        yield Binding(places.scope(node), last, made, False, "" if made else syntax.value_path(value), True)


def _switched(node: Node, places: Places) -> Iterator[Binding]:
    """The variable of a type switch, whose type is known where a single case has just one type."""
    alias = first_child(node, "alias")
    cases = [case for case in node.named_children if case.type == "type_case"]
    types = [written for case in cases for written in case.children_by_field_name("type") if written.is_named]
    if alias is not None:
        stated = go_type(types[0]) if len(types) == 1 else ""
        yield Binding(places.scope(node), text_of(alias), stated, False)


def _returned(node: Node, places: Places) -> Iterator[Binding]:
    """The variable that a function ends with returning."""
    last = field_of(node, "body", LAST, LAST)
    value = field_of(last, FIRST, FIRST) if last is not None and last.type == "return_statement" else None
    if value is not None and value.type == "identifier":
        yield Binding(places.scope(node), RETURNED, "", False, text_of(value))
