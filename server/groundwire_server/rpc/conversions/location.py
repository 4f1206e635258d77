"""Where a node's text is, as messages about nodes have it."""

from groundwire.v1 import retrieval_pb2
from groundwire_index.nodes.node import Location


def encode_location(location: Location) -> retrieval_pb2.SourceLocation:
    """Path, lines, hash and link of a text."""
    return retrieval_pb2.SourceLocation(
        path=location.path,
        start_line=location.start_line,
        end_line=location.end_line,
        content_hash=location.content_hash,
        url=location.url,
    )


def citation(node_id: str, location: Location) -> str:
    """Where a text is, for people to read: see `SearchHit` of the contract for the form."""
    first, last = location.start_line, location.end_line
    lines = f":{first}-{last}" if last > first > 0 else f":{first}" if first else ""
    return f"{location.path or node_id}{lines}"
