"""What is known of the value of an expression in TypeScript and JavaScript: its type, or the path that it has."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Binding
from groundwire_ingest.tree.languages.nodes import first_child, given_in, last_child, text_of, type_name
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.types import head
from groundwire_ingest.tree.languages.typescript.members import object_types, script_type, with_arguments
from groundwire_ingest.tree.languages.typescript.shapes import FUNCTIONS, is_import

_MAX_STEPS = 8
_WRAPPED = frozenset({"await_expression", "parenthesized_expression", "non_null_expression", "satisfies_expression"})
_PATHS = frozenset({"identifier", "member_expression", "this"})
_ALTERNATIVES = frozenset({"||", "??"})
# Calls that give what their type argument, or the class that they are given, says: containers, contexts, test doubles.
_GIVES_ARGUMENT = frozenset(
    """inject get resolve getOrThrow getInstance getService useContext useState useInject useService
    mock createMock mocked createStubInstance useInjection""".split()
)
_PROMISES = frozenset({"Promise.all()", "Promise.allSettled()"})


@dataclass(frozen=True, slots=True)
class Known:
    """The facts about a value, as in `facts.Binding`; `node` is its expression where its parts have more facts."""

    type_name: str = ""
    path: str = ""
    is_stated: bool = False
    is_item: bool = False
    node: Node | None = None

    @property
    def says_something(self) -> bool:
        """True if there are facts about the value itself."""
        return bool(self.type_name or self.path)

    def binding(self, scope: int, name: str) -> Binding:
        """The variable of a definition that has the value."""
        return Binding(scope, name, self.type_name, self.is_stated, self.path, self.is_item)


NOTHING = Known()


def known_value(syntax: Syntax, node: Node | None) -> Known:
    """The value of an expression, as far as it is known."""
    for _ in range(_MAX_STEPS):
        if node is None:
            return NOTHING
        if node.type in _WRAPPED:
            node = first_child(node)
        elif node.type == "as_expression":
            type_ = script_type(last_child(node)) if node.named_child_count > 1 else ""
            if type_:
                return Known(type_)
            node = first_child(node)
        elif node.type == "ternary_expression":
            node = node.child_by_field_name("consequence")
        elif node.type == "binary_expression":
            is_either = text_of(node, "operator") in _ALTERNATIVES
            node = node.child_by_field_name("left") if is_either else None
        else:
            return _plain_value(syntax, node)
    return NOTHING


def _plain_value(syntax: Syntax, node: Node) -> Known:
    match node.type:
        case "new_expression":
            name = type_name(node, "constructor")
            return Known(with_arguments(name, node.child_by_field_name("type_arguments")))
        case "call_expression":
            given = _given_type(syntax, node)
            return given or Known(path=".".join(syntax.path(node)), node=node)
        case "subscript_expression":
            path = ".".join(syntax.path(node.child_by_field_name("object")))
            return Known(path=path, is_item=True) if path else NOTHING
        case "array":
            return Known(node=node)
    return Known(path=".".join(syntax.path(node))) if node.type in _PATHS else NOTHING


def _given_type(syntax: Syntax, call: Node) -> Known | None:
    """`Foo` of `inject(Foo)`, `container.get<Foo>(...)`, `useState<Foo>(...)`."""
    path = syntax.path(call.child_by_field_name("function"))
    if not path or path[-1] not in _GIVES_ARGUMENT:
        return None
    first = first_child(call, "arguments")
    is_class = first is not None and first.type == "identifier" and text_of(first)[:1].isupper()
    types = syntax.type_arguments(call)
    if len(types) == 1 and (first is None or is_class or len(path) == 1):
        return Known(types[0])
    return Known(text_of(first)) if is_class else None


def bound(syntax: Syntax, scope: int, target: Node | None, known: Known) -> Iterator[Binding]:
    """The variables that a name or a pattern makes of a value."""
    pending: list[tuple[Node | None, Known]] = [(target, known)]
    while pending:
        node, value = pending.pop()
        match node.type if node is not None else "":
            case "identifier" | "shorthand_property_identifier_pattern":
                yield value.binding(scope, text_of(node))
            case "rest_pattern":
                pending.append((first_child(node), replace(value, path="", is_item=False)))
            case "assignment_pattern" | "object_assignment_pattern":
                pending.append((first_child(node), value))
            case "object_pattern":
                pending.extend(_properties(node, value))
            case "array_pattern":
                pending.extend(_elements(syntax, node, value))


def _properties(pattern: Node | None, value: Known) -> Iterator[tuple[Node | None, Known]]:
    """The targets of an object pattern, with what each is given."""
    written = {
        text_of(member, "name"): script_type(member.child_by_field_name("type"))
        for body in object_types(value.node if value.is_stated else None)
        for member in body.named_children
        if member.type == "property_signature"
    }
    before = value.path or head(value.type_name)
    for child in given_in(pattern):
        target = child.child_by_field_name("value") if child.type == "pair_pattern" else child
        name = text_of(child.child_by_field_name("key") or child.child_by_field_name("left") or child)
        if written.get(name):
            yield target, Known(written[name], is_stated=True)
        elif child.type == "rest_pattern" or not before or value.is_item or not name:
            yield target, NOTHING
        else:
            yield target, Known(path=f"{before}.{name}")


def _elements(syntax: Syntax, pattern: Node | None, value: Known) -> Iterator[tuple[Node | None, Known]]:
    """The targets of an array pattern: the elements of a list that is written out, or the items of a collection."""
    targets, written = given_in(pattern), value.node
    if written is not None and written.type == "call_expression" and value.path in _PROMISES:
        written = first_child(written, "arguments")
    if written is not None and written.type == "array":
        yield from zip(targets, (known_value(syntax, child) for child in given_in(written)), strict=False)
        return
    is_hook = head(value.path).rpartition(".")[2].startswith("use")
    is_first_only = is_hook or (value.type_name and not value.type_name.startswith("Array<"))
    for number, target in enumerate(targets):
        if is_first_only:
            yield target, value if number == 0 and not is_hook else NOTHING
        else:
            yield target, replace(value, is_item=bool(value.path or value.type_name), node=None)


def is_declared(value: Node | None) -> bool:
    """True if a variable is known otherwise: a function, a class, an object, or a module that is imported."""
    return value is not None and (value.type in FUNCTIONS or value.type in ("class", "object") or is_import(value))
