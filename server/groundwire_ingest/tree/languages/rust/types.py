"""Types of Rust in the form that all languages share."""

import re

from tree_sitter import Node

from groundwire_ingest.tree.languages.nodes import text_of
from groundwire_ingest.tree.languages.types import type_text

_LEFT_OUT = re.compile(r"'\w+\s*,?|\b(?:dyn|impl|mut)\b|[?]")
_SLICE = re.compile(r"[&*\s]*\[([^\];]+)")


def rust_type(node: Node | None) -> str:
    """The type without lifetimes and what tells how it is held; a slice of T is `Array<T>`."""
    written = _LEFT_OUT.sub("", text_of(node))
    slice_of = _SLICE.match(written)
    return type_text(f"[]{slice_of[1]}" if slice_of else written)
