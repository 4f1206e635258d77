"""The values of variables in Python code, where the source makes them plain."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import RETURNED, Binding
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    Nodes,
    around_of,
    children_of,
    first_child,
    last_child,
    text_of,
    type_of,
)
from groundwire_ingest.tree.languages.python.declarations import YIELDING, decorators, parameter_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import head, type_text

_SELF = frozenset({"self", "cls"})
# Functions that give the items of their first argument, or what it is.
_SAME_ITEMS = frozenset("sorted reversed list tuple set frozenset iter enumerate aiter".split())
_VIEWS = (".values()", ".items()")
_GROUPS = frozenset("pattern_list tuple_pattern list_pattern tuple list as_pattern_target list_splat_pattern".split())
# The names that make a type of others when they are before brackets.
_TYPE_FORMS = frozenset("Annotated Optional list List dict Dict set Set Sequence Iterable Mapping Callable".split())
_TAKING_LAMBDAS = frozenset({("max",), ("min",), ("sorted",), ("map",), ("filter",), ("groupby",)})
_INJECTED = frozenset({"Depends", "Security", "Provide", "Inject"})


def python_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Every variable: those with a stated type first, those without any known type last.

    The latter are there to hide what has their name outside of the function.
    """
    bindings = list(_Bindings(syntax, nodes, places).all())
    yield from (binding for binding in bindings if binding.stated)
    yield from (binding for binding in bindings if not binding.stated and (binding.type_name or binding.value))
    yield from (binding for binding in bindings if not (binding.type_name or binding.value))


def value_of(syntax: Syntax, node: Node | None) -> str:
    """The path of an expression; of one that is this or that, the path of what it is when nothing was given."""
    while node is not None:
        match node.type:
            case "parenthesized_expression" | "await":
                node = first_child(node)
            case "boolean_operator":
                right = syntax.path(node.child_by_field_name("right"))
                if right:
                    return ".".join(right)
                node = node.child_by_field_name("left")
            case "conditional_expression":
                chosen = first_child(node)
                node = last_child(node) if chosen is None or chosen.type == "none" else chosen
            case "named_expression":
                node = node.child_by_field_name("value")
            case _:
                break
    return ".".join(syntax.path(node))


