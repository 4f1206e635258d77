"""The elements of a text of markup, with their lines, however badly its tags are nested."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate

from groundwire_ingest.tree.files.facts_about_code import Attribute, ComponentTag
from groundwire_ingest.tree.files.markup.tags import RAW_ELEMENTS, VOID_ELEMENTS, Tag, read_tag
from groundwire_ingest.tree.files.parts import Part

MAX_ELEMENT_DEPTH = 12


class LineNumbers:
    """The 1-based lines of the offsets of a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def __getitem__(self, offset: int) -> int:
        return bisect_right(self._starts, offset)


def tags_of(text: str) -> Iterator[Tag]:
    """The tags of a text; comments, scripts, styles and the like are passed over up to their end tags."""
    position = text.find("<")
    while position >= 0:
        tag = read_tag(text, position)
        if tag is not None:
            yield tag
            position = raw_end(text, tag) if is_raw(tag) else tag.end
        else:
            position = comment_end(text, position) if text.startswith("<!--", position) else position + 1
        position = text.find("<", position)


def is_raw(tag: Tag) -> bool:
    """True if what follows a tag is text up to its end tag, whatever it looks like."""
    return tag.name.lower() in RAW_ELEMENTS and not tag.is_closing and not tag.is_self_closing


def raw_end(text: str, tag: Tag) -> int:
    """The offset of the end tag of an element that holds raw text; the end of the text without one."""
    closing = re.compile(f"</{re.escape(tag.name)}", re.IGNORECASE).search(text, tag.end)
    return len(text) if closing is None else closing.start()


def comment_end(text: str, start: int) -> int:
    """The offset behind the comment that begins at `start`; the end of the text when it has no end."""
    closing = text.find("-->", start)
    return len(text) if closing < 0 else closing + 3


def element_parts(text: str, tags: Sequence[Tag], lines: LineNumbers) -> list[Part]:
    """The elements of several lines, MAX_ELEMENT_DEPTH deep, named `tag#id` or else `tag.class`.

    An end tag closes the innermost open element of its name, and with it those inside that are still open; one that
    closes nothing counts for nothing.
    """
    parts: list[Part] = []
    opened: list[Tag] = []
    open_names: defaultdict[str, int] = defaultdict(int)
    for tag in tags:
        name = tag.name.lower()
        if not tag.is_closing:
            if not tag.is_self_closing and name not in VOID_ELEMENTS:
                opened.append(tag)
                open_names[name] += 1
            continue
        while open_names[name]:
            inner = opened.pop()
            open_names[inner.name.lower()] -= 1
            if inner.name.lower() == name:
                first, last = lines[inner.start], lines[tag.end - 1]
                if last > first and len(opened) < MAX_ELEMENT_DEPTH:
                    parts.append(Part((element_name(text, inner),), first, last))
                break
    return parts


def component_tag(text: str, tag: Tag, lines: LineNumbers) -> ComponentTag:
    """A tag with its attributes as they are written."""
    attributes = tuple(
        Attribute(item.name, text[item.value_start : item.value_end], lines[item.start]) for item in tag.attributes
    )
    return ComponentTag(tag.name, lines[tag.start], attributes)


def element_name(text: str, tag: Tag) -> str:
    """`tag#id`, else `tag.class` by its first class, else the tag."""
    values = {item.name: text[item.value_start : item.value_end].split() for item in tag.attributes}
    if values.get("id"):
        return f"{tag.name}#{values['id'][0]}"
    return f"{tag.name}.{values['class'][0]}" if values.get("class") else tag.name
