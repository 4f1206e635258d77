"""How a language writes names, member accesses and calls, and the dotted paths that they come to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import OF_ITEMS, RETURNED
from groundwire_ingest.tree.languages.nodes import field_of, first_child, last_child, text_of, type_name
from groundwire_ingest.tree.languages.types import type_text

MAX_PATH_SEGMENTS = 8


@dataclass(frozen=True, slots=True)
class CallForm:
    """Where a call node keeps what it calls (empty: in itself) and its arguments; `constructs` for `new`.

    Both are names of fields, or FIRST and LAST.
    """

    function: str
    arguments: str
    constructs: bool = False


class Expressions:
    """The expressions of one language. Subclasses state the data: the names of grammar nodes and their fields."""

    # Dotted paths: (object field, name field) of a member access, first segments, what means nothing, and `a?.b`.
    members: ClassVar[Mapping[str, tuple[str, str]]]
    words: ClassVar[frozenset[str]]
    unwrapped: ClassVar[frozenset[str]] = frozenset()
    conditionals: ClassVar[frozenset[str]] = frozenset()
    # Where an item is taken out of a collection, with the field of the collection.
    subscripts: ClassVar[Mapping[str, str]] = {}
    calls: ClassVar[Mapping[str, CallForm]]
    strings: ClassVar[frozenset[str]]

    def __init__(self) -> None:
        self._paths: dict[int, tuple[str, ...]] = {}
        self._callees: dict[int, tuple[str, str] | None] = {}

    def begin_file(self) -> None:
        """Forgets the file before: every framework asks for paths and callees, so they are kept for one file."""
        self._paths.clear()
        self._callees.clear()

    def arguments(self, node: Node) -> tuple[str, ...]:
        """The arguments of a call, as `code_facts.Call` has them."""
        form = self.calls[node.type]
        listed = field_of(node, form.arguments) if form.arguments else None
        return tuple(map(self.argument, listed.named_children)) if listed else ()

    def argument(self, node: Node) -> str:
        """One argument: a path, `"` for a string, or empty."""
        if node.type in self.strings:
            return '"'
        return self.value_path(node)

    def value_path(self, node: Node | None, /) -> str:
        """The path of an expression as `code_facts.Call.receiver` has it; for what is constructed it ends with `()`."""
        while node is not None and self.is_wrapping(node):
            node = self.unwrap(node)
        form = self.calls.get(node.type) if node else None
        if node is not None and form is not None and form.constructs:
            name = self.constructed(field_of(node, form.function))
            return f"{name}()" if name else ""
        return ".".join(self.path(node))

    def type_arguments(self, node: Node) -> tuple[str, ...]:
        """The types that a call states for its type parameters."""
        return ()

    def constructed(self, target: Node | None) -> str:
        """The dotted name of the type that is constructed."""
        return type_name(target)

    def is_wrapping(self, node: Node) -> bool:
        """True if an expression has the type of what it is about, such as one in parentheses."""
        return node.type in self.unwrapped

    def unwrap(self, node: Node) -> Node | None:
        """The inner expression of a wrapping one."""
        return first_child(node)

    def segment(self, node: Node | None) -> str:
        """A name in a dotted expression as a segment of its path."""
        return text_of(node)

    def callee(self, node: Node) -> tuple[str, str] | None:
        """Receiver and name of a call, as `code_facts.Call` has them; None when a call has no name."""
        if node.id not in self._callees:
            self._callees[node.id] = self.read_callee(node)
        return self._callees[node.id]

    def read_callee(self, node: Node) -> tuple[str, str] | None:
        """What `callee` says of a call that it was not asked about before."""
        form = self.calls[node.type]
        target = field_of(node, form.function) if form.function else node
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
        name = self.segment(field_of(target, member[1])) if member else ""
        return ("?", name) if name else None

    def path(self, node: Node | None) -> tuple[str, ...]:
        """The segments of a dotted expression, those that are called ending with `()`; empty for any other.

        The type arguments of a called segment are before that: `Get<Ns::Order>()`.
        """
        if node is None:
            return ()
        if node.id not in self._paths:
            self._paths[node.id] = self._path(node)
        return self._paths[node.id]

    def _path(self, node: Node | None) -> tuple[str, ...]:
        segments: list[str] = []
        conditions: list[Node | None] = []
        called = ""
        while node is not None and len(segments) < MAX_PATH_SEGMENTS:
            member, form = self.members.get(node.type), self.calls.get(node.type)
            if form is not None and form.function and not form.constructs and not called:
                called, node = "()", field_of(node, form.function)
                continue
            if form is not None and form.constructs and segments and not called:
                made = self.constructed(field_of(node, form.function)) if form.function else ""
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
                called, node = "", field_of(node, self.subscripts[node.type])
                continue
            name = self.segment(field_of(node, member[1]) if member else node)
            if not name or not (member or node.type in self.words):
                return ()
            plain, types, _ = name.partition("<")
            mark = "()" if form else called
            segments.append((type_text(name).replace(".", "::") if types and mark else plain) + mark)
            called = ""
            node = field_of(node, member[0]) if member else None
            node = conditions.pop() if node is None and conditions else node
            if node is None:
                return tuple(reversed(segments))
        return ()
