"""Rails: the associations of its models."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.code_facts import Binding
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_ONE = frozenset({"belongs_to", "has_one"})
_MANY = frozenset({"has_many", "has_and_belongs_to_many"})


def associations(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """The associations that a call in a class declares, by their names, with the models that these say."""
    for node in nodes["call"]:
        method, listed = text_of(node, "method"), children_of(node, "arguments")
        is_association = method in _ONE | _MANY and node.child_by_field_name("receiver") is None
        symbols = [child for child in listed if child.type == "simple_symbol"] if is_association else []
        if symbols:
            name = text_of(symbols[0]).lstrip(":")
            words = (name if method in _ONE else singular(name)).split("_")
            model = _class_name(syntax, listed) or "".join(word[:1].upper() + word[1:] for word in words)
            yield Binding(places.type_scope(node), name, f"Array<{model}>" if method in _MANY else model, False)


def _class_name(syntax: Syntax, listed: Sequence[Node]) -> str:
    """The class in `class_name:` of an association."""
    for pair in listed:
        value = pair.child_by_field_name("value")
        if text_of(pair, "key") == "class_name" and value is not None and value.type == "string":
            return string_value(syntax, value).replace("::", ".").lstrip(".")
    return ""


def singular(name: str) -> str:
    """The name without the ending of the plural, as far as it is regular."""
    for ending, replacement in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if name.endswith(ending):
            return name.removesuffix(ending) + replacement
    return name.removesuffix("s")


RAILS = Framework(languages="ruby", finders=(associations,))
