"""The JSONL source: nodes and edges, one object a line, in any order.

`jsonl_records` describes the content of a line; this module checks that vectors are consistent. Identities across lines
(duplicate ids, edges to nodes that are not there) are checked where every source's records come together.
"""

from collections.abc import Iterator
from pathlib import Path

from groundwire_ingest.errors import IngestError
from groundwire_ingest.jsonl.jsonl_records import jsonl_record
from groundwire_ingest.jsonl.strict_json import numbered_lines, parse_json
from groundwire_ingest.records import SourceNode, SourceRecord


class JsonlSource:
    """A JSONL file of nodes and edges. Reading raises IngestError, `path:line`, at the first line that breaks a rule.

    Either every node brings a `vector` or none does, and all are of one dimension.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def description(self) -> str:
        """`JSONL file` and its name."""
        return f"JSONL file {self._path.name}"

    def read(self) -> Iterator[SourceRecord]:
        """Yields the nodes and edges in the order of their lines; holds one line at a time."""
        first_node: SourceNode | None = None
        try:
            with self._path.open("rb") as stream:
                for place, line in numbered_lines(stream, str(self._path)):
                    record = jsonl_record(parse_json(line, place), place)
                    if isinstance(record, SourceNode):
                        first_node = first_node or record
                        _check_vectors_agree(record, first_node)
                    yield record
        except OSError as error:
            raise IngestError(f"{self._path}: cannot be read ({error.strerror})") from error


def _check_vectors_agree(node: SourceNode, first: SourceNode) -> None:
    length, first_length = len(node.vector or ()), len(first.vector or ())
    if length != first_length:
        raise IngestError(
            f"{node.origin}: the vector has {length} numbers where the first node, {first.origin}, has {first_length}; "
            "give every node a vector of one length, or none"
        )
