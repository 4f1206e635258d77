"""Completes an index directory: the manifest with the checksums of its tables, all forced to disk."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from groundwire_index.graph.edges import EdgeTable
from groundwire_index.lexical.lexical import CODE, PROSE
from groundwire_index.scope import Scope
from groundwire_index.store.files import make_durable, sha256
from groundwire_index.store.manifest import FORMAT, FORMAT_VERSION, FileEntry, LexicalSpace, Manifest, VectorSpace
from groundwire_index.store.tables import LexicalSize

SKIPPED_FILE = "skipped.tsv"

_THREADED_BYTES = 1 << 24
"""Files of at least this total size in bytes are hashed by several threads; for less, starting them takes longer."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an index comes from, by its manifest.

    `tokenizers` are the fingerprints of those that made its lexical tables, by the table's name. `skipped` are paths of
    the source that could not be used, in whole or part, and why. `inputs` is as in `Manifest`.
    """

    scope: Scope
    created: datetime
    source: str
    token_counter: str
    token_counter_fingerprint: str
    vector_space: VectorSpace | None
    tokenizers: Mapping[str, str]
    skipped: Sequence[tuple[str, str]]
    inputs: str = ""


def seal_index(
    directory: Path, origin: Origin, node_count: int, edges: EdgeTable, lexical: Mapping[str, LexicalSize]
) -> Manifest:
    """Completes a directory that holds every table with its manifest, and forces all of it to disk."""
    (directory / SKIPPED_FILE).write_text("".join(f"{path}\t{why}\n" for path, why in origin.skipped), encoding="utf-8")
    spaces = {name: LexicalSpace(origin.tokenizers[name], *size) for name, size in lexical.items()}
    manifest = Manifest(
        format=FORMAT,
        format_version=FORMAT_VERSION,
        repository=origin.scope.repository,
        branch=origin.scope.branch,
        version=origin.scope.active_index,
        created=origin.created,
        source=origin.source,
        node_count=node_count,
        edge_count=len(edges),
        edge_types=edges.edge_types,
        vector_space=origin.vector_space,
        code=spaces.get(CODE),
        prose=spaces.get(PROSE),
        token_counter=origin.token_counter,
        token_counter_fingerprint=origin.token_counter_fingerprint,
        files=_seal(directory),
        inputs=origin.inputs,
    )
    manifest.write(directory)
    for path in (*directory.iterdir(), directory):
        make_durable(path)
    return manifest


def _seal(directory: Path) -> tuple[FileEntry, ...]:
    paths = sorted(directory.iterdir())
    sizes = [path.stat().st_size for path in paths]
    with ThreadPoolExecutor() as threads:
        checksums = (threads.map if sum(sizes) > _THREADED_BYTES else map)(sha256, paths)
        return tuple(map(FileEntry, (path.name for path in paths), sizes, checksums))
