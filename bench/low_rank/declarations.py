"""Documented declarations in Go, Java, C# and TypeScript sources."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import tree_sitter_c_sharp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from bench.quality.functions import LEAST_LINES, LEAST_WORDS, first_sentence

LONGEST_TEXT = 2_000
"""Characters; a training step reads the first 128 tokens."""

_GRAMMARS = {
    "go": Language(tree_sitter_go.language()),
    "java": Language(tree_sitter_java.language()),
    "csharp": Language(tree_sitter_c_sharp.language()),
    "typescript": Language(tree_sitter_typescript.language_typescript()),
    "tsx": Language(tree_sitter_typescript.language_tsx()),
}
LANGUAGES: Mapping[str, str] = {
    ".go": "go",
    ".java": "java",
    ".cs": "csharp",
    ".ts": "typescript",
    ".tsx": "tsx",
}
"""The grammar by a file's suffix."""
_TYPES = frozenset(
    """
    class_declaration abstract_class_declaration interface_declaration struct_declaration record_declaration
    enum_declaration type_declaration type_alias_declaration
    """.split()
)
_MEMBERS = frozenset(
    """
    function_declaration method_declaration method_definition constructor_declaration property_declaration
    """.split()
)
_WRAPPERS = frozenset({"export_statement"})
_COMMENTS = frozenset({"comment", "line_comment", "block_comment"})
_COMMENT_SIGNS = re.compile(r"^[ \t]*(?:///?|/\*\*?|\*(?!/))?[ \t]?|[ \t]*\*/[ \t]*$", re.MULTILINE)
_NAMED_TAG = re.compile(r"<(?:see|paramref|typeparamref)[^>]*?\"(?:\w:)?([^\"]+)\"[^>]*>|\{@\w+\s+([^}]*)\}")
_TAG = re.compile(r"</?[A-Za-z][^>]*>")
_NOT_A_DESCRIPTION = re.compile(
    r"@|\{|TODO|FIXME|Copyright|Licen[sc]e|Deprecated|https?:|Code generated|eslint|ts-ignore"
)
_PLAIN = re.compile(r"[ -~]+")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A type or member: qualified name, head of its type, first sentence of its comment, and code without it."""

    symbol: str
    context: str
    sentence: str
    text: str


def documented_declarations(source: bytes, language: str) -> Iterator[Declaration]:
    """The types and members of a file, in its order, whose comment begins with a sentence of at least four words."""
    stack: list[tuple[Node, str, str]] = [(Parser(_GRAMMARS[language]).parse(source).root_node, "", "")]
    while stack:
        node, symbol, context = stack.pop()
        below: list[tuple[Node, str, str]] = []
        for child in node.named_children:
            declared = _declared(child)
            name = _name(declared)
            if not name or declared.type not in _TYPES | _MEMBERS:
                below.append((child, symbol, context))
                continue
            own = f"{symbol}.{name}" if symbol else name
            sentence = _sentence(child, name)
            text = _dedented(child)
            if len(sentence.split()) >= LEAST_WORDS and text.count("\n") + 1 >= LEAST_LINES:
                yield Declaration(own, context, sentence, text[:LONGEST_TEXT])
            if declared.type in _TYPES:
                below.append((declared, own, _text(declared).partition("{")[0].strip().partition("\n")[0]))
        stack.extend(reversed(below))


def _declared(node: Node) -> Node:
    """The declaration inside an export statement; otherwise the node itself."""
    return next(iter(node.named_children[-1:]), node) if node.type in _WRAPPERS else node


def _name(node: Node) -> str:
    named = node.child_by_field_name("name")
    if named is None and node.type == "type_declaration":
        # Go: `type Name struct`; several in brackets have a comment each, which none of them here would be.
        named = next((one.child_by_field_name("name") for one in node.named_children if one.type == "type_spec"), None)
    return "" if named is None else _text(named)


def _sentence(node: Node, name: str) -> str:
    """The first sentence of the comment that ends on the line before a declaration; empty if there is none."""
    lines: list[str] = []
    row, before = node.start_point.row, node.prev_named_sibling
    while before is not None and before.type in _COMMENTS and _last_row(before) == row - 1:
        lines.insert(0, _text(before).replace("\r", ""))
        row, before = before.start_point.row, before.prev_named_sibling
    comment = _COMMENT_SIGNS.sub("", "\n".join(lines))
    comment = _TAG.sub(" ", _NAMED_TAG.sub(lambda match: match[1] or match[2], comment))
    sentence = first_sentence(comment.strip())
    # Go's comments begin with the name, which would make the answer trivial.
    sentence = sentence.removeprefix(f"{name} ")
    is_fit = _PLAIN.fullmatch(sentence) and not _NOT_A_DESCRIPTION.search(sentence)
    return sentence if is_fit else ""


def _last_row(node: Node) -> int:
    """The row of a node's last character: some grammars count the end of the line into a comment."""
    return node.end_point.row - (node.end_point.column == 0)


def _dedented(node: Node) -> str:
    indent = node.start_point.column
    first, *rest = _text(node).replace("\r", "").split("\n")
    return "\n".join([first, *(line[indent:] if line[:indent].isspace() else line for line in rest)])


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")
