"""The interface of a language for the shared reader. Most of it is data: the names of grammar nodes."""

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import (
    Binding,
    Call,
    Construct,
    Definition,
    Import,
    KeptParameter,
    Parameter,
    Reference,
    Role,
    StatedImplementation,
    Trait,
)
from groundwire_ingest.tree.languages.expressions import CallForm, Expressions
from groundwire_ingest.tree.languages.nodes import Nodes, child_of, collect, field_of, given_in, text_of, type_of
from groundwire_ingest.tree.languages.written_fields import WrittenField

_MAX_ACCESSOR_BYTES = 200
_MODIFIERS = frozenset({"modifier", "modifiers", "visibility_modifier"})
# A field returned, or set; without white space.
_ACCESSOR = re.compile(r"\{?(?:(?:=>|return)[&*]?[\w.$]+|[\w.$]+=[&*]?[\w.$]+);?\}?")


@dataclass(frozen=True, slots=True)
class Shape:
    """The definition that a declaration makes.

    `body` is where its signature ends, `inside` where its members are looked for; `owner` is the type that
    a member declared outside of it belongs to (Go methods, `Foo.prototype.bar = ...`).
    """

    name: str
    construct: Construct
    body: Node | None
    inside: Node | None = None
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Places:
    """The place of a syntax node in a file's chunks.

    For each 0-based row: the key of the chunk that holds it, and the index of the innermost definition with a place.
    `inner` are the others that may have variables, `index_of` has the index of each by its bytes.
    """

    path: str
    keys: Sequence[str]
    scopes: Sequence[int]
    definitions: tuple[Definition, ...]
    inner: Sequence["DefinitionRange"]
    index_of: Mapping[tuple[int, int], int]

    def key(self, node: Node) -> str:
        """The key of the chunk that holds the node's first line."""
        return self.keys[node.start_point.row]

    def scope(self, node: Node) -> int:
        """The index of the innermost definition around the node; a declaration's own node is outside of itself."""
        around = bisect_right(self.inner, node.start_byte, key=lambda item: item.start) - 1
        while around >= 0 and not self.inner[around].holds(node):
            around = self.inner[around].outer
        inner = self.inner[around].index if around >= 0 else 0
        return max(inner, self.scopes[node.start_point.row])

    def variable_scope(self, node: Node) -> int:
        """The index of the innermost definition around the node that has variables: no variable itself."""
        scope = self.scope(node)
        while self.definitions[scope].construct == "value":
            scope = self.definitions[scope].parent
        return scope

    def type_scope(self, node: Node) -> int:
        """The index of the innermost type around the node; 0, the file, when there is none."""
        scope = self.scope(node)
        while scope and self.definitions[scope].construct != "type":
            scope = self.definitions[scope].parent
        return scope

    def parameters_around(self, node: Node) -> Iterator[Parameter]:
        """The parameters of the callables around the node."""
        index = self.scope(node)
        while index > 0:
            if self.definitions[index].construct == "callable":
                yield from self.definitions[index].parameters or ()
            index = self.definitions[index].parent

    def reference(self, node: Node, name: str, role: Role) -> Iterator[Reference]:
        """The name that a node uses; nothing for an empty one."""
        if name:
            yield Reference(self.key(node), self.scope(node), name, node.start_point.row + 1, role)

    def variable(
        self, node: Node, name: str, stated: str = "", value: str = "", *, is_item: bool = False
    ) -> Iterator[Binding]:
        """The variable that a node declares, by the type that it states or by its value; nothing for an empty name."""
        if name:
            yield Binding(self.scope(node), name, stated, bool(stated), value, is_item)

    def declared(self, node: Node) -> int:
        """The index of the definition that the node declares; 0 where it declares none."""
        return self.index_of.get((node.start_byte, node.end_byte), 0)

    def around(self, node: Node) -> int:
        """The index of the definition around what the node declares, or around a node that declares nothing."""
        index = self.declared(node)
        return self.definitions[index].parent if index else self.scope(node)


