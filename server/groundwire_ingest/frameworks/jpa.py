"""JPA: the tables that entities map to."""

import re
from collections.abc import Iterator

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import TableMapping
from groundwire_ingest.tree.languages.java.annotations import annotations, strings
from groundwire_ingest.tree.languages.nodes import Nodes, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax

CONVENTION_CONFIDENCE = 0.8
"""An entity's table has its name, in small letters with underscores under Spring, by default."""

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def tables(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`@Table(name = "x", schema = "s")` on a class, else `@Entity` by its own name."""
    for node in nodes["class_declaration"]:
        given_annotations = dict(annotations(node))
        scope, key = places.scope(node), places.key(node)
        table = given_annotations.get("Table")
        names = strings(syntax, table, "name", "value") if table is not None else []
        if names and table is not None:
            schema = strings(syntax, table, "schema")[:1]
            yield TableMapping(key, scope, "", ".".join([*schema, names[0]]), 1.0)
        elif "Entity" in given_annotations:
            stated = strings(syntax, given_annotations["Entity"], "name")
            name = (stated or [text_of(node.child_by_field_name("name"))])[0]
            yield TableMapping(key, scope, "", "_".join(_WORDS.split(name)).lower(), CONVENTION_CONFIDENCE)


JPA = Framework(languages="java", finders=(tables,))
