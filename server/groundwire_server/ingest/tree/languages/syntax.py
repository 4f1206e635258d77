"""What the shared reader asks of a language. Most of it is data: the names of grammar nodes."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tree_sitter import Language, Node

from groundwire_server.ingest.tree.facts import (
    OF_ITEMS,
    RETURNED,
    Binding,
    Call,
    Construct,
    Import,
    Mount,
    Parameter,
    Reference,
    Registration,
    Route,
    TableMapping,
    Trait,
)
from groundwire_server.ingest.tree.languages.types import type_text

MAX_NAME_BYTES = 200
MAX_PATH_SEGMENTS = 8
FIRST, LAST = "<first>", "<last>"
"""Stand for the name of a field where a grammar names none: a node's first and its last named child."""
MAX_DEPTH = 1000
"""What is nested deeper than this in the grammar's tree is not looked at: to ask for a parent is to walk down to it."""

_MAX_ACCESSOR_BYTES = 200
_MAX_TYPE_BYTES = 300
# A field returned, or set; without white space.
_ACCESSOR = re.compile(r"\{?(?:(?:=>|return)[&*]?[\w.$]+|[\w.$]+=[&*]?[\w.$]+);?\}?")
_TYPE_NAME = re.compile(r"[*&]*\s*([^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*)\s*(\[\])?")


@dataclass(frozen=True, slots=True)
class Shape:
    """What a declaration declares.

    `body` is where its signature ends, `inside` where its members are looked for; `owner` is the type that
    a member declared outside of it belongs to (Go methods, `Foo.prototype.bar = ...`).
    """

    name: str
    construct: Construct
    body: Node | None
    inside: Node | None = None
    owner: str = ""


@dataclass(frozen=True, slots=True)
class CallForm:
    """Where a call node keeps what it calls (empty: in itself) and its arguments; `constructs` for `new`.

    Both are names of fields, or FIRST and LAST.
    """

    function: str
    arguments: str
    constructs: bool = False


class Places(ABC):
    """Where in the file's chunks a syntax node stands."""

    path: str
    """The path of the file."""

    @abstractmethod
    def key(self, node: Node) -> str:
        """The key of the chunk that holds the node's first line."""

    @abstractmethod
    def scope(self, node: Node) -> int:
        """The index of the innermost definition around the node."""

    @abstractmethod
    def variable_scope(self, node: Node) -> int:
        """The index of the innermost definition around the node that has variables: no variable itself."""

    @abstractmethod
    def type_scope(self, node: Node) -> int:
        """The index of the innermost type around the node; 0, the file, when there is none."""

    @abstractmethod
    def declared(self, node: Node) -> int:
        """The index of the definition that the node declares; 0 where it declares none."""

    @abstractmethod
    def around(self, node: Node) -> int:
        """The index of the definition around what the node declares, or around a node that declares nothing."""


Nodes = Mapping[str, Sequence[Node]]
"""The nodes of a file by type, each in document order."""


