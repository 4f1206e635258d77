"""How well the words of a query fit whole files: BM25 over all that the caller sees of each.

A file is the document that nodes were ingested under. The totals of each visibility class over a file's nodes are
stored in the index. For a caller with bounds, the visible nodes are read.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire_index.milvus.facts import DOCUMENT, fact_key, read_facts
from groundwire_index.milvus.packing import unpacked_document
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_server.backends.milvus.bm25 import WeightedTerm, frequencies, frequencies_of
from groundwire_server.backends.milvus.node_rows import NodeRows
from groundwire_server.backends.milvus.statistics import BoundRows
from groundwire_server.backends.milvus.version import OpenVersion
from groundwire_server.backends.milvus.visibility import Visibility
from groundwire_server.backends.shared.scoring import MAX_FILE_NODES, term_scores
from groundwire_server.domain.search.candidates import Floats, Positions
from groundwire_server.execution.call import Checkpoint

_FILES_AT_A_TIME = 512
_NODES_AT_A_TIME = 2_048


class _Files(NamedTuple):
    """The totals of files [f] for a caller: nodes and tokens, and the frequency of some terms [t, f]."""

    nodes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    frequencies: Floats


def file_scores(
    terms: Sequence[WeightedTerm],
    version: OpenVersion,
    nodes: NodeRows,
    visibility: Visibility,
    checkpoint: Checkpoint,
    rows: Positions,
) -> Floats:
    """The score of each row's file [m]; NaN for a row of none, or of one with one node or more than `MAX_FILE_NODES`.

    Raises what the checkpoint raises.
    """
    of_rows = nodes.read(rows, ("document",)).integers("document")
    documents = np.unique(of_rows[of_rows != NO_DOCUMENT])
    numbers = [term.number for term in terms]
    if visibility.rows is None:
        files = _by_class(version, visibility.classes, documents, numbers, checkpoint)
    else:
        files = _by_row(nodes, visibility.rows, documents, numbers, checkpoint)
    relative = files.lengths / visibility.mean_file_length
    scores = np.zeros(len(documents), dtype=np.float64)
    for term, of_term in zip(terms, files.frequencies, strict=True):
        scores += term_scores(term.weight, of_term, relative)
    scores[(files.nodes == 1) | (files.nodes > MAX_FILE_NODES)] = np.nan
    found = np.full(len(rows), np.nan, dtype=np.float64)
    in_file = of_rows != NO_DOCUMENT
    found[in_file] = scores.take(np.searchsorted(documents, of_rows[in_file]))
    return found


def _by_class(
    version: OpenVersion,
    classes: NDArray[np.bool_],
    documents: NDArray[np.int64],
    terms: Sequence[int],
    checkpoint: Checkpoint,
) -> _Files:
    files = _nothing(len(documents), len(terms))
    for first in range(0, len(documents), _FILES_AT_A_TIME):
        checkpoint()
        keys = [fact_key(DOCUMENT, str(number)) for number in documents[first : first + _FILES_AT_A_TIME].tolist()]
        contents = read_facts(version.store, version.collections.facts, keys)
        for place, key in enumerate(keys, start=first):
            for part in unpacked_document(contents[key]) if key in contents else ():
                if classes[part.class_]:
                    files.nodes[place] += part.nodes
                    files.lengths[place] += part.length
                    files.frequencies[:, place] += frequencies_of(part.counts, terms)
    return files


def _by_row(
    nodes: NodeRows, seen: BoundRows, documents: NDArray[np.int64], terms: Sequence[int], checkpoint: Checkpoint
) -> _Files:
    files = _nothing(len(documents), len(terms))
    members = np.flatnonzero(np.isin(seen.documents, documents))
    places = np.searchsorted(documents, seen.documents.take(members))
    np.add.at(files.nodes, places, 1)
    np.add.at(files.lengths, places, seen.code_lengths.take(members))
    kept = files.nodes.take(places) <= MAX_FILE_NODES
    members, places = members[kept], places[kept]
    for first in range(0, len(members), _NODES_AT_A_TIME):
        checkpoint()
        piece = slice(first, first + _NODES_AT_A_TIME)
        packed = nodes.read(seen.rows.take(members[piece]), ("code_terms",)).strings("code_terms")
        np.add.at(files.frequencies.T, places[piece], frequencies(packed, terms).T)
    return files


def _nothing(files: int, terms: int) -> _Files:
    numbers = np.zeros((2, files), dtype=np.int64)
    return _Files(numbers[0], numbers[1], np.zeros((terms, files), dtype=np.float64))
