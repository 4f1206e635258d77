"""The vectors of a build: brought by the source, or embedded from the texts; written a block of rows at a time."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from groundwire.tokens import TokenCounter
from groundwire_index.embedding.embedder import ProbedEmbedder, TextEmbedder, unit_length
from groundwire_index.progress import Progress
from groundwire_index.store.manifest import VectorSpace
from groundwire_index.text.identifiers import identifiers, words_within
from groundwire_index.vectors.vector_file import VectorFile
from groundwire_ingest.build.spool import SpooledNodes
from groundwire_ingest.embedding.cache import EmbeddingCache
from groundwire_ingest.embedding.embed import put_known, put_missing, vectors_of
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SourceNode

PATH_SHARE = 0.15
"""The length of each of the two vectors that are added to a text's, which has length 1."""
UNIT_TOLERANCE = 1e-6
ROWS_A_BLOCK = 1024


def embed_nodes(
    directory: Path,
    nodes: SpooledNodes,
    embedder: TextEmbedder,
    cache: EmbeddingCache,
    progress: Progress,
    counter: TokenCounter,
    *,
    with_paths: bool,
) -> tuple[int, int]:
    """Writes the vectors of the nodes' texts; returns how many distinct ones were embedded, and had been before.

    With `with_paths`, the vectors of their files' paths are added, which are not counted.
    For a service, all tokens are counted before the first text is sent, though its own model may count otherwise.
    Raises what the embedder raises, and EmbeddingCacheError.
    """
    texts = _NodeTexts(nodes)
    with VectorFile(directory, len(nodes), embedder.dimension) as file:
        with progress.stage("Looking up", "texts") as report:
            store = _WithPaths(file, nodes, embedder, cache) if with_paths else file
            known_vectors = put_known(texts, embedder, cache, store, report)
        tokens, stage = array("q"), progress.stage("Embedding", "texts")
        if isinstance(embedder, ProbedEmbedder):
            tokens.extend(map(counter.count, known_vectors.missing_texts(texts)))
            stage = progress.stage("Embedding", "tokens", embedder.price)
        with stage as report:
            embedded = put_missing(known_vectors, texts, embedder, cache, store, report, tokens=tokens)
    return embedded, known_vectors.reused


def own_vectors_refused(nodes: SpooledNodes) -> IngestError:
    """The error for a source with vectors of its own when its texts would be embedded."""
    origin = next(node.origin for node in nodes if node.vector is not None)
    return IngestError(f"{origin}: the source brings its own vectors; give --embedder none, or drop them")


def write_own_vectors(
    directory: Path, nodes: SpooledNodes, dimension: int, rows_a_block: int = ROWS_A_BLOCK
) -> VectorSpace:
    """Writes the source's vectors at unit length. Raises IngestError unless every node has one of `dimension`."""
    without_direction = ""
    with VectorFile(directory, len(nodes), dimension) as file:
        for start in range(0, len(nodes), rows_a_block):
            rows = range(start, min(start + rows_a_block, len(nodes)))
            block = list(nodes.read(rows))
            for node in block:
                if len(node.vector or ()) != dimension:
                    raise IngestError(
                        f"{node.origin}: vector has {len(node.vector or ())} components, others have {dimension}"
                    )
            # Only once all are known to be of one dimension.
            without_direction = without_direction or _put_block(file, rows, block)
        if without_direction:
            raise IngestError(without_direction)
    return VectorSpace(embedder="", fingerprint="", dimension=dimension)


def _put_block(file: VectorFile, rows: range, nodes: Sequence[SourceNode]) -> str:
    """Writes the vectors of some rows; returns what is wrong with the first that has no direction."""
    vectors = np.asarray([node.vector for node in nodes], dtype=np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    for node, norm in zip(nodes, norms[:, 0], strict=True):
        if not 0.0 < norm < np.inf:
            return f"{node.origin}: vector has length {norm}, so no direction; give finite numbers, not all 0"
    # A vector that is of unit length in single precision stays as it is, so that an export comes back bit for bit.
    norms[np.abs(norms - 1.0) <= UNIT_TOLERANCE] = 1.0
    file.put(np.arange(rows.start, rows.stop), (vectors / norms).astype(np.float32))
    return ""


class _WithPaths:
    """Adds to the vectors of a file's nodes those of the words of its path and of its name (docs/adr/0069).

    A file's name often says what its nodes are for, and a long text has other words.
    """

    def __init__(self, file: VectorFile, nodes: SpooledNodes, embedder: TextEmbedder, cache: EmbeddingCache) -> None:
        self._file, self._embedder, self._cache = file, embedder, cache
        numbers = dict[str, int]()
        paths = (PurePosixPath(node.path) for node in nodes)
        wordings = ((_words(str(path.with_suffix("")) if path.name else ""), _words(path.stem)) for path in paths)
        both = [numbers.setdefault(wording, len(numbers)) for pair in wordings for wording in pair]
        self._wordings, self._of_rows = list(numbers), np.asarray(both, dtype=np.int32).reshape(-1, 2)

    def put(self, rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        numbers, places = np.unique(self._of_rows[rows], return_inverse=True)
        added = vectors_of([self._wordings[number] for number in numbers], self._embedder, self._cache)
        mixed = vectors + PATH_SHARE * added[places.reshape(-1, 2)].sum(axis=1)
        self._file.put(rows, np.stack([unit_length(vector) for vector in mixed]))


@dataclass(frozen=True, slots=True)
class _NodeTexts:
    """The text of each node that is embedded; empty for a node that gets no vector."""

    nodes: SpooledNodes

    def __len__(self) -> int:
        return len(self.nodes)

    def read(self, rows: Sequence[int]) -> Iterator[str]:
        for node in self.nodes.read(rows):
            is_snapshot = node.is_generated and _is_model_snapshot(node.path)
            yield "" if is_snapshot else embedded_text(node.symbol, node.context_prefix, node.text)


def _is_model_snapshot(path: str) -> bool:
    """True for the model of a database as Entity Framework writes it out, once and for each migration.

    In a large repository these are most of the text, and all say the same. They can be found by their words.
    """
    file = PurePosixPath(path.lower())
    is_in_migrations = not {"migration", "migrations"}.isdisjoint(file.parent.parts)
    return file.name.endswith("modelsnapshot.cs") or (is_in_migrations and file.name.endswith(".designer.cs"))


def embedded_text(symbol: str, context_prefix: str, text: str) -> str:
    """The text of a node that is embedded: the words of its qualified name, its context, a blank line, and its text.

    A name is split at case and underscores, because people ask in words (docs/adr/0029). It says nothing for a node
    without a text, which is not to be found by its name's meaning.
    """
    words = _words(symbol) if text.strip() else ""
    head = "\n".join(line for line in (words, context_prefix) if line)
    return f"{head}\n\n{text}" if head else text


def _words(names: str) -> str:
    return " ".join(word for name in identifiers(names) for word in words_within(name))
