"""What of the graph lies around the candidates of a query."""

from groundwire_server.backends.milvus.graph.adjacency import near_ends
from groundwire_server.backends.milvus.graph.reading import GraphReading
from groundwire_server.backends.shared.graph.neighbourhood import neighbourhood_of
from groundwire_server.backends.shared.graph.selected_graph import Positions
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.query.neighbourhood import Neighbourhood


def visible_neighbourhood(reading: GraphReading, rows: Positions) -> Neighbourhood:
    """See `Snapshot.neighbourhood`; the rows' edges are read whole."""
    adjacency = reading.adjacency
    nears = near_ends(rows.tolist(), Direction.BOTH)
    adjacency.finish(nears)
    places, edges = adjacency.edges_of(nears)
    seen = reading.visible.holds(edges["far"], edges["far_class"])
    places, edges = places[seen] % len(rows), edges[seen]
    return neighbourhood_of(rows, places, edges["far"], edges["confidence"], reading.node_count)
