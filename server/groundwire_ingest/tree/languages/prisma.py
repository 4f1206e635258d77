"""Prisma schemas: models as types, with the client that Prisma generates from them."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundwire_index.scope import node_key
from groundwire_ingest.tree.chunk_writer import ChunkClass, ChunkPlace, ChunkWriter
from groundwire_ingest.tree.chunking import lines_of, split_lines
from groundwire_ingest.tree.code_facts import Binding, CodeAnalysis, CodeFacts, Definition, Reference
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.framework_facts import TableMapping

_LANGUAGE = "prisma"
_CLIENT = "PrismaClient"
_PACKAGE = "@prisma/client"
_BLOCK = re.compile(r"\s*(model|view|type|enum|datasource|generator)\s+(\w+)\s*\{")
_FIELD = re.compile(r"\s+(\w+)\s+(\w+)(\[\])?")
_MAPPED = re.compile(r'\s*@@map\(\s*(?:name:\s*)?"([^"]+)"')
_OUTPUT = re.compile(r'\s*output\s*=\s*"([^"]+)"')
_TYPES = frozenset({"model", "view", "type", "enum"})
_STORED = frozenset({"model", "view"})


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of the schema: `first` and `last` are 0-based rows, those of the comment above it included."""

    kind: str
    name: str
    first: int
    row: int
    last: int


class PrismaReader:
    """Reads schemas line by line, which is how they are written."""

    def read(self, file: SourceFile) -> CodeAnalysis:
        """A node for each model, view, type and enum, one for the rest, and what the generated client offers."""
        lines = lines_of(file.text)
        blocks = [block for block in _blocks(lines) if block.kind in _TYPES]
        writer = ChunkWriter(ChunkClass(file.path, _LANGUAGE, _LANGUAGE, "regular_code", "CODE_LOGIC"))
        held = {row for block in blocks for row in range(block.first, block.last + 1)}
        rest = "".join(line if row not in held else "\n" for row, line in enumerate(lines))
        whole = writer.write(file.path, "", split_lines(rest, 1), {})
        keys: list[str] = []
        for block in blocks:
            text = "".join(lines[block.first : block.last + 1])
            node_id, place = f"{file.path}#{block.name}", ChunkPlace(context_prefix=f"{block.kind} {block.name}")
            node = writer.write(node_id, block.name, split_lines(text, block.first + 1), {}, place)
            keys.append(node.key if node is not None else node_key(_LANGUAGE, file.path))
            if whole is not None and node is not None:
                writer.contain(whole, node)
        first_key = whole.key if whole is not None else next(iter(keys), node_key(_LANGUAGE, file.path))
        analysis = writer.analysis()
        if not analysis.nodes:
            return CodeAnalysis(FileAnalysis())
        return CodeAnalysis(analysis, _facts(file, lines, blocks, keys, first_key))


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    """The blocks in order; one that is not closed ends before the next."""
    comment = row = 0
    while row < len(lines):
        match = _BLOCK.match(lines[row])
        if match is None:
            is_comment = lines[row].lstrip().startswith("//")
            row += 1
            comment = comment if is_comment else row
            continue
        last = row
        while last + 1 < len(lines) and not lines[last].strip().endswith("}") and not _BLOCK.match(lines[last + 1]):
            last += 1
        yield _Block(match[1], match[2], comment, row, last)
        comment = row = last + 1


def _facts(
    file: SourceFile, lines: Sequence[str], blocks: Sequence[_Block], keys: Sequence[str], first_key: str
) -> CodeFacts:
    definitions = [
        Definition(first_key, "", "", "module", -1, 1),
        Definition(first_key, _CLIENT, _CLIENT, "type", 0, 1),
    ]
    types = {block.name for block in blocks}
    bindings: list[Binding] = []
    references: list[Reference] = []
    mappings: list[TableMapping] = []
    for block, key in zip(blocks, keys, strict=True):
        scope, line = len(definitions), block.row + 1
        definitions.append(Definition(key, block.name, block.name, "type", 0, line))
        inside = list(enumerate(lines[block.row + 1 : block.last + 1], block.row + 2))
        for at, match in ((at, _FIELD.match(text)) for at, text in inside):
            if match is not None and match[2] in types:
                written = f"Array<{match[2]}>" if match[3] else match[2]
                bindings.append(Binding(scope, match[1], written, True))
                references.append(Reference(key, scope, match[2], at, "type"))
        if block.kind in _STORED:
            name = block.name[0].lower() + block.name[1:]
            definitions.append(Definition(key, f"{_CLIENT}.{name}", name, "value", 1, line, result=block.name))
            mapped = next((match[1] for _, text in inside if (match := _MAPPED.match(text))), block.name)
            mappings.append(TableMapping(key, scope, "", mapped, 1.0))
    return CodeFacts(
        path=file.path,
        language=_LANGUAGE,
        definitions=tuple(definitions),
        bindings=tuple(bindings),
        references=tuple(references),
        mappings=tuple(mappings),
        imported_as=(_PACKAGE, *_outputs(file, lines)),
    )


def _outputs(file: SourceFile, lines: Sequence[str]) -> Iterator[str]:
    """The modules that the client is generated into."""
    for match in filter(None, map(_OUTPUT.match, lines)):
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), match[1]))
        yield from (f"{folder}/index.ts", f"{folder}/client.ts", f"{folder}/browser.ts", f"{folder}/models.ts")
