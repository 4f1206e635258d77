"""From a source to a published index version: collect, count, embed, tokenise, write, publish, activate."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from groundwire.tokens import TokenCounter
from groundwire_server.domain.errors import IngestError
from groundwire_server.domain.nodes import Location, Node, content_hash
from groundwire_server.domain.scope import Scope
from groundwire_server.embedding.cache import EmbeddingCache
from groundwire_server.embedding.embed import embed_missing
from groundwire_server.embedding.embedder import Embedder
from groundwire_server.index.manifest import VectorSpace
from groundwire_server.index.store import IndexStore
from groundwire_server.index.writer import IndexContent, Lexicon, Tokens, Vectors, write_index
from groundwire_server.ingest.collect import Collected, collect, node_access
from groundwire_server.ingest.records import SkippedFile, Source, SourceNode, SourceRecord
from groundwire_server.text.code_tokenizer import TOKENIZER_FINGERPRINT, tokenize
from groundwire_server.text.prose_tokenizer import PROSE_TOKENIZER_FINGERPRINT, tokenize_prose

SYMBOL_WEIGHT = 3
"""How often BM25 counts a symbol's words: a name says more of a node than a word of its text (docs/quality.md)."""
EMBEDDING_CACHE_FILE = ".embeddings.sqlite3"
UNIT_TOLERANCE = 1e-6

Item = TypeVar("Item")
ProgressCallback: TypeAlias = Callable[[int, int], None]


class Progress(Protocol):
    """Shows how far a build is."""

    def stage(self, name: str) -> AbstractContextManager[ProgressCallback]:
        """Shows a stage while the context is open; the callback takes (done, total), total 0 when unknown."""
        ...


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What to build. `scope.active_index` names the version; `embedder` None means that texts are not embedded."""

    data: Path
    scope: Scope
    embedder: Embedder | None
    activate: bool = True
    skip_dangling_edges: bool = False


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What was built: counts, edges by type, what was left out, and how many texts were embedded or reused."""

    scope: Scope
    source: str
    node_count: int
    kinds: tuple[tuple[str, int], ...]
    edge_types: tuple[tuple[str, int], ...]
    skipped: tuple[SkippedFile, ...]
    dropped_edges: int
    embedded: int
    reused: int
    activated: bool


def build_index(source: Source, options: BuildOptions, progress: Progress) -> BuildReport:
    """Builds and publishes a version. Raises IngestError; then, and when interrupted, nothing was published."""
    store = IndexStore(options.data)
    store.check_free(options.scope)
    with progress.stage("Reading") as report:
        collected = collect(_counted(source, report), options.scope, skip_dangling_edges=options.skip_dangling_edges)
    counter = TokenCounter()
    with progress.stage("Counting tokens") as report:
        nodes = [
            _node(node, id_, options.scope, counter)
            for node, id_ in _reported(list(zip(collected.nodes, collected.ids, strict=True)), report)
        ]
    vectors, embedded, reused = _vectors(collected, options, progress)
    with progress.stage("Writing") as report, store.build(options.scope) as directory:
        content = IndexContent(
            scope=options.scope,
            created=datetime.now(UTC),
            source=source.description,
            token_counter=counter.name,
            token_counter_fingerprint=counter.fingerprint,
            nodes=nodes,
            edges=collected.edges,
            vectors=vectors,
            lexicon=Lexicon(
                code=Tokens(TOKENIZER_FINGERPRINT, _tokenised(nodes, tokenize, report)),
                prose=Tokens(PROSE_TOKENIZER_FINGERPRINT, _tokenised(nodes, tokenize_prose, report)),
            ),
            skipped=[(skipped.path, skipped.why) for skipped in collected.skipped],
        )
        write_index(directory, content)
    if options.activate:
        store.activate(options.scope)
    return BuildReport(
        scope=options.scope,
        source=source.description,
        node_count=len(nodes),
        kinds=tuple(sorted(Counter(node.kind for node in nodes).items())),
        edge_types=tuple(sorted(Counter(edge.edge_type for edge in collected.edges).items())),
        skipped=collected.skipped,
        dropped_edges=collected.dropped_edges,
        embedded=embedded,
        reused=reused,
        activated=options.activate,
    )


