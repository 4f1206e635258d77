"""Makes nodes with unique ids of the parts of one document or deployment file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from groundwire_index.nodes.node import CONTAINS, JsonValue
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_ingest.tree.chunking import Span
from groundwire_ingest.tree.file_analysis import FileAnalysis


@dataclass(frozen=True, slots=True)
class ChunkClass:
    """The common fields of all chunks of a file; the rest is as in `SourceNode`."""

    path: str
    kind: str
    language: str
    data_type: str
    corpus_type: str
    document_id: str = ""
    author: str = ""
    timestamp: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """Where a text is in its document: `section_path`, and the `context_prefix` of its first chunk.

    Further chunks of the text have the prefix `part_prefix`, which also holds what only the first chunk shows, such as
    the heading.
    """

    section_path: str = ""
    context_prefix: str = ""
    part_prefix: str = ""


NOWHERE = ChunkPlace()


class ChunkWriter:
    """Collects the `nodes` and Contains edges of one file; `chunk_index` counts the nodes from 1."""

    def __init__(self, chunk_class: ChunkClass) -> None:
        self._class = chunk_class
        self._taken: dict[str, int] = {}
        self.nodes: list[SourceNode] = []
        self._edges: list[SourceEdge] = []

    def write(
        self,
        wanted_id: str,
        symbol: str,
        spans: Sequence[Span],
        metadata: Mapping[str, JsonValue],
        place: ChunkPlace = NOWHERE,
    ) -> SourceNode | None:
        """Adds a node for each span and returns the first; None without spans.

        The first has the local id `wanted_id`, with `~2`, `~3` ... if the file has used it before. Further nodes are
        parts of the first: their ids end in `@2`, `@3` ..., and a Contains edge leads to them.
        """
        if not spans:
            return None
        self._taken[wanted_id] = count = self._taken.get(wanted_id, 0) + 1
        local_id = wanted_id if count == 1 else f"{wanted_id}~{count}"
        first = self._node(local_id, symbol, spans[0], metadata, place)
        further = ChunkPlace(place.section_path, place.part_prefix)
        for number, span in enumerate(spans[1:], start=2):
            self.contain(first, self._node(f"{local_id}@{number}", symbol, span, metadata, further))
        return first

    def contain(self, whole: SourceNode, part: SourceNode) -> None:
        """Adds the Contains edge from `whole` to `part`."""
        self._edges.append(SourceEdge(whole.key, part.key, CONTAINS, part.origin))

    def analysis(self, skipped: tuple[SkippedFile, ...] = ()) -> FileAnalysis:
        """Everything written, in order, and what could not be used of the file."""
        return FileAnalysis(tuple(self.nodes), tuple(self._edges), skipped)

    def _node(
        self, local_id: str, symbol: str, span: Span, metadata: Mapping[str, JsonValue], place: ChunkPlace
    ) -> SourceNode:
        node = SourceNode(
            self._class.kind,
            local_id,
            span.text,
            f"{self._class.path}:{span.start_line}",
            path=self._class.path,
            start_line=span.start_line,
            end_line=span.end_line,
            symbol=symbol,
            language=self._class.language,
            data_type=self._class.data_type,
            corpus_type=self._class.corpus_type,
            document_id=self._class.document_id,
            chunk_index=len(self.nodes) + 1,
            section_path=place.section_path,
            author=self._class.author,
            timestamp=self._class.timestamp,
            context_prefix=place.context_prefix,
            metadata=metadata,
        )
        self.nodes.append(node)
        return node
