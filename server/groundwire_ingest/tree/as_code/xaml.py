"""The C# names in XAML: its class, the types and members that it binds to, and its handlers of events."""

from collections.abc import Iterator, Mapping, Sequence

from groundwire_ingest.tree.facts import CodeFacts, Definition, Reference
from groundwire_ingest.tree.files.facts import XamlFacts

_CLASS = 1


def xaml_facts(path: str, facts: XamlFacts, keys: Sequence[str]) -> CodeFacts:
    """A part of the class that the file states, in the file's first node; `keys` has the node of each line."""
    first = next(filter(None, keys))
    definitions = [Definition(first, "", "", "module", -1, 1)]
    if facts.class_name:
        name = facts.class_name.rpartition(".")[2]
        definitions.append(Definition(first, facts.class_name, name, "type", 0, 1, traits=frozenset({"partial"})))
    scope = len(definitions) - 1
    references = tuple(_references(facts, keys, first, scope))
    return CodeFacts(path, "csharp", tuple(definitions), references=references)


def _references(facts: XamlFacts, keys: Sequence[str], first: str, scope: int) -> Iterator[Reference]:
    namespaces = {prefix: _clr_namespace(uri) for prefix, uri in facts.namespaces}
    for name, line in (*facts.data_types, *facts.elements):
        yield Reference(keys[line - 1] or first, scope, _full_name(name, namespaces), line, "type")
    for binding in facts.bindings:
        if binding.data_type:
            path = f"{_full_name(binding.data_type, namespaces)}.{binding.path.partition('[')[0]}"
            yield Reference(keys[binding.line - 1] or first, scope, path, binding.line, "value")
    for handler, line in facts.handlers if scope == _CLASS else ():
        yield Reference(keys[line - 1] or first, scope, handler, line, "value")


def _clr_namespace(uri: str) -> str:
    """`Shop.Views` of `clr-namespace:Shop.Views;assembly=Shop` and `using:Shop.Views`."""
    for start in ("clr-namespace:", "using:"):
        if uri.startswith(start):
            return uri.removeprefix(start).partition(";")[0]
    return ""


def _full_name(name: str, namespaces: Mapping[str, str]) -> str:
    prefix, _, local = name.rpartition(":")
    return ".".join(filter(None, (namespaces.get(prefix, ""), local)))
