"""YAML documents as plain values: texts, lists and mappings, with aliases and merge keys resolved.

Every scalar is the text that it is written as: `8080` and `true` are texts. Tags are passed over and never run.
"""

import re
from collections.abc import Iterable
from typing import TypeAlias

from groundwire_ingest.tree.yaml_tree import YamlDocument, YamlError, YamlNode

MAX_EXPANSION = 10_000_000

YamlValue: TypeAlias = "str | list[YamlValue] | dict[str, YamlValue]"

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")


class _MergeKey(str):
    """The key `<<` without quotes: its value's entries count as the mapping's own."""

    __slots__ = ()


class _Values:
    """Builds the values of one document; what aliases repeat is shared, not copied."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._anchors: dict[str, tuple[YamlValue, int]] = {}

    def of(self, node: YamlNode) -> YamlValue:
        """The value of a node. Raises YamlError when an alias names nothing or the size is exceeded."""
        if node.kind == "alias":
            if node.anchor not in self._anchors:
                raise YamlError(f"the alias *{node.anchor} names no anchor that ends before it", node.line)
            repeated, size = self._anchors[node.anchor]
            self._grow(size, node.line)
            return repeated
        size_before = self.size
        self._grow(len(node.text) + 1, node.line)
        if node.kind == "scalar":
            value: YamlValue = _MergeKey(node.text) if node.text == "<<" and node.is_plain else node.text
        else:
            self._anchors.pop(node.anchor, None)
            children = list(map(self.of, node.children))
            value = _mapping(children) if node.kind == "mapping" else children
        if node.anchor:
            self._anchors[node.anchor] = (value, self.size - size_before)
        return value

    def _grow(self, size: int, line: int) -> None:
        self.size += size
        if self.size > MAX_EXPANSION:
            raise YamlError(f"aliases make more than {MAX_EXPANSION} values and characters of it", line)


def yaml_values(documents: Iterable[YamlDocument]) -> list[YamlValue]:
    """The values of documents of one text.

    Of a mapping only the keys that are scalars count, of equal keys the last; an entry of its own hides a merged one.
    Raises YamlError for an alias without an anchor or inside its own value, and when the documents, aliases written
    out, would hold more than MAX_EXPANSION values and characters. No walk over the values can take longer than that
    bound.
    """
    roots: list[YamlValue] = []
    size = 0
    for document in documents:
        values = _Values(size)
        roots.append(values.of(document.root))
        size = values.size
    return roots


def below(value: YamlValue, *keys: str) -> YamlValue:
    """The value in `value` under a path of keys; "" where there is none."""
    for key in keys:
        value = value.get(key, "") if isinstance(value, dict) else ""
    return value


def entries(value: YamlValue) -> dict[str, YamlValue]:
    """A mapping's entries; none for any other value."""
    return value if isinstance(value, dict) else {}


def items(value: YamlValue) -> list[YamlValue]:
    """A list's items; none for any other value."""
    return value if isinstance(value, list) else []


def scalar(value: YamlValue) -> str:
    """A scalar's text; "" for a list or a mapping."""
    return value if isinstance(value, str) else ""


def plain_name(value: YamlValue) -> str:
    """A scalar that can name a service: letters, digits, `_`, `.` and `-`, 200 at most; "" for anything else."""
    text = scalar(value)
    return text if _PLAIN_NAME.fullmatch(text) else ""


def _mapping(children: list[YamlValue]) -> dict[str, YamlValue]:
    own_values: dict[str, YamlValue] = {}
    merged: dict[str, YamlValue] = {}
    for key, value in zip(children[::2], children[1::2], strict=True):
        if isinstance(key, _MergeKey):
            for source in value if isinstance(value, list) else [value]:
                for name, entry in entries(source).items():
                    merged.setdefault(name, entry)
        elif isinstance(key, str):
            own_values[key] = value
    return {**merged, **own_values}