def _counted(source: Source, report: ProgressCallback) -> Iterator[SourceRecord]:
    for count, record in enumerate(source.read(), start=1):
        report(count, 0)
        yield record


def _reported(items: Sequence[Item], report: ProgressCallback) -> Iterator[Item]:
    for done, item in enumerate(items, start=1):
        yield item
        report(done, len(items))


def _node(node: SourceNode, id_: str, scope: Scope, counter: TokenCounter) -> Node:
    return Node(
        id=id_,
        kind=node.kind,
        local_id=node.local_id,
        text=node.text,
        token_count=counter.count(node.text),
        location=Location(node.path, node.start_line, node.end_line, content_hash(node.text)),
        symbol=node.symbol,
        signature=node.signature,
        language=node.language,
        data_type=node.data_type,
        corpus_type=node.corpus_type,
        collection_id=node.collection_id,
        case_id=node.case_id,
        document_id=node.document_id,
        document_version_id=node.document_version_id,
        chunk_index=node.chunk_index,
        is_latest=node.is_latest,
        deleted=node.deleted,
        service_name=node.service_name,
        repo_name=node.repo_name or scope.repository,
        section_path=node.section_path,
        author=node.author,
        channel=node.channel,
        timestamp=node.timestamp,
        source_uri=node.source_uri,
        context_prefix=node.context_prefix,
        access=node_access(node),
        metadata=node.metadata,
    )


def _tokenised(
    nodes: Sequence[Node], tokenizer: Callable[[str], list[str]], report: ProgressCallback
) -> Iterator[list[str]]:
    """The tokens of all that is searched for words, a node at a time: together they would fill the memory."""
    for node in _reported(nodes, report):
        searched = (*repeat(node.symbol, SYMBOL_WEIGHT), node.location.path, node.context_prefix, node.text)
        yield tokenizer(" ".join(field for field in searched if field))


def _embedded_text(node: SourceNode) -> str:
    return f"{node.context_prefix}\n\n{node.text}" if node.context_prefix else node.text


def _vectors(collected: Collected, options: BuildOptions, progress: Progress) -> tuple[Vectors | None, int, int]:
    own = [node for node in collected.nodes if node.vector is not None]
    if options.embedder is None:
        return (_own_vectors(collected.nodes) if own else None), 0, 0
    if own:
        raise IngestError(f"{own[0].origin}: the source brings its own vectors; give --embedder none, or drop them")
    embedder = options.embedder
    with EmbeddingCache(options.data / EMBEDDING_CACHE_FILE) as cache, progress.stage("Embedding") as report:
        result = embed_missing([_embedded_text(node) for node in collected.nodes], embedder, cache, report)
    space = VectorSpace(embedder.name, embedder.fingerprint, embedder.dimension)
    return Vectors(space, result.vectors, result.present), result.embedded, result.reused


def _own_vectors(nodes: Sequence[SourceNode]) -> Vectors:
    """The source's vectors scaled to unit length. Raises IngestError unless every node has one of one dimension."""
    dimension = max(len(node.vector or ()) for node in nodes)
    for node in nodes:
        if len(node.vector or ()) != dimension:
            raise IngestError(f"{node.origin}: vector has {len(node.vector or ())} components, others have {dimension}")
    rows = np.asarray([node.vector for node in nodes], dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    for node, norm in zip(nodes, norms[:, 0], strict=True):
        if not 0.0 < norm < np.inf:
            raise IngestError(
                f"{node.origin}: vector has length {norm}, so no direction; give finite numbers, not all 0"
            )
    # A vector that is of unit length in single precision stays as it is, so that an export comes back bit for bit.
    norms[np.abs(norms - 1.0) <= UNIT_TOLERANCE] = 1.0
    space = VectorSpace(embedder="", fingerprint="", dimension=dimension)
    return Vectors(space, (rows / norms).astype(np.float32), np.ones(len(rows), dtype=np.bool_))
