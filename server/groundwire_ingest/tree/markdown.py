"""Markdown files as nodes, one for each section, with what their front matter says of them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite

from markdown_it import MarkdownIt

from groundwire_index.nodes.node import JsonValue
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.timestamps import parse_timestamp
from groundwire_ingest.tree.change_logs import version_sections
from groundwire_ingest.tree.chunk_writer import ChunkClass, ChunkWriter
from groundwire_ingest.tree.chunking import MAX_CHUNK_CHARACTERS, lines_of
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.sections import Heading, corpus_type_of, plain_title, write_sections
from groundwire_ingest.tree.yaml_tree import YamlError, YamlNode, yaml_documents

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_JSON_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NULLS = frozenset({"", "~"})
_TIMES = ("updated", "date")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a document. `metadata` holds every key that is not used for author or timestamp."""

    author: str = ""
    timestamp: datetime | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of `text`, the lines between the fences. YAML that is no mapping has no keys.

    `author` is used if it is a text that is not blank; the timestamp is `updated`, else `date`, if that is a full date
    (midnight UTC) or a time with a zone. Raises YamlError for text that is no YAML or longer than a chunk, for a key
    given twice, and for aliases, which may expand without limit.
    """
    if len(text) > MAX_CHUNK_CHARACTERS:
        raise YamlError(f"it has {len(text)} characters; at most {MAX_CHUNK_CHARACTERS} are read for keys", 1)
    documents = yaml_documents(text)
    if len(documents) > 1:
        raise YamlError("it holds more than one YAML document", documents[1].start_line)
    value = _value(documents[0].root) if documents else None
    return _taken(value) if isinstance(value, dict) else FrontMatter()


def _taken(keys: dict[str, JsonValue]) -> FrontMatter:
    others = dict(keys)
    author = keys.get("author")
    name = author.strip() if isinstance(author, str) else ""
    if name:
        del others["author"]
    moments = ((key, _moment(keys.get(key))) for key in _TIMES)
    key, moment = next(((key, moment) for key, moment in moments if moment is not None), ("", None))
    others.pop(key, None)
    return FrontMatter(name, moment, others)


def _moment(value: JsonValue) -> datetime | None:
    if not isinstance(value, str):
        return None
    return parse_timestamp(f"{value}T00:00:00Z" if _DATE.fullmatch(value) else value)


def _value(node: YamlNode) -> JsonValue:
    match node.kind:
        case "scalar":
            return _scalar(node)
        case "sequence":
            return list(map(_value, node.children))
        case "alias":
            raise YamlError("it uses an alias (*name); write the value out", node.line)
    mapping: dict[str, JsonValue] = {}
    for key, value in node.pairs():
        if key.kind != "scalar" or key.text in mapping:
            raise YamlError("a key is no plain text, or is given twice", key.line)
        mapping[key.text] = _value(value)
    return mapping


def _scalar(node: YamlNode) -> JsonValue:
    if node.is_plain and node.text in _NULLS:
        return None
    if node.is_plain and _JSON_SCALAR.fullmatch(node.text):
        value: JsonValue = json.loads(node.text)
        return value if not isinstance(value, float) or isfinite(value) else node.text
    return node.text


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
    headings, end, left_out = version_sections(file.path, lines, headings)
    author, timestamp = front_matter.author, front_matter.timestamp
    corpus_type = corpus_type_of(file.path)
    writer = ChunkWriter(ChunkClass(file.path, KIND, "markdown", "doc", corpus_type, file.path, author, timestamp))
    write_sections(writer, file.path, lines[:end], headings, block_lines, body_start, front_matter.metadata)
    return writer.analysis((*skipped, *left_out))


def _front_matter(path: str, text: str) -> tuple[FrontMatter, tuple[SkippedFile, ...]]:
    try:
        return read_front_matter(text), ()
    except YamlError as error:
        why = f"front matter not read for keys, for at line {error.line + 1}: {error}"  # it begins below its fence
        return FrontMatter(), (SkippedFile(path, why),)


def _front_matter_lines(lines: Sequence[str]) -> int:
    """How many lines at the top are front matter, fences included; 0 when there is none or it does not end."""
    if not lines or _FRONT_MATTER_FENCE.fullmatch(lines[0]) is None:
        return 0
    return next((index + 1 for index in range(1, len(lines)) if _FRONT_MATTER_END.fullmatch(lines[index])), 0)


def _outline(lines: Sequence[str], body_start: int) -> tuple[Sequence[Heading], list[int]]:
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
