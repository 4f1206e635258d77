"""Edges between the types of .proto files: which message or enum each name means."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.files.facts import ProtoFacts


class _Types:
    """The messages and enums of a tree by their names with the package before them."""

    def __init__(self, files: Iterable[ProtoFacts]) -> None:
        self._by_name: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for facts in files:
            for item in facts.types:
                self._by_name[_joined(facts.package, item.name)].append((facts.path, item.key))

    def find(self, facts: ProtoFacts, scope: str, name: str) -> str | None:
        """The node of the type that `name` means in the message `scope` of a file, None where that is not just one.

        A name is looked for in the innermost message first, then outwards to the package and beyond. Of types that are
        called the same, the file's own counts, else those of the files that it imports.
        """
        around = "" if name.startswith(".") else _joined(facts.package, scope)
        while True:
            found = self._by_name.get(_joined(around, name.removeprefix(".")), [])
            if found or not around:
                break
            around = around.rpartition(".")[0]
        own = [key for path, key in found if path == facts.path]
        imported = [key for path, key in found if any(f"/{path}".endswith(f"/{item}") for item, _ in facts.imports)]
        for keys in (own, imported, [key for _, key in found]):
            if keys:
                return keys[0] if len(keys) == 1 else None
        return None


def proto_edges(files: Iterable[ProtoFacts]) -> Iterator[SourceEdge]:
    """`References` from each rpc to its messages, and from each message to the types of its fields."""
    by_path = sorted(files, key=lambda facts: facts.path)
    types = _Types(by_path)
    for facts in by_path:
        for service in facts.services:
            for rpc in service.rpcs:
                for name in (rpc.request, rpc.response):
                    yield from _edge(types, facts, rpc.key, "", name, rpc.line)
        for item in facts.types:
            for name, line in item.references:
                yield from _edge(types, facts, item.key, item.name, name, line)


def _edge(types: _Types, facts: ProtoFacts, key: str, scope: str, name: str, line: int) -> Iterator[SourceEdge]:
    found = types.find(facts, scope, name)
    if found is not None and found != key:
        yield SourceEdge(key, found, "References", f"{facts.path}:{line}", line=line)


def _joined(first: str, second: str) -> str:
    return f"{first}.{second}" if first and second else first or second