class Syntax(ABC):
    """One language. Subclasses state the data; the methods have the behaviour that most languages share."""

    kind: ClassVar[str]
    language: ClassVar[str]
    grammar: ClassVar[Language]
    # Declarations by node type; nodes looked through for them; those of the latter that are part of a declaration.
    declarations: ClassVar[Mapping[str, Construct]]
    transparent: ClassVar[frozenset[str]]
    wrappers: ClassVar[frozenset[str]] = frozenset()
    # Comments and decorators that belong to the declaration right below them.
    leading: ClassVar[frozenset[str]]
    # What stands before a signature inside the declaration's node: annotations and attributes.
    adornments: ClassVar[frozenset[str]] = frozenset()
    # What says where names come from rather than anything of its own: imports, `using`, `package`; and how a line
    # starts that only steers the compiler.
    headers: ClassVar[frozenset[str]]
    directive: ClassVar[str] = ""
    # What stands for a body that is left out.
    elided: ClassVar[str] = " { ... }"
    constructors: ClassVar[frozenset[str]] = frozenset()
    # Types that may be there for their fields alone, and what declares a function that has no name but a call's.
    data_types: ClassVar[frozenset[str]] = frozenset()
    given: ClassVar[frozenset[str]] = frozenset()
    # The statements that a constructor consists of when it only keeps what it is given.
    assignments: ClassVar[frozenset[str]] = frozenset()
    # Dotted paths: (object field, name field) of a member access, first segments, what means nothing, and `a?.b`.
    members: ClassVar[Mapping[str, tuple[str, str]]]
    words: ClassVar[frozenset[str]]
    unwrapped: ClassVar[frozenset[str]] = frozenset()
    conditionals: ClassVar[frozenset[str]] = frozenset()
    # Where an item is taken out of a collection, with the field of the collection.
    subscripts: ClassVar[Mapping[str, str]] = {}
    calls: ClassVar[Mapping[str, CallForm]]
    strings: ClassVar[frozenset[str]]
    # Other node types that `imports`, `bindings` and `mappings` want to see.
    facts: ClassVar[frozenset[str]]

    def shape(self, node: Node) -> Shape | None:
        """What `node` declares; None when it is no declaration or has no usable name."""
        construct = self.declarations.get(node.type)
        name = text_of(node.child_by_field_name("name"))
        if construct is None or not name:
            return None
        body = node.child_by_field_name("body")
        return Shape(name, construct, body, body if construct == "type" else None)

    def generated_names(self, node: Node) -> tuple[str, ...]:
        """The names of members that a code generator makes from a declaration, and that stand for it."""
        return ()

    def module_traits(self, root: Node) -> frozenset[Trait]:
        """What a file as a whole says of itself."""
        return frozenset()

    def namespace(self, node: Node) -> str | None:
        """The namespace that `node` opens for its children, or for its later siblings when it has no body."""
        return None

    def module_symbol(self, path: str) -> str:
        """The dotted name of the file as a module; empty where files have none."""
        return ""

    def bases(self, node: Node) -> tuple[str, ...]:
        """The dotted names of a type declaration's base types."""
        return ()

    def parameters(self, node: Node) -> tuple[Parameter, ...] | None:
        """What a callable takes, or a type that has its constructor's parameters beside its name; None if unknown."""
        listed = node.child_by_field_name("parameters")
        return None if listed is None else tuple(self.parameter(child) for child in listed.named_children)

    def parameter(self, node: Node) -> Parameter:
        """One parameter."""
        name = text_of(node.child_by_field_name("name"))
        return Parameter(name, type_of(node.child_by_field_name("type")), node.child_by_field_name("value") is not None)

    def result(self, node: Node) -> str:
        """The type that a callable returns or a value has, as far as it is stated."""
        return ""

    def type_parameters(self, node: Node) -> tuple[str, ...]:
        """The names of a type's own type parameters."""
        listed = node.child_by_field_name("type_parameters") or next(
            (child for child in node.named_children if child.type in ("type_parameter_list", "type_parameters")), None
        )
        named = listed.named_children if listed else ()
        return tuple(text_of(child.child_by_field_name("name") or first_child(child) or child) for child in named)

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """What a declaration says of itself; `parent` is the declaration around it."""
        return frozenset()

    def has_methods(self, node: Node) -> bool:
        """Whether a type of `data_types` says how it behaves."""
        return False

    def is_slight(self, node: Node, shape: Shape) -> bool:
        """Whether a member with a body only keeps or hands out fields, so that it reads better within its type.

        A type inside of another is asked about as well: whether it does no more than to set some values.
        """
        if shape.body is None or shape.construct == "type":
            return False
        if node.type in self.constructors or shape.name in self.constructors:
            statements = [child for child in shape.body.named_children if not child.is_extra]
            return all(child.type in self.assignments and not self._calls_in(child) for child in statements)
        if shape.body.end_byte - shape.body.start_byte > _MAX_ACCESSOR_BYTES:
            return False
        return _ACCESSOR.fullmatch("".join(text_of(shape.body).split())) is not None

    def _calls_in(self, node: Node) -> bool:
        pending = [node]
        while pending:
            current = pending.pop()
            if current.type in self.calls:
                return True
            pending.extend(current.named_children)
        return False

    def documentation(self, nodes: Nodes) -> frozenset[int]:
        """The start bytes of strings that are comments in effect."""
        return frozenset()

    def is_raw(self, prefix: str, quote: str) -> bool:
        """Whether backslashes are ordinary characters in a string with this prefix and opening quote."""
        return False

    @abstractmethod
    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """Every import of the file, in any order."""

    def bindings(self, nodes: Nodes, places: Places) -> Iterator[Binding]:
        """Variables with a plain type; of two for the same name and scope the first holds."""
        return iter(())

    def implied_calls(self, nodes: Nodes, places: Places) -> Iterator[Call]:
        """Calls that the source writes in another way than as a call."""
        return iter(())

    def references(self, nodes: Nodes, places: Places) -> Iterator[Reference]:
        """Names that are used without being called; of equal ones in a chunk the first stands for all."""
        return iter(())

    def routes(self, nodes: Nodes, places: Places) -> Iterator[Route | Mount]:
        """Which URLs the file answers, and the prefixes that it gives to routers."""
        return iter(())

    def registrations(self, nodes: Nodes, places: Places) -> Iterator[Registration]:
        """What containers are told to hand out under a name, beside calls that name an interface and a type."""
        return iter(())

    def table_of_model(self, key: str, model: str) -> str:
        """The table of a model that a migration in node `key` names."""
        return model

    def mappings(self, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
        """What the file tells an ORM about tables."""
        return iter(())

    def arguments(self, node: Node) -> tuple[str, ...]:
        """The arguments of a call, as `facts.Call` has them."""
        form = self.calls[node.type]
        listed = part_of(node, form.arguments) if form.arguments else None
        return tuple(map(self.argument, listed.named_children)) if listed else ()

    def argument(self, node: Node) -> str:
        """One argument: a path, `"` for a string, or empty."""
        if node.type in self.strings:
            return '"'
        return self.value_path(node)

    def value_path(self, node: Node | None) -> str:
        """The path of an expression as `facts.Call.receiver` has it, that of what is constructed ending with `()`."""
        while node is not None and self.is_wrapping(node):
            node = self.unwrap(node)
        form = self.calls.get(node.type) if node else None
        if node is not None and form is not None and form.constructs:
            name = self.constructed(part_of(node, form.function))
            return f"{name}()" if name else ""
        return ".".join(self.path(node))

    def type_arguments(self, node: Node) -> tuple[str, ...]:
        """The types that a call states for its type parameters."""
        return ()

    def constructed(self, target: Node | None) -> str:
        """The dotted name of the type that is constructed."""
        return type_name(target)

    def is_wrapping(self, node: Node) -> bool:
        """Whether an expression has the type of what it is about, such as one in parentheses."""
        return node.type in self.unwrapped

    def unwrap(self, node: Node) -> Node | None:
        """What an expression is about that is wrapping."""
        return first_child(node)

    def segment(self, node: Node | None) -> str:
        """A name in a dotted expression as a segment of its path."""
        return text_of(node)

    def prepared(self, source: bytes) -> bytes:
        """What to parse in place of the source: as long, and with every line where it was."""
        return source

    def callee(self, node: Node) -> tuple[str, str] | None:
        """Receiver and name of a call, as `facts.Call` has them; None when a call has no name."""
        form = self.calls[node.type]
        target = part_of(node, form.function) if form.function else node
        if target is None:
            return None
        if form.constructs:
            receiver, _, name = self.constructed(target).rpartition(".")
            return (receiver, name) if name else None
        path = self.path(target)
        if form.function and path and path[-1].endswith("()"):
            return ".".join(path), RETURNED
        if path:
            return ".".join(path[:-1]), path[-1].removesuffix("()")
        member = self.members.get(target.type)
        name = self.segment(part_of(target, member[1])) if member else ""
        return ("?", name) if name else None

    def path(self, node: Node | None) -> tuple[str, ...]:
        """The segments of a dotted expression, those that are called ending with `()`; empty for any other."""
        segments: list[str] = []
        conditions: list[Node | None] = []
        called = ""
        while node is not None and len(segments) < MAX_PATH_SEGMENTS:
            member, form = self.members.get(node.type), self.calls.get(node.type)
            if form is not None and form.function and not form.constructs and not called:
                called, node = "()", part_of(node, form.function)
                continue
            if form is not None and form.constructs and segments and not called:
                made = self.constructed(part_of(node, form.function)) if form.function else ""
                return (*f"{made}()".split("."), *reversed(segments)) if made else ()
            if node.type in self.conditionals:
                conditions.append(first_child(node))
                node = last_child(node)
                continue
            if self.is_wrapping(node):
                node = self.unwrap(node)
                continue
            if node.type in self.subscripts:
                segments.append(OF_ITEMS + called)
                called, node = "", part_of(node, self.subscripts[node.type])
                continue
            name = self.segment(part_of(node, member[1]) if member else node)
            if not name or not (member or node.type in self.words):
                return ()
            segments.append(name.partition("<")[0] + ("()" if form else called))
            called = ""
            node = part_of(node, member[0]) if member else None
            node = conditions.pop() if node is None and conditions else node
            if node is None:
                return tuple(reversed(segments))
        return ()


def part_of(node: Node, field: str) -> Node | None:
    """The child in a field, which may be FIRST or LAST."""
    if field == FIRST:
        return first_child(node)
    return last_child(node) if field == LAST else node.child_by_field_name(field)


def text_of(node: Node | None) -> str:
    """The node's source text; empty for no node and for more than MAX_NAME_BYTES, which no name has."""
    if node is None or node.end_byte - node.start_byte > MAX_NAME_BYTES or node.text is None:
        return ""
    return node.text.decode()


def first_child(node: Node | None) -> Node | None:
    """The node's first named child that is no comment."""
    return next((child for child in node.named_children if not child.is_extra), None) if node else None


def last_child(node: Node | None) -> Node | None:
    """The node's last named child that is no comment."""
    return next((child for child in reversed(node.named_children) if not child.is_extra), None) if node else None


def count_children(node: Node | None) -> int:
    """How many named children a node has, comments aside."""
    return sum(not child.is_extra for child in node.named_children) if node else 0


def type_name(node: Node | None) -> str:
    """The dotted name that a type starts with, without pointers and type arguments; empty for arrays and the like."""
    match = _TYPE_NAME.match(text_of(node))
    return match[1] if match and not match[2] else ""


def type_of(node: Node | None) -> str:
    """The type that a node of the source writes, in the form of `types`."""
    if node is None or node.end_byte - node.start_byte > _MAX_TYPE_BYTES or node.text is None:
        return ""
    return type_text(node.text.decode())


def end_row(node: Node) -> int:
    """The 0-based row of the node's last character; a node that ends with a line feed ends on that line."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row


def collect(root: Node, types: frozenset[str]) -> dict[str, list[Node]]:
    """Every node below `root` of the given types and down to MAX_DEPTH, by type in document order.

    Iterates, so depth costs no stack.
    """
    found: dict[str, list[Node]] = {node_type: [] for node_type in sorted(types)}
    cursor, depth = root.walk(), 0
    while True:
        node = cursor.node
        if node is not None and node.is_named and node.type in types:
            found[node.type].append(node)
        if depth < MAX_DEPTH and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
            depth -= 1
