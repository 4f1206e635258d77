"""Places where code sets a field of an object to something that has a name, in any language."""

from collections.abc import Iterator

from groundwire_ingest.tree.code_facts import FieldValue
from groundwire_ingest.tree.languages.nodes import Nodes, field_of, line_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.written_fields import WrittenField

_MEMBERS_OF_LITERALS = frozenset({"initializer_expression"})
_FUNCTIONS = frozenset(
    "func_literal lambda_expression anonymous_method_expression lambda arrow_function function_expression"
    " closure_expression anonymous_function".split()
)


def field_values(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[FieldValue]:
    """Fields that statements set, and those in objects that are written out, by the path of what they are set to."""
    for kind, (target, value) in syntax.settings.items():
        for node in nodes[kind]:
            if node.parent is not None and node.parent.type in _MEMBERS_OF_LITERALS:
                continue
            path, given = syntax.path(field_of(node, *target)), field_of(node, *value)
            if path and given is not None:
                yield from _stated(syntax, WrittenField(given, path[-1], "", ".".join(path[:-1])), places)
    for member in syntax.written_fields(nodes):
        yield from _stated(syntax, member, places)


def _stated(syntax: Syntax, member: WrittenField, places: Places) -> Iterator[FieldValue]:
    path = syntax.value_path(member.value)
    is_known = bool(path) or member.value.type in _FUNCTIONS
    if not is_known or path.endswith("()") or not member.name or member.name.endswith("()"):
        return
    if path and "." not in path and any(item.name == path for item in places.parameters_around(member.value)):
        return
    key, scope, line = places.key(member.value), places.scope(member.value), line_of(member.value)
    yield FieldValue(key, scope, member.holder, member.type_name, member.name, path, line)
