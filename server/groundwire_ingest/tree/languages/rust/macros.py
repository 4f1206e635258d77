"""The calls in the arguments of Rust's macros, which the grammar leaves as loose tokens."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Call
from groundwire_ingest.tree.languages.expressions import MAX_PATH_SEGMENTS
from groundwire_ingest.tree.languages.nodes import Nodes, around_of, line_of, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_NAMES = frozenset({"identifier", "self", "super", "crate"})
_TREE = "token_tree"
_STRINGS = frozenset({"string_literal", "raw_string_literal"})
_SEPARATORS = frozenset({".", "::"})


def macro_calls(_: Syntax, nodes: Nodes, places: Places) -> Iterator[Call]:
    """A name before parentheses in what a macro is given: `println!("{}", add(1, 2))`, `vec![a.bump()]`."""
    for tree in nodes["macro_invocation"]:
        if any(node.type == _TREE for node in around_of(tree.parent)):
            continue
        pending = [child for child in tree.named_children if child.type == _TREE]
        while pending:
            tokens = pending.pop().children
            for index, token in enumerate(tokens):
                if token.type == _TREE:
                    pending.append(token)
                    yield from _call(tokens, index, places)


def _call(tokens: Sequence[Node], index: int, places: Places) -> Iterator[Call]:
    """The call whose arguments are the parentheses at `index`; nothing for other brackets and what has no name."""
    path = _path_before(tokens, index + 1)
    if not path or not path[-1].endswith("()"):
        return
    name, arguments = path[-1].removesuffix("()"), _arguments(tokens[index])
    node = tokens[index]
    yield Call(places.key(node), places.scope(node), ".".join(path[:-1]), name, line_of(node), arguments=arguments)


def _path_before(tokens: Sequence[Node], end: int) -> tuple[str, ...]:
    """The path that the tokens before `end` end with, those of its segments that are called with `()`; else empty."""
    segments: list[str] = []
    index = end - 1
    while index >= 0 and len(segments) < MAX_PATH_SEGMENTS:
        called = ""
        if tokens[index].type == _TREE and tokens[index].children[0].type == "(":
            called, index = "()", _before_type_arguments(tokens, index - 1)
        if index < 0 or tokens[index].type not in _NAMES:
            return ("?", *reversed(segments)) if segments else ()
        segments.append(text_of(tokens[index]) + called)
        if index == 0 or tokens[index - 1].type not in _SEPARATORS:
            return tuple(reversed(segments))
        index -= 2
    return ()


def _before_type_arguments(tokens: Sequence[Node], index: int) -> int:
    """The index before the `::<A, B>` that ends at `index`; `index` itself where there is none."""
    if index < 0 or tokens[index].type != ">":
        return index
    opening = index
    while opening >= 0 and tokens[opening].type != "<":
        opening -= 1
    return opening - 2 if opening > 1 and tokens[opening - 1].type == "::" else -1


def _arguments(tree: Node) -> tuple[str, ...]:
    """The arguments in parentheses as `code_facts.Call` has them: paths, `"` for a string, else empty."""
    arguments: list[str] = []
    tokens: list[Node] = []
    for token in tree.children[1:]:
        if token.type not in (",", ")"):
            tokens.append(token)
        elif tokens:
            arguments.append(_argument(tokens))
            tokens = []
    return tuple(arguments)


def _argument(tokens: Sequence[Node]) -> str:
    if len(tokens) == 1 and tokens[0].type in _STRINGS:
        return '"'
    plain = [token for token in tokens if token.type not in ("&", "mutable_specifier")]
    path = _path_before(plain, len(plain))
    return ".".join(path) if path and "".join(map(text_of, plain)).startswith(path[0].removesuffix("()")) else ""
