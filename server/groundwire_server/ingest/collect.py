"""From a source's records to the nodes and edges of one index, with every rule that all sources share.

Refused: a node named twice, an id that is malformed or too long, access data stated on some nodes only, an edge to a
node that is not there. Nothing has been written when a rule is broken.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from groundwire_server.domain.access import NodeAccess
from groundwire_server.domain.errors import IngestError
from groundwire_server.domain.nodes import Edge
from groundwire_server.domain.scope import MAX_ID_LENGTH, Scope, canonical_id, kind_problem
from groundwire_server.ingest.records import SkippedFile, SourceEdge, SourceNode, SourceRecord

ACCESS_FIELDS = ("tenant_id", "acl_tags", "classification_labels", "clearance_level")


@dataclass(frozen=True, slots=True)
class Collected:
    """What a source holds, checked: nodes sorted by canonical id, distinct edges, and what was left out."""

    nodes: tuple[SourceNode, ...]
    ids: tuple[str, ...]
    edges: tuple[Edge, ...]
    skipped: tuple[SkippedFile, ...]
    dropped_edges: int


@dataclass(slots=True)
class _Reading:
    nodes: dict[str, SourceNode] = field(default_factory=dict)
    edges: list[SourceEdge] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)

    def add(self, record: SourceRecord) -> None:
        if isinstance(record, SourceEdge):
            self.edges.append(record)
        elif isinstance(record, SkippedFile):
            self.skipped.append(record)
        else:
            other = self.nodes.setdefault(record.key, record)
            if other is not record:
                raise IngestError(
                    f"{record.origin}: node {record.key!r} was already named at {other.origin}; name it once"
                )


def collect(records: Iterable[SourceRecord], scope: Scope, *, skip_dangling_edges: bool) -> Collected:
    """Reads a source to its end. With `skip_dangling_edges`, edges to absent nodes are counted and left out.

    Raises IngestError naming the place and the rule.
    """
    reading = _Reading()
    for record in records:
        reading.add(record)
    if not reading.nodes:
        raise IngestError("the source holds no nodes; there is nothing to index")
    ids = {key: _checked_id(node, scope) for key, node in reading.nodes.items()}
    _check_access_is_stated(list(reading.nodes.values()))
    edges, dropped = _resolved_edges(reading.edges, ids, skip_dangling_edges)
    order = sorted(reading.nodes, key=ids.__getitem__)
    return Collected(
        nodes=tuple(reading.nodes[key] for key in order),
        ids=tuple(ids[key] for key in order),
        edges=edges,
        skipped=tuple(reading.skipped),
        dropped_edges=dropped,
    )


def node_access(node: SourceNode) -> NodeAccess:
    """What the node demands of a caller; a source that states nothing describes public nodes."""
    stated = node.access
    return NodeAccess(
        tenant_id=stated.tenant_id or "",
        acl_tags=stated.acl_tags or (),
        classification_labels=stated.classification_labels or (),
        clearance_level=stated.clearance_level or 0,
    )


def _checked_id(node: SourceNode, scope: Scope) -> str:
    problem = kind_problem(node.kind)
    if problem:
        raise IngestError(f"{node.origin}: kind {node.kind!r} {problem}")
    if not node.local_id:
        raise IngestError(f"{node.origin}: local_id is empty; name the node")
    id_ = canonical_id(scope, node.kind, node.local_id)
    if len(id_.encode()) > MAX_ID_LENGTH:
        raise IngestError(
            f"{node.origin}: id {id_[:80]!r}... has more than {MAX_ID_LENGTH} UTF-8 bytes; shorten local_id"
        )
    return id_


def _check_access_is_stated(nodes: Sequence[SourceNode]) -> None:
    for name in ACCESS_FIELDS:
        stating = next((node for node in nodes if getattr(node.access, name) is not None), None)
        silent = next((node for node in nodes if getattr(node.access, name) is None), None)
        if stating is not None and silent is not None:
            raise IngestError(
                f"{silent.origin}: node {silent.key!r} does not state {name}, but {stating.key!r} at {stating.origin} "
                "does; a source that states access data states it on every node (an empty value means public)"
            )


def _resolved_edges(
    edges: Sequence[SourceEdge], ids: dict[str, str], skip_dangling: bool
) -> tuple[tuple[Edge, ...], int]:
    """Edges between canonical ids, sorted; of equal ones the surest. And how many dangled."""
    surest: dict[tuple[str, str, str], float] = {}
    dropped = 0
    for edge in edges:
        from_id, to_id = ids.get(edge.from_key), ids.get(edge.to_key)
        if from_id is None or to_id is None:
            missing = edge.from_key if from_id is None else edge.to_key
            if not skip_dangling:
                raise IngestError(
                    f"{edge.origin}: {edge.edge_type} edge to a node that is not there: {missing!r}; add the node, or "
                    "give --skip-dangling-edges"
                )
            dropped += 1
            continue
        identity = (from_id, to_id, edge.edge_type)
        surest[identity] = max(edge.confidence, surest.get(identity, 0.0))
    return tuple(Edge(*identity, confidence) for identity, confidence in sorted(surest.items())), dropped
