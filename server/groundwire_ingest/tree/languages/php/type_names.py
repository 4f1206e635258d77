"""Names and types of PHP in the form that all languages share: dots for backslashes, in front of a full name too."""

from tree_sitter import Node

from groundwire_ingest.tree.languages.nodes import text_of
from groundwire_ingest.tree.languages.types import type_text


def php_name(node: Node | None) -> str:
    """The name with dots; it starts with one when it is full (`\\A\\B`)."""
    return text_of(node).replace("\\", ".")


def php_type(node: Node | None) -> str:
    """The type that a node writes, as `documented_type` has it."""
    return documented_type(text_of(node))


def documented_type(written: str) -> str:
    """The first type of a union that is something; `Foo[]` is `Array<Foo>`. A full name starts with a dot."""
    for part in written.replace("?", "").replace("(", "").replace(")", "").split("|"):
        found = type_text(part.replace("\\", "."))
        if found:
            return f".{found}" if part.startswith("\\") else found
    return ""
