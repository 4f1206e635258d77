"""Prose as sections: one node for each heading, with the text up to the next heading of any level."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from groundwire_index.nodes.node import JsonValue
from groundwire_ingest.records import SourceNode
from groundwire_ingest.tree.chunk_writer import ChunkPlace, ChunkWriter
from groundwire_ingest.tree.chunking import split_lines

MAX_TITLE_CHARACTERS = 200
MAX_SLUG_CHARACTERS = 100
PATH_SEPARATOR = " > "

_OPERATIONS = re.compile(r"(?:^|[/_. -])(?:runbooks?|playbooks?|ops)(?:[/_. -]|$)")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its level, 1 at the top, its plain title and the 0-based line where its section begins."""

    level: int
    title: str
    line: int


@dataclass(frozen=True, slots=True)
class _Section:
    """The lines of a section, 0-based and end-exclusive; its heading is the first of them.

    `above` are the titles of the sections around it, from the top down; `titles` also has its own. Titles without text
    are left out; both are empty for text before the first heading.
    """

    first: int
    end: int
    above: tuple[str, ...]
    titles: tuple[str, ...]
    slug: str


def write_sections(
    writer: ChunkWriter,
    path: str,
    lines: Sequence[str],
    headings: Sequence[Heading],
    block_lines: Sequence[int],
    body_start: int = 0,
    metadata: Mapping[str, JsonValue] | None = None,
) -> None:
    """Writes a node for each section, and a Contains edge from each to its subsections.

    A section's local id is `<path>#<slug>`; the text before the first heading has `<path>`, and the front matter, the
    lines before `body_start`, `<path>#front-matter`. The section path is the titles from the top down to the
    section's own, joined by PATH_SEPARATOR, and the symbol is the same, or the file's name where there are none. The
    context prefix is the file's name and the titles above the text. A long section is cut before one of the sorted
    1-based `block_lines`.
    """
    written: list[SourceNode | None] = []
    name = PurePosixPath(path).name
    for section, parent in _sections(headings, body_start, len(lines)):
        blocks = block_lines[bisect_left(block_lines, section.first + 1) : bisect_right(block_lines, section.end)]
        spans = split_lines("".join(lines[section.first : section.end]), section.first + 1, blocks)
        wanted_id = f"{path}#{section.slug}" if section.slug else path
        section_path = PATH_SEPARATOR.join(section.titles)
        prefixes = (PATH_SEPARATOR.join((name, *titles)) for titles in (section.above, section.titles))
        place = ChunkPlace(section_path, *prefixes)
        node = writer.write(wanted_id, section_path or name, spans, metadata or {}, place)
        written.append(node)
        container = written[parent] if parent is not None else None
        if container is not None and node is not None:
            writer.contain(container, node)


def plain_title(text: str) -> str:
    """A title on one line, of at most MAX_TITLE_CHARACTERS."""
    return " ".join(text.split())[:MAX_TITLE_CHARACTERS]


def corpus_type_of(path: str) -> str:
    """DOC_README for a readme, DOC_RUNBOOK if the path names runbooks, playbooks or ops, else DOC_GENERAL."""
    if PurePosixPath(path).stem.lower().startswith("readme"):
        return "DOC_README"
    return "DOC_RUNBOOK" if _OPERATIONS.search(path.lower()) else "DOC_GENERAL"


def _sections(headings: Sequence[Heading], body_start: int, end: int) -> list[tuple[_Section, int | None]]:
    """Every section with the position of the one that contains it, in the file's order."""
    first_heading = headings[0].line if headings else end
    sections: list[tuple[_Section, int | None]] = [
        (_Section(0, body_start, (), (), "front-matter"), None),
        (_Section(body_start, first_heading, (), (), ""), None),
    ]
    open_headings: list[tuple[int, int]] = []
    ends = [*(heading.line for heading in headings[1:]), end]
    for heading, section_end in zip(headings, ends, strict=False):
        while open_headings and open_headings[-1][0] >= heading.level:
            open_headings.pop()
        parent = open_headings[-1][1] if open_headings else None
        above = sections[parent][0].titles if parent is not None else ()
        titles = (*above, heading.title) if heading.title else above
        open_headings.append((heading.level, len(sections)))
        sections.append((_Section(heading.line, section_end, above, titles, _slug(heading.title)), parent))
    return sections


def _slug(title: str) -> str:
    """The anchor of a heading as code hosting sites make it: lower case, no punctuation, hyphens for spaces."""
    slug = _NOT_IN_SLUG.sub("", title.lower()).strip().replace(" ", "-")
    return slug[:MAX_SLUG_CHARACTERS] or "section"
