"""What Rust code takes from other modules."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Import
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, text_of


def rust_imports(nodes: Nodes) -> Iterator[Import]:
    """`use` one by one, and the modules that stand in files of their own.

    Paths are those of the file's own module: in a module with braces `super` leads out of that first.
    """
    for node in nodes["use_declaration"]:
        yield from _used(node)
    for node in nodes["mod_item"]:
        name = text_of(node.child_by_field_name("name"))
        if name and node.child_by_field_name("body") is None:
            yield Import("self", name, name, node.start_point.row + 1)


def _used(node: Node) -> Iterator[Import]:
    depth, line = _depth(node), node.start_point.row + 1
    argument = node.child_by_field_name("argument")
    pending = [("", argument)]
    while pending:
        prefix, item = pending.pop()
        if item is None:
            continue
        match item.type:
            case "scoped_use_list":
                inner = _joined(prefix, item.child_by_field_name("path"))
                listed = item.child_by_field_name("list")
                pending += [(inner, child) for child in reversed(listed.named_children if listed is not None else ())]
            case "use_list":
                pending += [(prefix, child) for child in reversed(item.named_children)]
            case "use_wildcard":
                yield Import(_outside(_joined(prefix, first_child(item)), depth), "*", "", line)
            case "use_as_clause":
                path = _joined(prefix, item.child_by_field_name("path"))
                yield _import(_outside(path, depth), text_of(item.child_by_field_name("alias")), line)
            case _:
                yield _import(_outside(_joined(prefix, item), depth), "", line)


def _import(path: str, alias: str, line: int) -> Import:
    path = path.removesuffix(".self")
    module, _, name = path.rpartition(".")
    return Import(module, name, "" if alias == "_" else alias or name, line)


def _joined(prefix: str, node: Node | None) -> str:
    written = "".join(text_of(node).split()).replace("::", ".").strip(".")
    return f"{prefix}.{written}" if prefix and written else prefix or written


def _depth(node: Node) -> int:
    """How many modules with braces there are around a node."""
    depth, around = 0, node.parent
    while around is not None:
        depth += around.type == "mod_item"
        around = around.parent
    return depth


def _outside(path: str, depth: int) -> str:
    """A path as the file's own module would write it."""
    for _ in range(depth):
        first, _, rest = path.partition(".")
        if first != "super":
            break
        path = rest if rest.startswith("super") else f"self.{rest}" if rest else "self"
    return path