@dataclass(frozen=True, slots=True)
class DefinitionRange:
    """The bytes of a definition; `outer` is the position of the next one around it among its like, -1 for none."""

    start: int
    end: int
    index: int
    outer: int

    def holds(self, node: Node) -> bool:
        """True if a node is within the definition and is not all of it."""
        length = node.end_byte - node.start_byte
        return self.start <= node.start_byte and node.end_byte <= self.end and length < self.end - self.start


class Syntax(Expressions, ABC):
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
    # The text before a signature inside the declaration's node: annotations and attributes.
    adornments: ClassVar[frozenset[str]] = frozenset()
    # Statements about the origin of names: imports, `using`, `package`; and the start of a line that is only for the
    # compiler.
    headers: ClassVar[frozenset[str]]
    directive: ClassVar[str] = ""
    # The text in place of a body that is left out.
    elided: ClassVar[str] = " { ... }"
    constructors: ClassVar[frozenset[str]] = frozenset()
    # Types that may be there for their fields alone, and what declares a function that has no name but a call's.
    data_types: ClassVar[frozenset[str]] = frozenset()
    given: ClassVar[frozenset[str]] = frozenset()
    # The statements that a constructor consists of when it only keeps what it is given.
    assignments: ClassVar[frozenset[str]] = frozenset()
    # Statements that set something, with the paths of fields to what is set and to the value.
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    # How a string starts, its prefix and quote, in which backslashes are ordinary characters.
    raw: ClassVar[re.Pattern[str] | None] = None
    # The parameters among what a list of parameters holds; empty where that is all of it.
    parameter_types: ClassVar[frozenset[str]] = frozenset()
    # The flags of a declaration by the types of its own node, its children, its modifiers and its parameters.
    marks: ClassVar[Mapping[str, Trait]] = {}

    def shape(self, node: Node) -> Shape | None:
        """The definition that `node` makes; None when it is no declaration or has no usable name."""
        construct = self.declarations.get(node.type)
        name = text_of(node, "name")
        if construct is None or not name:
            return None
        body = node.child_by_field_name("body")
        return Shape(name, construct, body, body if construct == "type" else None)

    def generated_names(self, node: Node) -> tuple[str, ...]:
        """The names of members that a code generator makes from a declaration; they are other names of it."""
        return ()

    def module_traits(self, root: Node) -> frozenset[Trait]:
        """The flags of a file as a whole."""
        return frozenset()

    def namespace(self, node: Node) -> str | None:
        """The namespace that `node` opens for its children, or for its later siblings when it has no body."""
        return None

    def module_symbol(self, path: str) -> str:
        """The dotted name of the file as a module; empty where files have none."""
        return ""

    def bases(self, node: Node, /) -> tuple[str, ...]:
        """The dotted names of a type declaration's base types."""
        return ()

    def parameters(self, node: Node, /) -> tuple[Parameter, ...] | None:
        """The parameters of a callable, or of a type with a primary constructor; None if unknown."""
        listed, types = node.child_by_field_name("parameters"), self.parameter_types
        if listed is None:
            return None
        return tuple(self.parameter(child) for child in listed.named_children if not types or child.type in types)

    def parameter(self, node: Node) -> Parameter:
        """One parameter."""
        is_optional = node.child_by_field_name("value") is not None
        return Parameter(text_of(node, "name"), type_of(node, "type"), is_optional)

    def result(self, node: Node, /) -> str:
        """The type that a callable returns or a value has, as far as it is stated."""
        return ""

    def type_parameters(self, node: Node) -> tuple[str, ...]:
        """The names of a type's own type parameters."""
        listed = node.child_by_field_name("type_parameters")
        listed = listed or child_of(node, "type_parameter_list", "type_parameters")
        named = listed.named_children if listed is not None else []
        return tuple(text_of(child.child_by_field_name("name") or (*given_in(child), child)[0]) for child in named)

    def type_bounds(self, node: Node, /) -> tuple[tuple[str, str], ...]:
        """The type parameters of a type or callable that have a bound, each with that; of several bounds with each."""
        return ()

    def traits(self, node: Node, parent: Node | None, /) -> frozenset[Trait]:
        """The flags of a declaration; `parent` is the declaration around it."""
        parts = [node, *node.children, *given_in(node, "parameters")]
        parts += [part for child in node.children if child.type in _MODIFIERS for part in child.children]
        return frozenset(self.marks[part.type] for part in parts if part.type in self.marks)

    def has_methods(self, node: Node) -> bool:
        """True if a type of `data_types` says how it behaves."""
        return False

    def shared_variables(self, root: Node, variables: Sequence[tuple[Node, str]], /) -> frozenset[int]:
        """The constants and variables that other files may use by their names.

        Args:
            root: The syntax tree of the file.
            variables: The nodes that declare the constants and variables outside of functions, with their names.

        Returns:
            The start bytes of these nodes.
        """
        return frozenset(node.start_byte for node, name in variables if self.is_shared(node, name))

    def is_shared(self, node: Node, name: str, /) -> bool:
        """True if other files may use a constant or variable by its name, as its own declaration says."""
        return False

    def is_slight(self, node: Node, shape: Shape) -> bool:
        """True if a member with a body only keeps or hands out fields, so that it reads better within its type.

        A type inside of another is asked about as well: whether it does no more than to set some values.
        """
        if shape.body is None or shape.construct == "type":
            return False
        if node.type in self.constructors or shape.name in self.constructors:
            statements = given_in(shape.body)
            are_plain = all(child.type in self.assignments for child in statements)
            return are_plain and all(collect(child).keys().isdisjoint(self.calls) for child in statements)
        if shape.body.end_byte - shape.body.start_byte > _MAX_ACCESSOR_BYTES:
            return False
        return _ACCESSOR.fullmatch("".join(text_of(shape.body).split())) is not None

    def called(self, nodes: Nodes) -> Iterator[tuple[Node, CallForm, tuple[str, str]]]:
        """The calls of a file that name what they call, each with its form and what `callee` says of it."""
        for kind, form in self.calls.items():
            for node in nodes[kind]:
                callee = self.callee(node)
                if callee is not None:
                    yield node, form, callee

    def kept_parameters(self, nodes: Nodes, places: Places) -> Iterator[KeptParameter]:
        """Where a field is set to a parameter of the callable around it."""
        for kind, (target, value) in self.settings.items():
            for node in nodes[kind]:
                path, name = ".".join(self.path(field_of(node, *target))), ".".join(self.path(field_of(node, *value)))
                if path and path != name and any(item.name == name for item in places.parameters_around(node)):
                    yield KeptParameter(places.key(node), places.scope(node), path, name, node.start_point.row + 1)

    def documentation(self, nodes: Nodes) -> frozenset[int]:
        """The start bytes of strings that are comments in effect."""
        return frozenset()

    @abstractmethod
    def imports(self, nodes: Nodes, /) -> Iterator[Import]:
        """Every import of the file, in any order."""

    @abstractmethod
    def bindings(self, nodes: Nodes, places: Places, /) -> Iterator[Binding]:
        """Variables with a plain type; of two for the same name and scope the first holds."""

    def written_fields(self, nodes: Nodes, /) -> Iterator[WrittenField]:
        """The fields in objects that the code writes out: `new Options { OnSave = Saved }`."""
        return iter(())

    def implied_calls(self, nodes: Nodes, places: Places, /) -> Iterator[Call]:
        """Calls that the source writes in another way than as a call."""
        return iter(())

    def stated_implementations(self, nodes: Nodes, places: Places, /) -> Iterator[StatedImplementation]:
        """Statements outside of types that these satisfy interfaces."""
        return iter(())

    @abstractmethod
    def references(self, nodes: Nodes, places: Places, /) -> Iterator[Reference]:
        """Names that are used without being called; of equal ones in a chunk only the first is listed."""

    def has_insertions(self, node: Node) -> bool:
        """True if values are inserted into a string and a framework tells which, as `facts.BuiltText`."""
        return False

    def prepared(self, source: bytes) -> bytes:
        """The text to parse in place of the source: of the same length, with every line at its place."""
        return source
