"""A field in an object that code writes out."""

from typing import NamedTuple

from tree_sitter import Node


class WrittenField(NamedTuple):
    """A field and what it is set to; `holder` and `type_name` as in `FieldValue`."""

    value: Node
    name: str
    type_name: str = ""
    holder: str = ""
