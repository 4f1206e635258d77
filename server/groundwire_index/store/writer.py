"""Writes an index directory: its tables, and then the manifest with their checksums, all forced to disk.

Each table is made of all segments of the rows and by itself, several at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

from groundwire_index.files.durable_files import make_durable, of_each_file, sha256
from groundwire_index.files.segment import Segment
from groundwire_index.graph.edges import EdgeTable, write_edges, write_service_edges
from groundwire_index.lexical.lexical import CODE, PROSE, write_lexical
from groundwire_index.lexical.name_table import write_names
from groundwire_index.lexical.term_runs import write_merged_postings
from groundwire_index.nodes.categories import write_categories
from groundwire_index.nodes.metadata_terms import METADATA_TERMS
from groundwire_index.nodes.node_table import NodeTable, write_node_table
from groundwire_index.nodes.policies import write_policies_of
from groundwire_index.nodes.reading_order import write_reading_order
from groundwire_index.nodes.source_texts import write_source_texts
from groundwire_index.progress import ProgressCallback
from groundwire_index.scope import Scope
from groundwire_index.store.manifest import (
    CHECKSUM_FILE,
    FORMAT,
    FORMAT_VERSION,
    MANIFEST_FILE,
    FileEntry,
    LexicalSpace,
    Manifest,
    VectorSpace,
)

LexicalSize: TypeAlias = tuple[int, int]
"""The counts of terms and of postings."""
Job: TypeAlias = Callable[[], LexicalSize | None]
RunJobs: TypeAlias = Callable[[Sequence[Job]], Sequence[LexicalSize | None]]
"""Runs jobs that can be pickled, in any order, and gives what they return in theirs."""


def run_one_by_one(jobs: Sequence[Job]) -> Sequence[LexicalSize | None]:
    """Runs jobs in this process."""
    return [job() for job in jobs]


def write_tables(
    directory: Path,
    scope: Scope,
    segments: Sequence[Segment],
    edges: EdgeTable,
    texts: Mapping[str, str],
    lexical_tables: Sequence[str],
    scratch: Path,
    run_jobs: RunJobs = run_one_by_one,
) -> dict[str, LexicalSize]:
    """Writes every table but the vectors; returns the sizes of the lexical tables by name.

    `texts` are those of the files that nodes come from, by path.
    """
    # The longest first, so that no processor is left waiting for one of them at the end.
    jobs: list[Job] = [partial(write_lexical, directory, name, segments) for name in lexical_tables]
    jobs.append(partial(write_names, directory, segments, scratch))
    jobs.append(partial(write_merged_postings, directory, METADATA_TERMS, segments))
    jobs.append(partial(write_node_table, directory, scope, segments))
    jobs += [partial(write, directory, segments) for write in (write_categories, write_policies_of)]
    results = run_jobs(jobs)
    row_count = sum(segment.row_count for segment in segments)
    write_edges(directory, edges)
    nodes = NodeTable(directory, row_count)
    write_reading_order(directory, nodes)
    write_source_texts(directory, nodes, texts)
    write_service_edges(directory, nodes.categories["service_name"], edges)
    return {name: size for name, size in zip(lexical_tables, results, strict=False) if size is not None}


SKIPPED_FILE = "skipped.tsv"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an index comes from, by its manifest.

    `tokenizers` are the fingerprints of those that made its lexical tables, by the table's name. `skipped` are paths of
    the source that could not be used, in whole or part, and why. `inputs` and `link_template` are as in `Manifest`.
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
    link_template: str = ""


def seal_index(
    directory: Path,
    origin: Origin,
    node_count: int,
    edges: EdgeTable,
    lexical: Mapping[str, LexicalSize],
    report: ProgressCallback = lambda done, total: None,
) -> Manifest:
    """Completes a directory that holds every table with its manifest, and forces all of it to disk.

    `report` is told of the files that are on disk.
    """
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
        files=_seal(directory, report),
        inputs=origin.inputs,
        link_template=origin.link_template,
    )
    manifest.write(directory)
    for path in (directory / MANIFEST_FILE, directory / CHECKSUM_FILE, directory):
        make_durable(path)
    return manifest


def _seal(directory: Path, report: ProgressCallback) -> tuple[FileEntry, ...]:
    """Forces the files of a directory to disk, and returns their checksums."""
    paths = sorted(directory.iterdir())
    entries: list[FileEntry] = []
    for path, checksum in zip(paths, of_each_file(_durable_sha256, paths), strict=True):
        entries.append(FileEntry(path.name, path.stat().st_size, checksum))
        report(len(entries), len(paths))
    return tuple(entries)


def _durable_sha256(path: Path) -> str:
    make_durable(path)
    return sha256(path)
