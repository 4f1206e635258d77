"""GORM: the tables that Go code describes to it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import TableMapping
from groundwire_ingest.tree.languages.go.types import embedded, go_parameters
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, first_child, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax

CONVENTION_CONFIDENCE = 0.8
"""GORM names the table of a model after it, in small letters with underscores and in the plural, by default."""

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MODEL_TAG = re.compile(r'\bgorm:"[^"]*(?:primary_?key|foreignkey|many2many|column|index|autoincrement)', re.IGNORECASE)


def tables(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`TableName` methods that return a string, then models of GORM by its convention."""
    named: set[str] = set()
    for node in nodes["method_declaration"]:
        table = _returned_string(syntax, node.child_by_field_name("body"))
        if text_of(node.child_by_field_name("name")) == "TableName" and table:
            receiver = next(go_parameters(node.child_by_field_name("receiver") or node), None)
            entity = receiver.type_name.partition("<")[0] if receiver is not None else ""
            named.add(entity)
            yield TableMapping(places.key(node), places.scope(node), entity, table, 1.0)
    for node in nodes["type_spec"]:
        name, declared = text_of(node.child_by_field_name("name")), node.child_by_field_name("type")
        is_struct = declared is not None and declared.type == "struct_type"
        if is_struct and places.type_scope(node) and name not in named and _is_model(declared):
            yield TableMapping(places.key(node), places.scope(node), "", _table_of(name), CONVENTION_CONFIDENCE)


def _returned_string(syntax: Syntax, body: Node | None) -> str:
    """The string that a body consists of returning."""
    statements = first_child(body)
    returned = statements if statements is None or statements.type == "return_statement" else first_child(statements)
    value = first_child(first_child(returned)) if returned is not None else None
    return string_value(syntax, value) if value is not None and value.type in syntax.strings else ""


def _is_model(declared: Node | None) -> bool:
    """True if a struct embeds `gorm.Model` or has a field with a tag that says how it is kept."""
    if "gorm.Model" in embedded(declared):
        return True
    listed = first_child(declared)
    tags = (field.child_by_field_name("tag") for field in (children_of(listed)))
    return any(tag is not None and _MODEL_TAG.search((tag.text or b"").decode()) is not None for tag in tags)


def _table_of(name: str) -> str:
    words = "_".join(_WORDS.split(name)).lower()
    if words.endswith(("s", "x", "z", "ch", "sh")):
        return f"{words}es"
    return f"{words[:-1]}ies" if words.endswith("y") and words[-2:-1] not in "aeiou" else f"{words}s"


GORM = Framework(languages="go", finders=(tables,))
