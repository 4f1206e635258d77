"""The meaning of a name in TypeScript or JavaScript by its value, and functions passed to calls."""

from tree_sitter import Node

from groundwire_ingest.tree.languages.nodes import arguments_of, child_of, children_of, first_child, text_of
from groundwire_ingest.tree.languages.syntax import Shape, Syntax

CLASS_NODES = frozenset({"class_declaration", "abstract_class_declaration", "class"})
FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
HTTP_VERBS = frozenset({"get", "post", "put", "patch", "delete", "del", "head", "options", "all"})

_TESTS = frozenset(
    """describe context suite feature scenario it test specify bench fdescribe xdescribe fit xit
    beforeEach afterEach beforeAll afterAll""".split()
)
_STRINGS = frozenset({"string", "template_string"})
_NAMES = frozenset({"identifier", "member_expression"})
_MAX_NAME_CHARACTERS = 80
# The signs that node ids use to distinguish nodes.
_MARKS = str.maketrans("", "", "#@~")


def plain_name(text: str) -> str:
    """A name without the quotes it may be written in; empty when white space shows that it is none."""
    name = text.strip("'\"")
    return "" if any(character.isspace() for character in name) else name


def variable_shape(node: Node) -> Shape | None:
    """A variable by its value; None for one that an import binds."""
    target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    name = text_of(target)
    if target is None or target.type != "identifier" or not name or is_import(value):
        return None
    return shape_of_value(name, value) or Shape(name, "value", value)


def pattern_shape(node: Node) -> Shape | None:
    """A variable that takes a part of a value; None for one that an import binds."""
    declarator = node.parent
    while declarator is not None and declarator.type != "variable_declarator":
        declarator = declarator.parent
    named = node.child_by_field_name("value") or node.child_by_field_name("left") or node
    if declarator is None or is_import(declarator.child_by_field_name("value")) or named.named_child_count:
        return None
    return Shape(text_of(named), "value", None) if text_of(named) else None


def is_import(value: Node | None) -> bool:
    """True if a value is a module, or a part of one, that `require` or `import` brings."""
    while value is not None and value.type in ("member_expression", "await_expression", "parenthesized_expression"):
        value = first_child(value)
    return text_of(value, "function") in ("require", "import")


def shape_of_value(name: str, value: Node | None, owner: str = "") -> Shape | None:
    """The definition that a value makes; None unless it is a function, a class or an object of functions.

    A function or object handed to a call, as in `memo(() => ...)` or `defineComponent({...})`, counts as well.
    """
    while value is not None and value.type in ("as_expression", "satisfies_expression", "parenthesized_expression"):
        value = first_child(value)
    if value is None or not name:
        return None
    if value.type in FUNCTIONS or value.type in CLASS_NODES:
        body = value.child_by_field_name("body")
        return Shape(name, "callable" if value.type in FUNCTIONS else "type", body, body, owner)
    if value.type == "object" and _holds_functions(value):
        return Shape(name, "type", value, value, owner)
    if value.type == "call_expression":
        return _shape_of_call(name, value, owner)
    return None


def assigned_shape(syntax: Syntax, assignment: Node | None) -> Shape | None:
    """`exports.f = function ...`, `Foo.prototype.bar = ...`.

    Members of an object given to `module.exports` are declared by themselves.
    """
    if assignment is None or assignment.type != "assignment_expression":
        return None
    path = syntax.path(assignment.child_by_field_name("left"))
    value = assignment.child_by_field_name("right")
    if path == ("module", "exports"):
        return None if value and value.type == "object" else shape_of_value("default", value)
    names = [name for name in path if name not in ("module", "exports", "prototype", "this")]
    return shape_of_value(names[-1], value, ".".join(names[:-1])) if names else None


def given_shape(syntax: Syntax, call: Node) -> Shape | None:
    """A function that is given to a call with a string, named by both: `GET /users`, `it: refuses an empty name`."""
    path = syntax.path(call.child_by_field_name("function"))
    arguments = arguments_of(call)
    function = _function_among(arguments[1:])
    if not path or function is None:
        return None
    head = path[0].removesuffix("()")
    word = head if head in _TESTS else path[-1].removesuffix("()")
    written = _label(arguments[0], head in _TESTS)
    if not written:
        return None
    verb = word.removesuffix("()")
    name = f"{verb.upper()} {written}" if verb in HTTP_VERBS else f"{verb}: {written}"
    body = function.child_by_field_name("body")
    return Shape(name, "callable", body, body)


def called_name(call: Node) -> str:
    """The last name of what a call calls, which is cheaper to find than the path to it."""
    return text_of(call, "function", "property") or text_of(call, "function")


def is_chained(syntax: Syntax, call: Node) -> bool:
    """True if a call goes on from another one, as in `router.get(...).post(...)`."""
    path = syntax.path(call.child_by_field_name("function"))
    return len(path) > 1 and any(segment.endswith("()") for segment in path[1:-1])


def value_or_self(node: Node) -> Node:
    """The value that a declaration gives its name, or the declaration itself when it gives none."""
    if node.type == "expression_statement":
        assignment = first_child(node)
        return (assignment.child_by_field_name("right") if assignment else None) or node
    if node.type in ("call_expression", "arguments"):
        listed = node.child_by_field_name("arguments") or node
        return _function_among(listed.named_children) or node
    if node.type == "type_alias_declaration":
        return node
    return node.child_by_field_name("value") or node


def _label(node: Node, is_test: bool) -> str:
    """The name that a call gives to its function, on one line; empty when it is not plain."""
    if node.type not in _STRINGS and not (is_test and node.type in _NAMES):
        return ""
    written = (node.text or b"")[: 4 * _MAX_NAME_CHARACTERS].decode(errors="ignore").strip("'\"`")
    return " ".join(written.translate(_MARKS).split())[:_MAX_NAME_CHARACTERS].strip()


def _function_among(arguments: list[Node]) -> Node | None:
    """The last argument that is a function, or that wraps one, as in `asyncHandler(async () => ...)`."""
    for argument in reversed(arguments):
        if argument.type in FUNCTIONS:
            return argument
        inner = child_of(argument.child_by_field_name("arguments"), *FUNCTIONS)
        if inner is not None and argument.type == "call_expression":
            return inner
    return None


def _shape_of_call(name: str, value: Node, owner: str) -> Shape | None:
    called = value.child_by_field_name("function")
    function = first_child(called) if called is not None and called.type == "parenthesized_expression" else None
    for argument in (*filter(None, (function,)), *children_of(value, "arguments")):
        if argument.type in FUNCTIONS:
            body = argument.child_by_field_name("body")
            return Shape(name, "value", body, body, owner)
        if argument.type == "object" and _holds_functions(argument):
            return Shape(name, "type", argument, argument, owner)
    return None


def _holds_functions(node: Node) -> bool:
    """True if an object has a function as a member, directly or one object further down."""
    return any(_is_function(member) or any(map(_is_function, _members(member))) for member in node.named_children)


def _is_function(member: Node) -> bool:
    value = member.child_by_field_name("value") if member.type == "pair" else None
    return member.type == "method_definition" or (value is not None and value.type in FUNCTIONS)


def _members(pair: Node) -> list[Node]:
    value = pair.child_by_field_name("value")
    return value.named_children if value is not None and value.type == "object" else []
