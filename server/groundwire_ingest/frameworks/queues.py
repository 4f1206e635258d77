"""Queues of Bull and BullMQ: `queue.add("resize", data)` to `@Process("resize")` or the worker of the queue."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Topic
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, first_child, line_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.conventions import decorators_of, members_of
from groundwire_ingest.tree.languages.typescript.shapes import CLASS_NODES

_PACKAGES = re.compile(r"(?:@nestjs/)?bull(?:mq)?|bee-queue")
_QUEUES = frozenset({"Queue", "Bull"})
_ADDS = frozenset({"add", "addBulk", "createJob"})
_ANY_JOB = "*"
_UNKNOWN_JOB = "?"
_FIELDS = ("public_field_definition", "required_parameter", "optional_parameter")


@dataclass(frozen=True, slots=True)
class _Handler:
    """The definition that does the jobs of a queue, or the path that leads to it; `job` is empty for all jobs."""

    node: Node
    queue: str
    job: str
    scope: int
    path: str = ""


def jobs(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Topic]:
    """The jobs that a file puts into queues, and those that it does; only in files that import such a library.

    A queue and a job are known by their string, or by the constant that both sides write for it.
    """
    if not any(_PACKAGES.fullmatch(item.module) for item in syntax.imports(nodes)):
        return
    queues = _queues(syntax, nodes)
    for handler in (*_processors(syntax, nodes, places), *_workers(syntax, nodes, places, queues)):
        for job in (handler.job or _ANY_JOB, _UNKNOWN_JOB):
            key, line = places.key(handler.node), line_of(handler.node)
            yield Topic(key, handler.scope, _name(handler.queue, job), "", True, handler.path, line)
    for node in nodes["call_expression"]:
        path = syntax.path(node.child_by_field_name("function"))
        queue = queues.get(".".join(path[:-1]).removeprefix("this."), "") if path and path[-1] in _ADDS else ""
        if queue:
            given = _written(syntax, first_child(node, "arguments")) if path[-1] == "add" else ""
            for job in (given, _ANY_JOB) if given else (_UNKNOWN_JOB,):
                yield Topic(places.key(node), places.scope(node), _name(queue, job), "", False, "", line_of(node))


def _queues(syntax: Syntax, nodes: Nodes) -> dict[str, str]:
    """The names of queues by the variables and fields that hold them."""
    queue_of_name: dict[str, str] = {}
    for node in nodes.of(*_FIELDS):
        name = text_of(node.child_by_field_name("pattern") or node.child_by_field_name("name"))
        for decorator in node.children:
            call = first_child(decorator) if decorator.type == "decorator" else None
            if call is not None and text_of(call, "function") == "InjectQueue":
                queue_of_name[name] = _written(syntax, first_child(call, "arguments")) or "default"
    for node in nodes.of("variable_declarator", "assignment_expression", "public_field_definition"):
        target = node.child_by_field_name("name") or node.child_by_field_name("left")
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if value is not None and value.type == "new_expression" and text_of(value, "constructor") in _QUEUES:
            path = ".".join(syntax.path(target)) or text_of(target)
            queue_of_name[path.removeprefix("this.")] = _written(syntax, first_child(value, "arguments"))
    return {name: queue for name, queue in queue_of_name.items() if name and queue}


def _processors(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[_Handler]:
    """The methods with `@Process("job")` of a class with `@Processor("queue")`; else its method `process`."""
    for node in nodes.of(*sorted(CLASS_NODES)):
        call = next((item for item in map(first_child, decorators_of(node)) if _is_call(item, "Processor")), None)
        body = node.child_by_field_name("body")
        if call is None or body is None:
            continue
        queue = _written(syntax, first_child(call, "arguments")) or "default"
        held: list[Node] = []
        for member in body.named_children:
            if member.type == "decorator":
                held.append(member)
                continue
            marks = [value for value in map(first_child, held) if _is_call(value, "Process")]
            held = []
            if member.type != "method_definition":
                continue
            for mark in marks:
                job = _written(syntax, first_child(mark, "arguments"))
                yield _Handler(member, queue, job, places.declared(member))
            if not marks and text_of(member, "name") == "process":
                yield _Handler(member, queue, "", places.declared(member))


def _workers(syntax: Syntax, nodes: Nodes, places: Places, queues: dict[str, str]) -> Iterator[_Handler]:
    """`new Worker("queue", work)`, `queue.process("job", work)`."""
    for node in nodes["new_expression"]:
        arguments = arguments_of(node)
        if text_of(node, "constructor") == "Worker" and len(arguments) > 1:
            queue = _written(syntax, arguments[0])
            if queue:
                yield _handled_by(syntax, node, queue, "", arguments[1], places)
    for node in nodes["call_expression"]:
        path, arguments = syntax.path(node.child_by_field_name("function")), arguments_of(node)
        queue = queues.get(".".join(path[:-1]).removeprefix("this."), "") if path and path[-1] == "process" else ""
        if queue and arguments:
            job = _written(syntax, arguments[0]) if len(arguments) > 1 and arguments[0].type != "number" else ""
            yield _handled_by(syntax, node, queue, job, arguments[-1], places)


def _handled_by(syntax: Syntax, node: Node, queue: str, job: str, handler: Node, places: Places) -> _Handler:
    """The function that a call is given, or the definition around one that is written out there."""
    path = syntax.value_path(handler)
    scope = places.scope(node) if path else places.scope(handler.child_by_field_name("body") or handler)
    return _Handler(node, queue, job, scope, path)


def _is_call(value: Node | None, name: str) -> bool:
    return value is not None and value.type == "call_expression" and text_of(value, "function") == name


def _written(syntax: Syntax, value: Node | None) -> str:
    """The string that names a queue or a job, or the path of a constant; of options their name."""
    if value is None:
        return ""
    if value.type == "object":
        members = members_of(value)
        return _written(syntax, next((members[key] for key in ("name", "queue") if key in members), None))
    if value.type in syntax.strings:
        return string_value(syntax, value)
    path = syntax.value_path(value)
    # A variable in small letters is a value of the moment, such as a parameter.
    is_constant = path[-1:] != ")" and any(part[:1].isupper() for part in path.split("."))
    return path if is_constant else ""


def _name(queue: str, job: str) -> str:
    return f"queue {queue} {job}"


QUEUES = Framework(languages="typescript javascript", finders=(jobs,))
