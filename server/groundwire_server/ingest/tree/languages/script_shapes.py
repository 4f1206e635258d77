"""What a name in TypeScript or JavaScript stands for by the value it is given."""

from tree_sitter import Node

from groundwire_server.ingest.tree.languages.syntax import Shape, first_child, text_of

CLASS_NODES = frozenset({"class_declaration", "abstract_class_declaration", "class"})

_MIN_VALUE_LINES = 4
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})


def plain_name(text: str) -> str:
    """A name without the quotes it may be written in; empty when white space shows that it is none."""
    name = text.strip("'\"")
    return "" if any(character.isspace() for character in name) else name


def variable_shape(node: Node) -> Shape | None:
    """A variable that is set to a function, a class or an object of functions, or whose value is long."""
    target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if target is None or target.type != "identifier":
        return None
    name = text_of(target)
    shape = shape_of_value(name, value)
    is_import = value is not None and text_of(value.child_by_field_name("function")) == "require"
    if shape is None and not is_import and node.end_point.row - node.start_point.row + 1 >= _MIN_VALUE_LINES:
        return Shape(name, "value", value) if name else None
    return shape


def shape_of_value(name: str, value: Node | None, owner: str = "") -> Shape | None:
    """What a name stands for by its value; None when that is neither a function, a class nor an object of functions.

    A function or object handed to a call, as in `memo(() => ...)` or `defineComponent({...})`, counts as well.
    """
    if value is None or not name:
        return None
    if value.type in _FUNCTIONS:
        return Shape(name, "callable", value.child_by_field_name("body"), owner=owner)
    if value.type in CLASS_NODES:
        body = value.child_by_field_name("body")
        return Shape(name, "type", body, body, owner)
    if value.type == "object" and _holds_functions(value):
        return Shape(name, "type", value, value, owner)
    if value.type == "call_expression":
        arguments = value.child_by_field_name("arguments")
        for argument in arguments.named_children if arguments else ():
            if argument.type in _FUNCTIONS:
                return Shape(name, "value", argument.child_by_field_name("body"), owner=owner)
            if argument.type == "object" and _holds_functions(argument):
                return Shape(name, "type", argument, argument, owner)
    return None


def _holds_functions(node: Node) -> bool:
    """Whether an object has a function as a member, directly or one object further down."""
    return any(_is_function(member) or any(map(_is_function, _members(member))) for member in node.named_children)


def _is_function(member: Node) -> bool:
    value = member.child_by_field_name("value") if member.type == "pair" else None
    return member.type == "method_definition" or (value is not None and value.type in _FUNCTIONS)


def _members(pair: Node) -> list[Node]:
    value = pair.child_by_field_name("value")
    return value.named_children if value is not None and value.type == "object" else []


def value_or_self(node: Node) -> Node:
    """The value that a declaration gives its name, or the declaration itself when it gives none."""
    if node.type == "expression_statement":
        assignment = first_child(node)
        return (assignment.child_by_field_name("right") if assignment else None) or node
    return node.child_by_field_name("value") or node
