"""The part of a candidate's score that comes from its neighbours in the graph that are candidates too."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.query.ranking import shares_of_best
from groundwire_server.domain.search.candidates import NO_FILE, Floats

CONFIDENT = 0.8
"""The least confidence of an edge along which a candidate gains."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The confident edges between some nodes, as the caller sees them.

    Edge number e [m] joins the nodes at the places `ends[0, e]` and `ends[1, e]`, which differ, with `confidences[e]`;
    each pair of nodes is there once in either order. `degrees` [n] counts every neighbour of a node that the caller
    sees, those that are not among the nodes included.
    """

    ends: NDArray[np.int64]
    confidences: NDArray[np.float64]
    degrees: NDArray[np.int64]


def apart_from_own_parts(
    neighbourhood: Neighbourhood, files: NDArray[np.integer], is_data: NDArray[np.bool_]
) -> Neighbourhood:
    """Without the edges between two nodes of one file of data. `files` [n] are as in NodeColumns."""
    if not is_data.any():
        return neighbourhood
    near, far = neighbourhood.ends
    kept = ~(is_data[near] & is_data[far] & (files[near] == files[far]) & (files[near] != NO_FILE))
    return replace(neighbourhood, ends=neighbourhood.ends[:, kept], confidences=neighbourhood.confidences[kept])


def neighbour_gains(scores: Floats, neighbourhood: Neighbourhood) -> Floats:
    """The gain of each node [n] from its neighbours' scores [n], as a share of the highest gain, in [0, 1].

    The sum over its edges of confidence times the neighbour's score, divided by the square root of its degree. A node
    with many neighbours gains less by each, since some of them always match.
    """
    near, far = neighbourhood.ends
    gathered = np.bincount(near, neighbourhood.confidences * scores[far], minlength=len(scores))
    return shares_of_best(gathered / np.sqrt(np.maximum(neighbourhood.degrees, 1)))
