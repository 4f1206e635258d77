"""What a bundle says, and the files of one."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from groundwire_ingest.bundle.bundle import BundleSource
from groundwire_ingest.records import SourceEdge, SourceNode, SourceRecord

BundleMaker = Callable[..., Path]
CHUNKS = "regular_code_bundle/chunks.json"
DEPENDENCIES = "regular_code_bundle/dependencies.json"
BODIES = "sql_bundle/docs/sql_bodies.jsonl"
NODES = "sql_bundle/graph/nodes.csv"
EDGES = "sql_bundle/graph/edges.csv"


def read_bundle(path: Path) -> list[SourceRecord]:
    """Everything that the bundle says, in order."""
    return list(BundleSource(path).read())


def nodes_of(path: Path) -> dict[str, SourceNode]:
    """The nodes by their keys."""
    return {record.key: record for record in read_bundle(path) if isinstance(record, SourceNode)}


def edges_of(path: Path) -> list[tuple[str, str, str]]:
    return [
        (record.from_key, record.to_key, record.edge_type)
        for record in read_bundle(path)
        if isinstance(record, SourceEdge)
    ]


def json_lines(*records: Mapping[str, object]) -> str:
    """A file of one JSON object a line."""
    return "".join(json.dumps(record) + "\n" for record in records)
