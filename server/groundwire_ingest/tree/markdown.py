"""Markdown files as nodes, one for each section."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.chunk_writer import ChunkClass, ChunkWriter
from groundwire_ingest.tree.chunking import lines_of
from groundwire_ingest.tree.front_matter import FrontMatter, read_front_matter
from groundwire_ingest.tree.model import FileAnalysis, SourceFile
from groundwire_ingest.tree.sections import Heading, corpus_type_of, plain_title, write_sections
from groundwire_ingest.tree.yaml_tree import YamlError

KIND = "md"

_LONE_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")
_FRONT_MATTER_FENCE = re.compile(r"---[ \t]*\r?\n?")
_FRONT_MATTER_END = re.compile(r"(?:---|\.\.\.)[ \t]*\r?\n?")
_TEXT_INLINES = frozenset({"text", "code_inline"})
_BLOCKS = MarkdownIt("commonmark").disable(["inline", "text_join"])
_INLINES = MarkdownIt("commonmark")


def markdown_analysis(file: SourceFile) -> FileAnalysis:
    """The sections of a Markdown file: nodes of kind `md`, named and nested as `write_sections` does.

    Headings are those of CommonMark outside of lists and quotes, so none is found in a code block. Every node has the
    author, timestamp and other keys of the front matter; front matter that cannot be parsed is named in `skipped`.
    """
    lines = lines_of(file.text)
    body_start = _front_matter_lines(lines)
    front_matter, skipped = _front_matter(file.path, "".join(lines[1 : max(body_start - 1, 0)]))
    headings, block_lines = _outline(lines, body_start)
    writer = ChunkWriter(_chunk_class(file.path, front_matter))
    write_sections(writer, file.path, lines, headings, block_lines, body_start, front_matter.metadata)
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
        corpus_type_of(path),
        document_id=path,
        author=front_matter.author,
        timestamp=front_matter.timestamp,
    )


def _front_matter_lines(lines: Sequence[str]) -> int:
    """How many lines at the top are front matter, fences included; 0 when there is none or it does not end."""
    if not lines or _FRONT_MATTER_FENCE.fullmatch(lines[0]) is None:
        return 0
    return next((index + 1 for index in range(1, len(lines)) if _FRONT_MATTER_END.fullmatch(lines[index])), 0)


def _outline(lines: Sequence[str], body_start: int) -> tuple[list[Heading], list[int]]:
    """The headings from line `body_start` on, and the 1-based lines where a block outside any other begins."""
    body = "\n" * body_start + "".join(lines[body_start:])
    tokens = _BLOCKS.parse(_LONE_CARRIAGE_RETURN.sub(" ", body))
    outer = [(token, index) for index, token in enumerate(tokens) if token.level == 0 and token.map is not None]
    headings = [
        Heading(int(token.tag[1]), _plain(tokens[index + 1].content), token.map[0])
        for token, index in outer
        if token.type == "heading_open" and token.map is not None
    ]
    return headings, [token.map[0] + 1 for token, _ in outer if token.map is not None]


def _plain(title: str) -> str:
    """A heading's text without emphasis, links and code marks."""
    inlines = _INLINES.parseInline(title)
    children = inlines[0].children or [] if inlines else []
    return plain_title(
        "".join(child.content if child.type in _TEXT_INLINES else " " * (child.nesting == 0) for child in children)
    )
