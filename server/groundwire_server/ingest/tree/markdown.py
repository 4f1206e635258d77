"""Markdown files as sections: one node a heading, its text up to the next heading of any level."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from markdown_it import MarkdownIt

from groundwire_server.domain.nodes import JsonValue
from groundwire_server.ingest.records import SkippedFile, SourceNode
from groundwire_server.ingest.tree.chunk_writer import ChunkClass, ChunkPlace, ChunkWriter
from groundwire_server.ingest.tree.chunking import Span, lines_of, split_lines
from groundwire_server.ingest.tree.front_matter import FrontMatter, read_front_matter
from groundwire_server.ingest.tree.model import FileAnalysis, SourceFile
from groundwire_server.ingest.tree.yaml_outline import YamlError

KIND = "md"
MAX_TITLE_CHARACTERS = 200
MAX_SLUG_CHARACTERS = 100
PATH_SEPARATOR = " > "

_LONE_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")
_FRONT_MATTER_FENCE = re.compile(r"---[ \t]*\r?\n?")
_FRONT_MATTER_END = re.compile(r"(?:---|\.\.\.)[ \t]*\r?\n?")
_OPERATIONS = re.compile(r"(?:^|[/_. -])(?:runbooks?|playbooks?|ops)(?:[/_. -]|$)")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")
_TEXT_INLINES = frozenset({"text", "code_inline"})
_BLOCKS = MarkdownIt("commonmark").disable(["inline", "text_join"])
_INLINES = MarkdownIt("commonmark")


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading outside lists and quotes: its level (1 to 6), plain title and 0-based line."""

    level: int
    title: str
    line: int


@dataclass(frozen=True, slots=True)
class _Section:
    """A stretch of lines, 0-based and end-exclusive; its heading is the first of them.

    `above` are the titles of the sections around it, from the top down, `titles` the same with its own. Titles without
    text are left out; both are empty for what has no heading.
    """

    first: int
    end: int
    above: tuple[str, ...]
    titles: tuple[str, ...]
    slug: str


def markdown_analysis(file: SourceFile) -> FileAnalysis:
    """The sections of a Markdown file: nodes of kind `md`, and a Contains edge from each to its subsections.

    A section's local id is `<path>#<slug>`; what stands before the first heading is `<path>`, front matter
    `<path>#front-matter`. The section path is the titles from the top down to the section's own, joined by
    PATH_SEPARATOR, and the symbol is the same, or the file's name where there are none. The context prefix is the
    file's name and the titles above the text. Headings are those of CommonMark, so none is found in a code block.
    Every node has the author, the time and the other keys that the front matter gives; front matter that cannot be
    read for keys is named in `skipped`.
    """
    lines = lines_of(file.text)
    body_start = _front_matter_lines(lines)
    front_matter, skipped = _front_matter(file.path, "".join(lines[1 : max(body_start - 1, 0)]))
    headings, block_lines = _outline(lines, body_start)
    writer = ChunkWriter(_chunk_class(file.path, front_matter))
    written: list[SourceNode | None] = []
    for section, parent in _sections(headings, body_start, len(lines)):
        spans = _spans(section, lines, block_lines)
        node = _write_section(writer, file.path, section, spans, front_matter.metadata)
        written.append(node)
        container = written[parent] if parent is not None else None
        if container is not None and node is not None:
            writer.contain(container, node)
    return writer.analysis(skipped)


def _front_matter(path: str, text: str) -> tuple[FrontMatter, tuple[SkippedFile, ...]]:
    try:
        return read_front_matter(text), ()
    except YamlError as error:
        why = f"front matter not read for keys, for at line {error.line + 1}: {error}"  # it begins below its fence
        return FrontMatter(), (SkippedFile(path, why),)


def _chunk_class(path: str, front_matter: FrontMatter) -> ChunkClass:
    return ChunkClass(
        path,
        KIND,
        "markdown",
        "doc",
        _corpus_type(path),
        document_id=path,
        author=front_matter.author,
        timestamp=front_matter.timestamp,
    )


def _spans(section: _Section, lines: Sequence[str], block_lines: Sequence[int]) -> tuple[Span, ...]:
    """The section's text, cut before one of its blocks when it is long; none when it is blank."""
    blocks = block_lines[bisect_left(block_lines, section.first + 1) : bisect_right(block_lines, section.end)]
    return split_lines("".join(lines[section.first : section.end]), section.first + 1, blocks)


def _write_section(
    writer: ChunkWriter, path: str, section: _Section, spans: Sequence[Span], metadata: Mapping[str, JsonValue]
) -> SourceNode | None:
    name = PurePosixPath(path).name
    section_path = PATH_SEPARATOR.join(section.titles)
    return writer.write(
        f"{path}#{section.slug}" if section.slug else path,
        section_path or name,
        spans,
        metadata,
        ChunkPlace(
            section_path,
            context_prefix=PATH_SEPARATOR.join((name, *section.above)),
            part_prefix=PATH_SEPARATOR.join((name, *section.titles)),
        ),
    )


def _front_matter_lines(lines: Sequence[str]) -> int:
    """How many lines at the top are front matter, fences included; 0 when there is none or it does not end."""
    if not lines or _FRONT_MATTER_FENCE.fullmatch(lines[0]) is None:
        return 0
    return next((index + 1 for index in range(1, len(lines)) if _FRONT_MATTER_END.fullmatch(lines[index])), 0)


def _outline(lines: Sequence[str], body_start: int) -> tuple[list[_Heading], list[int]]:
    """The headings from line `body_start` on, and the 1-based lines where a block outside any other begins."""
    body = "\n" * body_start + "".join(lines[body_start:])
    tokens = _BLOCKS.parse(_LONE_CARRIAGE_RETURN.sub(" ", body))
    outer = [(token, index) for index, token in enumerate(tokens) if token.level == 0 and token.map is not None]
    headings = [
        _Heading(int(token.tag[1]), _plain(tokens[index + 1].content), token.map[0])
        for token, index in outer
        if token.type == "heading_open" and token.map is not None
    ]
    return headings, [token.map[0] + 1 for token, _ in outer if token.map is not None]


def _plain(title: str) -> str:
    """A heading's text without emphasis, links and code marks."""
    inlines = _INLINES.parseInline(title)
    children = inlines[0].children or [] if inlines else []
    text = "".join(child.content if child.type in _TEXT_INLINES else " " * (child.nesting == 0) for child in children)
    return " ".join(text.split())[:MAX_TITLE_CHARACTERS]


def _sections(headings: Sequence[_Heading], body_start: int, end: int) -> list[tuple[_Section, int | None]]:
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
    """The anchor that code hosts give a heading: lower case, punctuation left out, hyphens for spaces."""
    slug = _NOT_IN_SLUG.sub("", title.lower()).strip().replace(" ", "-")
    return slug[:MAX_SLUG_CHARACTERS] or "section"


def _corpus_type(path: str) -> str:
    """DOC_README for a readme, DOC_RUNBOOK where the path speaks of runbooks, playbooks or ops, else DOC_GENERAL."""
    if PurePosixPath(path).stem.lower().startswith("readme"):
        return "DOC_README"
    return "DOC_RUNBOOK" if _OPERATIONS.search(path.lower()) else "DOC_GENERAL"
