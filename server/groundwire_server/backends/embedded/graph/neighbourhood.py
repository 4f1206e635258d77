"""What of the graph lies around the candidates of a query."""

import numpy as np

from groundwire_server.backends.embedded.graph.graph import Graph
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.backends.shared.graph.neighbourhood import neighbourhood_of
from groundwire_server.backends.shared.graph.selected_graph import Positions
from groundwire_server.domain.query.neighbourhood import Neighbourhood


def visible_neighbourhood(graph: Graph, visibility: Visibility, rows: Positions) -> Neighbourhood:
    """See `Snapshot.neighbourhood`. Costs what the rows' edges do."""
    sides = graph.outgoing, graph.incoming
    read = [(side, *side.of(rows)) for side in sides]
    places = np.concatenate([places for _, places, _ in read])
    far = np.concatenate([side.ends.take(positions) for side, _, positions in read])
    confidences = np.concatenate([side.edges.confidences.take(positions) for side, _, positions in read])
    seen = np.flatnonzero(visibility.mask.take(far))
    return neighbourhood_of(rows, places.take(seen), far.take(seen), confidences.take(seen), len(visibility.mask))
