"""Commands of Go programs, and code that starts the program itself with one: `exec.Command(executable, "scan")`."""

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Topic
from groundwire_ingest.tree.languages.nodes import FIRST, Nodes, arguments_of, children_of, field_of, line_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_STARTS: Mapping[tuple[str, ...], int] = {("exec", "Command"): 0, ("exec", "CommandContext"): 1}
_OWN_PATH = ("os", "Executable()")
_FIRST_ARGUMENT = "os.Args[0]"
# The fields with the name of a command, and those with what it runs: of cobra, urfave/cli and Caddy.
_NAMES = ("Use", "Name")
_RUNS = ("RunE", "Run", "Action", "Func")


def commands(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Topic]:
    """`&cobra.Command{Use: "scan"}` handles what starts the program itself with `scan`."""
    for node in nodes["composite_literal"]:
        if text_of(node, "type").rpartition(".")[2] == "Command":
            fields = {text_of(item, "key", FIRST): field_of(item, "value", FIRST) for item in children_of(node, "body")}
            named = next((value for value in map(fields.get, _NAMES) if value is not None), None)
            words = string_value(syntax, named).split() if named is not None and named.type in syntax.strings else []
            runs = next(filter(None, (syntax.value_path(fields.get(key)) for key in _RUNS)), "")
            for word in words[:1]:
                yield Topic(places.key(node), places.scope(node), _name(word), "", True, runs, line_of(node))
    own_paths = {places.scope(node): text_of(node, "left", FIRST) for node in _own_paths(syntax, nodes)}
    for node in nodes["call_expression"]:
        place = _STARTS.get(syntax.path(node.child_by_field_name("function"))[:2])
        arguments = arguments_of(node)[place:] if place is not None else []
        if len(arguments) < 2 or arguments[1].type not in syntax.strings:
            continue
        written = text_of(arguments[0])
        if written == _FIRST_ARGUMENT or (written and written == own_paths.get(places.scope(node))):
            name = _name(string_value(syntax, arguments[1]))
            yield Topic(places.key(node), places.scope(node), name, "", False, "", line_of(node))


def _own_paths(syntax: Syntax, nodes: Nodes) -> Iterator[Node]:
    """Where a variable is set to the path of the program that runs."""
    for node in nodes.of("short_var_declaration", "assignment_statement"):
        if syntax.path(field_of(node, "right", FIRST)) == _OWN_PATH:
            yield node


def _name(command: str) -> str:
    return f"command {command}"


GO_COMMANDS = Framework(languages="go", finders=(commands,))
