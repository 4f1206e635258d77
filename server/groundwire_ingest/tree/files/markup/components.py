"""Single-file components of Vue, Svelte and Astro: markup, scripts and styles, each as its own part."""

import re
from collections.abc import Iterator, Sequence

from groundwire_ingest.tree.files.facts import Attribute, CodePart, ComponentFacts, ComponentTag
from groundwire_ingest.tree.files.markup.elements import LineNumbers, element_parts, is_raw, raw_end, tags_of
from groundwire_ingest.tree.files.markup.tags import Tag
from groundwire_ingest.tree.files.markup.templates import tag_references
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.model import SourceFile

_FRONT_MATTER = re.compile(r"\s*---[ \t]*\r?\n(?s:(.*?))^---[ \t]*\r?$", re.MULTILINE)
_LANGUAGES = {"ts": "typescript", "typescript": "typescript", "tsx": "typescript"}
_BUILT_IN = frozenset({"template", "slot", "component", "transition", "keep-alive"})


def read_component(file: SourceFile) -> FileReading:
    """The script of a component, and Astro's part between the dashes, as nodes of their own, its elements as parts.

    The facts are ComponentFacts: each script with its language, and the elements that are components.
    """
    lines = LineNumbers(file.text)
    tags = list(tags_of(file.text))
    code = list(_scripts(file.text, tags, lines))
    parts = [_owned(part) for part in element_parts(file.text, tags, lines)]
    front_matter = _FRONT_MATTER.match(file.text) if file.language == "astro" else None
    if front_matter is not None:
        last_line = lines[front_matter.end() - 1]
        parts.append(Part(("script",), 1, last_line, is_own=True))
        code.insert(0, CodePart("script", front_matter.group(1), lines[front_matter.start(1)], "typescript"))
    facts = ComponentFacts(code=tuple(code), tags=tuple(_components(file.text, tags, lines)))
    references = tuple(tag_references(file, tags, lines))
    return FileReading(write_parts(file, parts), references, facts=facts)


def _owned(part: Part) -> Part:
    return Part(part.path, part.start_line, part.end_line, is_own=part.path[0].startswith("script"))


def _scripts(text: str, tags: Sequence[Tag], lines: LineNumbers) -> Iterator[CodePart]:
    for tag in tags:
        if tag.name.lower() == "script" and is_raw(tag):
            stated = {item.name: text[item.value_start : item.value_end] for item in tag.attributes}
            language = _LANGUAGES.get(stated.get("lang", ""), "javascript")
            inside = text[tag.end : raw_end(text, tag)]
            if inside.strip():
                yield CodePart("script", inside, lines[tag.end], language)


def _components(text: str, tags: Sequence[Tag], lines: LineNumbers) -> Iterator[ComponentTag]:
    for tag in tags:
        is_component = tag.name[0].isupper() or "-" in tag.name or "." in tag.name
        if is_component and not tag.is_closing and tag.name.lower() not in _BUILT_IN:
            attributes = tuple(
                Attribute(item.name, text[item.value_start : item.value_end], lines[item.start])
                for item in tag.attributes
            )
            yield ComponentTag(tag.name, lines[tag.start], attributes)
