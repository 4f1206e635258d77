"""SQL in C# code: how the code builds statements and names, and the calls and properties that take them.

ADO.NET (`CommandText`, `CommandType`, `SqlBulkCopy`), Dapper and Entity Framework. Plain strings are read without this.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.languages.csharp.texts import are_plain, is_string, is_sum, operands, text_of_expression
from groundwire_ingest.tree.languages.nodes import (
    Nodes,
    child_of,
    children_of,
    field_of,
    first_child,
    given_in,
    has_child,
    last_child,
    line_of,
    text_of,
)
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.text_facts import BuiltText, PassedTexts, TextPart, TextRole, TextValue

_VERB = re.compile(
    r"\b(?:SELECT|INSERT|UPDATE|DELETE|MERGE|EXEC|EXECUTE|CALL|TRUNCATE|FROM|JOIN)\b", re.IGNORECASE | re.ASCII
)
_NAME = re.compile(r"[\w\[\]\".$]*+(?:\s++@\w.*+)?", re.DOTALL)
_MAX_NAME_CHARACTERS = 300
_PROCEDURE = "StoredProcedure"
_TAKING = ("CommandText", "DestinationTableName")
_STRING_TYPES = frozenset({"string", "String", "var"})


def text_values(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TextValue]:
    """The strings that variables, properties, parameters and methods without parameters have by the source."""
    stated = tuple(_stated(syntax, nodes, places))
    yield from stated
    yield from _assigned(syntax, nodes, places, frozenset(item.name for item in stated))


def _stated(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TextValue]:
    """The strings of declarations."""
    for node in nodes["variable_declaration"]:
        stated = text_of(node, "type").rstrip("?")
        for variable in node.named_children if stated in _STRING_TYPES else ():
            value = last_child(variable)
            is_set = variable.type == "variable_declarator" and value != variable.child_by_field_name("name")
            if is_set and (stated != "var" or _is_plain(value)):
                yield from _value(syntax, variable, text_of(variable, "name"), value, places)
    for node in nodes["property_declaration"]:
        if text_of(node, "type").rstrip("?") in _STRING_TYPES and not _is_open(node):
            yield from _value(syntax, node, text_of(node, "name"), _returned(node), places)
    for node in nodes["method_declaration"]:
        is_string_method = text_of(node, "returns").rstrip("?") in _STRING_TYPES
        if is_string_method and not children_of(node, "parameters"):
            yield from _value(syntax, node, f"{text_of(node, 'name')}()", _returned(node), places)
    yield from _defaults(syntax, nodes, places)


def _defaults(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TextValue]:
    """The strings that parameters are when nothing is given for them."""
    for node in nodes["parameter"]:
        name, default = node.child_by_field_name("name"), last_child(node)
        if is_string(default) and name is not None:
            text = text_of_expression(syntax, default)
            yield TextValue(places.scope(node), text_of(name), text, is_default=True)


def _is_plain(value: Node | None) -> bool:
    """True for an expression that is a string, or may be a constant that is one."""
    return value is not None and (
        is_string(value) or value.type in ("identifier", "member_access_expression") or is_sum(value)
    )


def _value(syntax: Syntax, node: Node, name: str, value: Node | None, places: Places) -> Iterator[TextValue]:
    text = text_of_expression(syntax, value) if value is not None else ()
    if text and name:
        yield TextValue(places.around(node), name, text)


def _is_open(node: Node) -> bool:
    """True if other classes may set a property."""
    is_public = any(child.type == "modifier" and child.text in (b"public", b"internal") for child in node.children)
    setters = (child for child in children_of(node, "accessors") if has_child(child, "set"))
    return is_public and any(child_of(setter, "modifier") is None for setter in setters)


def _returned(node: Node) -> Node | None:
    """The expression that a property or method consists of, or that a property starts with."""
    value = node.child_by_field_name("value") or node.child_by_field_name("body")
    if value is None:
        value = child_of(node, "arrow_expression_clause")
    if value is not None and value.type == "arrow_expression_clause":
        return first_child(value)
    if value is not None and value.type != "block":
        return value
    getter = next((item for item in children_of(node, "accessors") if has_child(item, "get")), None)
    body = value if value is not None else field_of(getter, "body")
    if body is not None and body.type == "arrow_expression_clause":
        return first_child(body)
    statements = given_in(body)
    is_return = len(statements) == 1 and statements[0].type == "return_statement"
    return first_child(statements[0]) if is_return else None


def _assigned(syntax: Syntax, nodes: Nodes, places: Places, stated: frozenset[str]) -> Iterator[TextValue]:
    """Statements that set a name to a string, or to anything else if a declaration has `stated` a string for it.

    A constructor may also set a name to that of a parameter.
    """
    for node in nodes["assignment_expression"]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        name = text_of(_last_name(left))
        is_perhaps = name in stated or _is_plain(right)
        is_of_other = node.parent is None or node.parent.type == "initializer_expression"
        target = ".".join(syntax.path(left)) if is_perhaps and not is_of_other else ""
        if target.removeprefix("this.") != name or not name:
            continue
        text = text_of_expression(syntax, right) if has_child(node, "=") else ()
        is_kept = bool(text) and places.definitions[places.scope(node)].name == _name_around(places, node)
        if name in stated or is_kept or any(not part.is_inserted for part in text):
            yield TextValue(places.scope(node), target, text, is_assigned=True)


def _last_name(node: Node | None) -> Node | None:
    """The name that a path ends with."""
    is_member = node is not None and node.type == "member_access_expression"
    return field_of(node, "name") if is_member else node


def _is_named(node: Node | None, names: Collection[str]) -> bool:
    """True if a node is one of some names; its text is read only if it is as long as one."""
    length = node.end_byte - node.start_byte if node is not None else 0
    return any(len(name) == length for name in names) and text_of(node) in names


def _name_around(places: Places, node: Node) -> str:
    """The name of the type around a node, which is that of its constructors."""
    return places.definitions[places.type_scope(node)].name


def built_texts(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[BuiltText]:
    """Strings with inserted values that may be SQL, and what stands where SQL is expected."""
    for node in nodes["interpolated_string_expression"]:
        if syntax.has_insertions(node) and not _is_in_sum(node):
            yield from _built(syntax, node, places)
    for node in nodes["binary_expression"]:
        if is_sum(node) and not _is_in_sum(node) and not are_plain(operands(node)):
            yield from _built(syntax, node, places)
    used = [*_used_as_sql(syntax, nodes, places)]
    yield from used
    yield from _handed_on(syntax, nodes, places, used)


def _used_as_sql(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[BuiltText]:
    """What stands where SQL, the name of a procedure or that of a table is expected."""
    procedures = _scopes_of_procedures(nodes, places)
    for node in nodes["assignment_expression"]:
        target = _last_name(node.child_by_field_name("left"))
        if _is_named(target, _TAKING):
            is_procedure = places.scope(node) in procedures
            is_table = text_of(target) != "CommandText"
            role: TextRole = "written" if is_table else "procedure" if is_procedure else "any"
            yield from _used(syntax, node, node.child_by_field_name("right"), role, places)
    for node in nodes["invocation_expression"]:
        arguments = given_in(node, "arguments")
        if any(_is_procedure(argument) for argument in arguments):
            yield from _used(syntax, node, _command(arguments), "procedure", places)
    for node in nodes["object_creation_expression"]:
        made = text_of(node, "type").rpartition(".")[2]
        if made.endswith("Command") and places.scope(node) in procedures:
            yield from _used(
                syntax, node, last_child(next(iter(given_in(node, "arguments")), None)), "procedure", places
            )


def _handed_on(syntax: Syntax, nodes: Nodes, places: Places, used: Iterable[BuiltText]) -> Iterator[BuiltText]:
    """The arguments for parameters that a method of this file uses as the name of a procedure."""
    positions: dict[str, int] = {}
    for item in used:
        definition = places.definitions[item.scope]
        names = [parameter.name for parameter in definition.parameters or ()]
        is_parameter = item.role == "procedure" and len(item.text) == 1 and item.text[0].is_inserted
        if is_parameter and item.text[0].text in names:
            positions[definition.name] = names.index(item.text[0].text)
    for node in nodes["invocation_expression"] if positions else ():
        callee = syntax.callee(node)
        position = positions.get(callee[1], -1) if callee is not None and callee[0] in ("", "this", "base") else -1
        arguments = given_in(node, "arguments")
        if 0 <= position < len(arguments) and all(not text_of(argument, "name") for argument in arguments):
            yield from _used(syntax, node, last_child(arguments[position]), "procedure", places)


def _is_in_sum(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type == "parenthesized_expression":
        parent = parent.parent
    return parent is not None and is_sum(parent)


def _built(syntax: Syntax, node: Node, places: Places) -> Iterator[BuiltText]:
    text = text_of_expression(syntax, node)
    if not text and is_string(node):
        text = (TextPart(string_value(syntax, node)),)
    said = "".join(part.text for part in text if not part.is_inserted)
    if said and (_VERB.search(said) or (len(said) <= _MAX_NAME_CHARACTERS and _NAME.fullmatch(said.strip()))):
        yield BuiltText(places.key(node), places.scope(node), text, line_of(node))


def _used(syntax: Syntax, node: Node, value: Node | None, role: TextRole, places: Places) -> Iterator[BuiltText]:
    text = text_of_expression(syntax, value) if value is not None else ()
    if text:
        yield BuiltText(places.key(node), places.scope(node), text, line_of(node), role)


def _scopes_of_procedures(nodes: Nodes, places: Places) -> frozenset[int]:
    """The definitions that set `CommandType` to a stored procedure."""
    assigned = (
        node
        for node in nodes["assignment_expression"]
        if _is_named(_last_name(node.child_by_field_name("left")), ("CommandType",))
    )
    return frozenset(places.scope(node) for node in assigned if text_of(node, "right").endswith(_PROCEDURE))


def _is_procedure(argument: Node) -> bool:
    value = last_child(argument)
    is_member = value is not None and value.type == "member_access_expression"
    return is_member and _is_named(_last_name(value), (_PROCEDURE,))


def _command(arguments: list[Node]) -> Node | None:
    """The argument that is the command: one of that name, else the first string, else the first argument."""
    values = [(text_of(argument, "name"), last_child(argument)) for argument in arguments]
    named = [value for name, value in values if name in ("sql", "commandText", "storedProcedure", "procedureName")]
    strings = [value for _, value in values if is_string(value) or (value is not None and is_sum(value))]
    return next(iter((*named, *strings, *(value for _, value in values))), None)


def passed_texts(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[PassedTexts]:
    """What constructors hand on: `: base("dbo", "Device")`, `: this("dbo")`, `class A(...) : B("dbo", "Device")`."""
    for node in nodes["constructor_initializer"]:
        listed = child_of(node, "argument_list")
        yield from _passed(syntax, places.scope(node), listed, has_child(node, "this"))
    for node in nodes["base_list"]:
        listed = child_of(node, "argument_list")
        if listed is None:
            listed = child_of(child_of(node, "primary_constructor_base_type"), "argument_list")
        yield from _passed(syntax, places.scope(node), listed, False)


def _passed(syntax: Syntax, scope: int, listed: Node | None, is_own: bool) -> Iterator[PassedTexts]:
    arguments = given_in(listed)
    texts = tuple(text_of_expression(syntax, last_child(argument)) for argument in arguments)
    if texts:
        names = tuple(text_of(argument, "name") for argument in arguments)
        yield PassedTexts(scope, texts, names, is_own)


SQL_CLIENTS = Framework(languages="csharp", finders=(text_values, built_texts, passed_texts))
