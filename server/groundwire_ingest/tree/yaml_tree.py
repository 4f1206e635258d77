"""YAML as a tree of nodes with line numbers, read in one pass over the parser's events.

Aliases are not expanded, so the size of the tree is that of the text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import yaml
from yaml.reader import Reader, ReaderError

MAX_DEPTH = 200

_OTHER_LINE_ENDS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


@dataclass(slots=True)
class YamlNode:
    """A node of a document; `line` is the 1-based line where it begins, `end_line` that where a collection ends.

    `text` is the value of a scalar, "" otherwise; `is_plain`: it has no quotes. `anchor` is the node's own anchor, or
    the one that an alias names. The children of a mapping are its keys and values in turn.
    """

    kind: Literal["scalar", "alias", "mapping", "sequence"]
    line: int
    anchor: str = ""
    text: str = ""
    is_plain: bool = False
    children: Sequence["YamlNode"] = ()
    end_line: int = 0

    @property
    def is_collection(self) -> bool:
        """True if it is a mapping or a sequence."""
        return self.kind in ("mapping", "sequence")

    def pairs(self) -> Iterator[tuple["YamlNode", "YamlNode"]]:
        """The keys of a mapping with their values; none for any other node."""
        return zip(self.children[::2], self.children[1::2], strict=True) if self.kind == "mapping" else iter(())


@dataclass(frozen=True, slots=True)
class YamlKey:
    """A key of the top mapping (`path` of one) or of a mapping below it (of two), and its 1-based line.

    `scalar` is the value where that is a plain text, "" otherwise.
    """

    path: tuple[str, ...]
    line: int
    scalar: str = ""


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A document of a stream: the 1-based line where it begins, its `---` included, its root and its upper keys."""

    start_line: int
    root: YamlNode
    keys: tuple[YamlKey, ...]


class YamlError(Exception):
    """The text cannot be read as YAML; the message is the reason and `line` (1-based) the place."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def yaml_documents(text: str) -> tuple[YamlDocument, ...]:
    """The documents of `text` in order; lines end at a line feed only.

    Raises YamlError when the text is not YAML, or nests deeper than MAX_DEPTH: the time that the parser takes for a
    token grows with the depth.
    """
    try:
        return tuple(_documents(yaml.parse(_OTHER_LINE_ENDS.sub(" ", text), Loader=_LOADER)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(error.problem or "not YAML", mark.line + 1 if mark else 1) from error
    except ReaderError as error:
        bad = Reader.NON_PRINTABLE.search(text)
        line = text.count("\n", 0, bad.start()) + 1 if bad else 1
        raise YamlError(error.reason, line) from error


def _documents(events: Iterator[yaml.Event]) -> Iterator[YamlDocument]:
    start_line = 1
    around: list[list[YamlNode]] = [[]]
    opened: list[YamlNode] = []
    for event in events:
        line = event.start_mark.line + 1 if event.start_mark is not None else 1
        if isinstance(event, yaml.ScalarEvent):
            around[-1].append(YamlNode("scalar", line, event.anchor or "", event.value, event.implicit[0]))
        elif isinstance(event, yaml.AliasEvent):
            around[-1].append(YamlNode("alias", line, event.anchor or ""))
        elif isinstance(event, yaml.CollectionStartEvent):
            children: list[YamlNode] = []
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            anchor = event.anchor or ""
            opened.append(YamlNode("mapping" if is_mapping else "sequence", line, anchor, children=children))
            if len(opened) > MAX_DEPTH:
                raise YamlError(f"nested deeper than {MAX_DEPTH} levels", line)
            around[-1].append(opened[-1])
            around.append(children)
        elif isinstance(event, yaml.CollectionEndEvent):
            around.pop()
            opened.pop().end_line = _end_line(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            start_line = line
        elif isinstance(event, yaml.DocumentEndEvent):
            root = around[0].pop()
            yield YamlDocument(start_line, root, tuple(_keys(root)))


def _end_line(event: yaml.Event) -> int:
    """The line where a collection ends. The end mark of a block collection is empty and at the next token."""
    if event.start_mark is None or event.end_mark is None:
        return 0
    return event.end_mark.line + (event.start_mark.index != event.end_mark.index)


def _keys(root: YamlNode) -> Iterator[YamlKey]:
    for key, value in root.pairs():
        if key.kind == "scalar":
            yield YamlKey((key.text,), key.line, value.text)
            for inner, below in value.pairs():
                if inner.kind == "scalar":
                    yield YamlKey((key.text, inner.text), inner.line, below.text)
