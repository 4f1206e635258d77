"""JPA: the tables that entities map to, and what repositories for entities return."""

import re
from collections.abc import Iterator

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import TableMapping
from groundwire_ingest.tree.languages.java.annotations import annotations, strings
from groundwire_ingest.tree.languages.nodes import Nodes, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import arguments
from groundwire_ingest.tree.names.conventions import NameConventions

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


# Methods of repositories for entities: those that give one, and those that give several.
_OF_ENTITY = frozenset(
    """findById getById getOne getReferenceById findOne findFirst save saveAndFlush persist merge insert find
    findByIdOptional""".split()
)
_OF_ENTITIES = frozenset("findAll findAllById saveAll saveAllAndFlush list listAll streamAll".split())


def repository_result(method: str, base: str) -> str:
    """The entity type of a repository or service: its first type argument."""
    entity = next(iter(arguments(base)), "")
    if not entity or method not in _OF_ENTITY | _OF_ENTITIES:
        return ""
    return f"Array<{entity}>" if method in _OF_ENTITIES else f"Optional<{entity}>"


JPA = Framework(languages="java", finders=(tables,), names=NameConventions(inherited_result=repository_result))