class _Bindings:
    """Reads the bindings of one file."""

    def __init__(self, syntax: Syntax, nodes: Nodes, places: Places) -> None:
        self._syntax = syntax
        self._nodes = nodes
        self._places = places
        self._of_module = {
            (places.scope(node), text_of(child)) for node in nodes["global_statement"] for child in node.named_children
        }
        self._stated: dict[tuple[int, str], str] = {}

    def all(self) -> Iterator[Binding]:
        """The bindings by the kind of statement, each kind in document order."""
        for node in self._nodes.of("parameters", "lambda_parameters"):
            yield from self._parameters(node)
        for node in self._nodes["assignment"]:
            yield from self._assigned(node)
        for node in self._nodes["named_expression"]:
            path = value_of(self._syntax, node.child_by_field_name("value"))
            yield self._local(node, text_of(node, "name"), path)
        for node in self._nodes["as_pattern"]:
            yield from self._opened(node)
        for node in self._nodes.of("for_statement", "for_in_clause"):
            yield from self._items(node)
        yield from self._returned()

    def _local(self, node: Node, name: str, value: str, *, is_item: bool = False) -> Binding:
        scope = self._places.variable_scope(node)
        return Binding(0 if (scope, name) in self._of_module else scope, name, "", False, value, is_item, scope)

    def _parameters(self, node: Node) -> Iterator[Binding]:
        """Parameters by their annotations or defaults; what a default has injected counts as the parameter."""
        scope = self._places.scope(node)
        for child in node.named_children:
            parameter, named = parameter_of(child), first_child(child)
            if parameter.name in _SELF:
                continue
            items = self._given_items(node) if node.type == "lambda_parameters" else ""
            if items and parameter.name and node.named_child_count == 1:
                yield Binding(scope, parameter.name, "", False, items, True)
            elif parameter.name and parameter.type_name:
                self._stated.setdefault((scope, parameter.name), parameter.type_name)
                yield Binding(scope, parameter.name, parameter.type_name, True)
            elif parameter.name:
                yield Binding(scope, parameter.name, "", False, self._given(child.child_by_field_name("value")))
            elif child.type == "typed_parameter" and named is not None:
                stated = type_of(child, "type")
                collection = "tuple<" if named.type == "list_splat_pattern" else "dict<str,"
                yield Binding(scope, text_of(first_child(named)), f"{collection}{stated}>" if stated else "", True)
            elif child.type in ("list_splat_pattern", "dictionary_splat_pattern"):
                yield Binding(scope, text_of(named), "", False)

    def _given_items(self, parameters: Node) -> str:
        """The path of the collection whose items a lambda gets: `max(items, key=lambda item: ...)`; else empty."""
        around = parameters.parent.parent if parameters.parent is not None else None
        listed = around.parent if around is not None and around.type == "keyword_argument" else around
        call = listed.parent if listed is not None and listed.type == "argument_list" else None
        path = self._syntax.path(call.child_by_field_name("function")) if call is not None else ()
        if path in _TAKING_LAMBDAS:
            others = [child for child in children_of(listed) if child.type != "lambda"]
            return self._iterated(others[0])[0] if others and others[0].type != "keyword_argument" else ""
        return ".".join(path[:-1]) if len(path) > 1 and path[-1] == "sort" else ""

    def _given(self, default: Node | None) -> str:
        path = value_of(self._syntax, default)
        if default is None or default.type != "call" or path.rpartition(".")[2].removesuffix("()") not in _INJECTED:
            return path
        injected = value_of(self._syntax, first_child(default, "arguments"))
        return f"{injected}()" if injected else ""

    def _assigned(self, node: Node) -> Iterator[Binding]:
        """`x = ...`, `x: Foo`, and the same for `self.x`; of several targets none that is made from a part."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        while right is not None and right.type == "assignment":
            right = right.child_by_field_name("right")
        if left is None:
            return
        if left.type in ("pattern_list", "tuple_pattern"):
            yield from (self._local(node, name, "") for name in _names(left))
            return
        scope, path = self._places.scope(node), self._syntax.path(left)
        stated = type_of(node, "type") or self._cast(right)
        if len(path) == 1 and left.type == "identifier":
            local = self._local(node, path[0], value_of(self._syntax, right))
            stated = stated or self._alias(right)
            yield Binding(local.scope, path[0], stated, True) if stated else local
        elif len(path) == 2 and path[0] in _SELF and left.type == "attribute" and self._places.type_scope(node):
            value = value_of(self._syntax, right)
            stated = stated or self._stated.get((scope, value), "")
            around = self._places.type_scope(node)
            yield Binding(around, path[1], stated, bool(stated), "" if stated else value, False, scope)

    def _alias(self, value: Node | None) -> str:
        """`type<...>` of what is set to `Annotated[Foo, ...]`, `list[Foo]` and the like: a name for a type.

        So is `TypeVar("T", bound=Foo)` for its bound.
        """
        if value is not None and value.type == "call" and text_of(value, "function").endswith("TypeVar"):
            given = (child for child in children_of(value, "arguments") if text_of(child, "name") == "bound")
            bound = next((type_text(text_of(child, "value").strip("'\"")) for child in given), "")
            return f"type<{bound}>" if bound else ""
        written = type_of(value) if value is not None and value.type == "subscript" else ""
        return f"type<{written}>" if head(written).rpartition(".")[2] in _TYPE_FORMS else ""

    def _cast(self, value: Node | None) -> str:
        """`Foo` of `cast(Foo, x)`."""
        if value is None or value.type != "call":
            return ""
        path = self._syntax.path(value.child_by_field_name("function"))
        return type_of(value, "arguments", FIRST) if path[-1:] == ("cast",) else ""

    def _opened(self, node: Node) -> Iterator[Binding]:
        """`with open() as x` and `except Foo as x`."""
        value, target = first_child(node), node.child_by_field_name("alias")
        path = value_of(self._syntax, value)
        is_error = node.parent is not None and node.parent.type in ("except_clause", "except_group_clause")
        for name in _names(target):
            yield self._local(node, name, f"{path}()" if is_error and path else path)

    def _items(self, node: Node) -> Iterator[Binding]:
        """The variables of a loop; of several the last one is the item where the rest only count or name it."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        names = list(_names(left))
        zipped = self._zipped(right)
        if zipped and len(zipped) == len(names):
            for name, path in zip(names, zipped, strict=True):
                yield self._local(node, name, path, is_item=bool(path))
            return
        path, counts = self._iterated(right)
        is_single = left is not None and left.type == "identifier"
        for position, name in enumerate(names, 1):
            is_item = (position == len(names) == 2 and counts) or (is_single and not counts)
            yield self._local(node, name, path, is_item=True) if is_item and path else self._local(node, name, "")

    def _zipped(self, value: Node | None) -> list[str]:
        """The paths of the collections that `zip(a, b)` goes through together; none for anything else."""
        is_zip = value is not None and value.type == "call" and text_of(value, "function") == "zip"
        given = children_of(value, "arguments") if is_zip else []
        return [self._iterated(child)[0] for child in given if child.type != "keyword_argument"]

    def _iterated(self, value: Node | None) -> tuple[str, bool]:
        """The path of the collection that is gone through, and whether its items come with their number or key."""
        path, counts = value_of(self._syntax, value), False
        while value is not None and path.removesuffix("()") in _SAME_ITEMS and value.type == "call":
            counts = counts or path == "enumerate()"
            value = first_child(value, "arguments")
            path = value_of(self._syntax, value)
        for view in _VIEWS:
            if path.endswith(view):
                return path.removesuffix(view), view == ".items()"
        return path, counts

    def _returned(self) -> Iterator[Binding]:
        """The value that each function always returns, or that a decorated generator yields once."""
        paths_of_scope: dict[int, set[str]] = {}
        statements = (*self._nodes["return_statement"], *filter(self._stands_for_return, self._nodes["yield"]))
        for node in statements:
            value = first_child(node)
            if value is not None and value.type != "none":
                paths_of_scope.setdefault(self._places.scope(node), set()).add(value_of(self._syntax, value))
        for scope, paths in sorted(paths_of_scope.items()):
            if len(paths) == 1 and "" not in paths:
                yield Binding(scope, RETURNED, "", False, paths.pop())

    def _stands_for_return(self, node: Node) -> bool:
        around = next((item for item in around_of(node) if item.type in ("function_definition", "lambda")), None)
        return around is not None and not YIELDING.isdisjoint(decorators(self._syntax, around))


def _names(target: Node | None) -> Iterator[str]:
    """The plain names that a target sets, however they are grouped."""
    pending = [target] if target is not None else []
    while pending:
        node = pending.pop()
        if node.type == "identifier":
            yield text_of(node)
        elif node.type in _GROUPS:
            pending.extend(reversed(node.named_children))
