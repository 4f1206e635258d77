"""The tables of an index, from the segments of its rows: each from all segments and by itself, several at once."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from groundwire_index.graph.edges import EdgeTable, write_edges, write_service_edges
from groundwire_index.lexical.lexical import write_lexical
from groundwire_index.lexical.name_table import write_names
from groundwire_index.lexical.term_runs import write_merged_postings
from groundwire_index.nodes.categories import write_categories
from groundwire_index.nodes.metadata_terms import METADATA_TERMS
from groundwire_index.nodes.node_table import NodeTable, write_node_table
from groundwire_index.nodes.policies import write_policies_of
from groundwire_index.nodes.reading_order import write_reading_order
from groundwire_index.store.segment import Segment

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
    segments: Sequence[Segment],
    edges: EdgeTable,
    lexical_tables: Sequence[str],
    scratch: Path,
    run_jobs: RunJobs = run_one_by_one,
) -> dict[str, LexicalSize]:
    """Writes every table but the vectors; returns the sizes of the lexical tables by name."""
    # The longest first, so that no processor is left waiting for one of them at the end.
    jobs: list[Job] = [partial(write_lexical, directory, name, segments) for name in lexical_tables]
    jobs.append(partial(write_names, directory, segments, scratch))
    jobs.append(partial(write_merged_postings, directory, METADATA_TERMS, segments))
    jobs += [partial(write, directory, segments) for write in (write_node_table, write_categories, write_policies_of)]
    results = run_jobs(jobs)
    row_count = sum(segment.row_count for segment in segments)
    write_edges(directory, edges)
    nodes = NodeTable(directory, row_count)
    write_reading_order(directory, nodes)
    write_service_edges(directory, nodes.categories["service_name"], edges)
    return {name: size for name, size in zip(lexical_tables, results, strict=False) if size is not None}
