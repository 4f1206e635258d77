"""Which relations a graph has, as one edge or as a path of two, over the wire."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.repositories.places import Piece, answers, is_symbol
from bench.repositories.tables import Alternatives, Relation
from groundwire_client import GroundwireClient, IndexScope

Ahead = Callable[[str], Mapping[str, int]]
"""The number of edges, 1 or 2, from a node to each node that is reachable so, by id."""


@dataclass(frozen=True, slots=True)
class Reached:
    """True if a relation's end was reached from its start along one edge, and along at most two."""

    kind: str
    by_one: bool
    by_two: bool


def measure_relations(ahead: Ahead, nodes: Mapping[str, Piece], relations: Sequence[Relation]) -> list[Reached]:
    """True if each relation is an edge, or two, of the graph of the nodes."""
    measured = []
    for relation in relations:
        ends = set(ids_of(nodes, relation.end))
        reached = [ahead(start) for start in ids_of(nodes, relation.start)]
        distances = {distance for walked in reached for end, distance in walked.items() if end in ends}
        measured.append(Reached(relation.kind, 1 in distances, bool(distances)))
    return measured


def ids_of(nodes: Mapping[str, Piece], alternatives: Alternatives) -> list[str]:
    """The nodes whose symbol is one of the places; without such a node, those that declare it in their text.

    Otherwise a class whose text holds a method would count as the method, and its edges as the method's.
    """
    ids = []
    for place in alternatives:
        named_ids = [id_ for id_, node in nodes.items() if place.symbol and is_symbol(node, place)]
        ids += named_ids or [id_ for id_, node in nodes.items() if answers(node, (place,))]
    return ids


def ahead_on_server(client: GroundwireClient, scope: IndexScope) -> Ahead:
    """Walks by ExpandDependencyTree along edges of all types. A call raises GroundwireError."""

    def ahead(start: str) -> dict[str, int]:
        walked = client.expand(scope, [start], max_depth=2, max_nodes=2_000, edge_allowlist=["*"])
        return {node.id: node.depth for node in walked.nodes if node.depth}

    return ahead
