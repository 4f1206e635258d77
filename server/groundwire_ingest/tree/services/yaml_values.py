"""YAML documents as plain values: texts, lists and mappings, with aliases and merge keys resolved.

Every scalar is the text that it is written as: `8080` and `true` are texts. Tags are passed over and never run.
"""

import re
from collections.abc import Container
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from groundwire_ingest.tree.yaml_outline import YamlError, line_of, yaml_events

MAX_EXPANSION = 10_000_000

YamlValue: TypeAlias = "str | list[YamlValue] | dict[str, YamlValue]"

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")


class _MergeKey(str):
    """The key `<<` without quotes: its value's entries count as the mapping's own."""

    __slots__ = ()


@dataclass(slots=True)
class _Open:
    """An open collection: its anchor, how large the stream was before it, and what it holds so far.

    A mapping's children are its keys and values in turn.
    """

    anchor: str | None
    size_before: int
    children: list[YamlValue] = field(default_factory=list)


class _Values:
    """Builds the values of one document after the other; what aliases repeat is shared, not copied."""

    def __init__(self) -> None:
        self._size = 0
        self._anchors: dict[str, tuple[YamlValue, int]] = {}
        self._open = [_Open(None, 0)]

    def take(self, event: yaml.Event) -> None:
        """Moves on by one event of the parser. Raises YamlError when an alias names nothing or the size is exceeded."""
        if isinstance(event, yaml.ScalarEvent):
            is_merge_key = event.value == "<<" and event.implicit[0]
            size = len(event.value) + 1
            self._grow(size, event)
            self._arrive(_MergeKey(event.value) if is_merge_key else event.value, event.anchor, size)
        elif isinstance(event, yaml.CollectionStartEvent):
            if event.anchor is not None:
                self._anchors.pop(event.anchor, None)
            self._open.append(_Open(event.anchor, self._size))
            self._grow(1, event)
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = self._open.pop()
            is_mapping = isinstance(event, yaml.MappingEndEvent)
            value = _mapping(closed.children) if is_mapping else closed.children
            self._arrive(value, closed.anchor, self._size - closed.size_before)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise YamlError(f"the alias *{event.anchor} names no anchor that ends before it", line_of(event))
            target, size = self._anchors[event.anchor]
            self._grow(size, event)
            self._arrive(target, None, size)

    def finish(self) -> YamlValue:
        """The value of the document that has ended; "" for an empty one."""
        children = self._open[0].children
        self._open = [_Open(None, self._size)]
        self._anchors = {}
        return children[0] if children else ""

    def _grow(self, size: int, event: yaml.Event) -> None:
        self._size += size
        if self._size > MAX_EXPANSION:
            raise YamlError(f"aliases make more than {MAX_EXPANSION} values and characters of it", line_of(event))

    def _arrive(self, value: YamlValue, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, size)
        self._open[-1].children.append(value)


def yaml_values(text: str, wanted: Container[int]) -> dict[int, YamlValue]:
    """The values of the documents of `text` whose numbers, from 0, are `wanted`.

    Of a mapping only the keys that are scalars count, of equal keys the last; an entry of its own hides a merged one.
    Raises YamlError as `yaml_events` does, for an alias that names nothing or what it stands in, and when the
    documents, aliases written out, would hold more than MAX_EXPANSION values and characters. No walk over the values
    can take longer than that bound.
    """
    found: dict[int, YamlValue] = {}
    values = _Values()
    number = -1
    for event in yaml_events(text):
        if isinstance(event, yaml.DocumentStartEvent):
            number += 1
        elif number not in wanted:
            continue
        elif isinstance(event, yaml.DocumentEndEvent):
            found[number] = values.finish()
        else:
            values.take(event)
    return found


def below(value: YamlValue, *keys: str) -> YamlValue:
    """What stands in `value` under a path of keys; "" where there is nothing."""
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
    own: dict[str, YamlValue] = {}
    merged: dict[str, YamlValue] = {}
    for key, value in zip(children[::2], children[1::2], strict=True):
        if isinstance(key, _MergeKey):
            for source in value if isinstance(value, list) else [value]:
                for name, entry in entries(source).items():
                    merged.setdefault(name, entry)
        elif isinstance(key, str):
            own[key] = value
    return {**merged, **own}
