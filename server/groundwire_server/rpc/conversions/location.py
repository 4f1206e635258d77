"""Where a node's text is, which every message about a node has."""

from groundwire.v1 import retrieval_pb2
from groundwire_index.nodes.node import Location


def encode_location(location: Location) -> retrieval_pb2.SourceLocation:
    """Path, lines and hash of a text."""
    return retrieval_pb2.SourceLocation(
        path=location.path,
        start_line=location.start_line,
        end_line=location.end_line,
        content_hash=location.content_hash,
    )
