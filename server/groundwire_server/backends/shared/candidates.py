"""The candidates of a search: the union of what its retrievers list, each with its score by every retriever."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_index.store.manifest import Manifest
from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT
from groundwire_index.text.prose_tokenizer import PROSE_TOKENIZER_FINGERPRINT
from groundwire_server.backends.shared.scoring import RankedRows
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.domain.search.candidates import (
    NO_COLUMNS,
    NO_FILE,
    Candidates,
    FileScores,
    Floats,
    NodeColumns,
    Positions,
    Retrieval,
    RetrieverScores,
    no_file_scores,
)
from groundwire_server.domain.search.search import Retriever

RowScores: TypeAlias = Callable[[Positions], Floats]
RowFileScores: TypeAlias = Callable[[Positions], FileScores]


@dataclass(frozen=True, slots=True)
class CandidateList:
    """A retriever's list, and its score of any allowed rows [m]; NaN for one that cannot be scored.

    `exact` is False when a better row may have been missed. `file_scores` scores the files of rows, where that is
    asked.
    """

    ranked: RankedRows
    scores: RowScores
    exact: bool = True
    file_scores: RowFileScores | None = None


def retrievers_of(manifest: Manifest) -> frozenset[Retriever]:
    """The retrievers that an index has data for."""
    held = {
        Retriever.DENSE: manifest.vector_space is not None,
        Retriever.BM25_CODE: manifest.code is not None,
        Retriever.BM25_PROSE: manifest.prose is not None,
        Retriever.TRIGRAM: True,
    }
    return frozenset(retriever for retriever, is_held in held.items() if is_held)


def candidates_of(
    lists: Mapping[Retriever, CandidateList], columns: Callable[[Positions], NodeColumns] | None
) -> Candidates:
    """The union of the lists, with their `columns` where these are asked."""
    rows = union(lists)
    files = no_file_scores(len(rows))
    for candidate_list in lists.values():
        if candidate_list.file_scores is not None:
            files = candidate_list.file_scores(rows)
    return Candidates(
        rows=rows,
        by_retriever={retriever: _scores_of(candidate_list, rows) for retriever, candidate_list in lists.items()},
        columns=NO_COLUMNS if columns is None else columns(rows),
        files=files,
        exact=all(candidate_list.exact for candidate_list in lists.values()),
    )


def union(lists: Mapping[Retriever, CandidateList]) -> Positions:
    """The rows that are in a list, ascending, which is id order."""
    return np.unique(np.concatenate([candidate_list.ranked.rows for candidate_list in lists.values()]))


def files_of(documents: NDArray[np.integer]) -> NDArray[np.integer]:
    """The files of candidates by the numbers of their documents [m]."""
    return np.where(documents == NO_DOCUMENT, NO_FILE, documents)


def scores_of_rows(
    documents: NDArray[np.integer], files: NDArray[np.integer], counts: NDArray[np.integer], scores: Floats
) -> FileScores:
    """The scores of the files of rows [m], by the numbers of their documents [m].

    `files` [f] are the distinct numbers, ascending, `counts` [f] how many nodes of each the caller sees, `scores` [f]
    theirs.
    """
    of_rows, is_alone = np.full(len(documents), np.nan), np.zeros(len(documents), dtype=np.bool_)
    in_file = documents != NO_DOCUMENT
    places = np.searchsorted(files, documents[in_file])
    of_rows[in_file], is_alone[in_file] = scores.take(places), counts.take(places) == 1
    return FileScores(of_rows, is_alone)


def check_tokenizers(manifest: Manifest, search: Retrieval) -> None:
    """Raises PreconditionError when another tokeniser made the words of a retriever that is asked."""
    for retriever, space, fingerprint in (
        (Retriever.BM25_CODE, manifest.code, TOKENIZER_FINGERPRINT),
        (Retriever.BM25_PROSE, manifest.prose, PROSE_TOKENIZER_FINGERPRINT),
    ):
        if retriever in search.limits and space is not None and space.tokenizer != fingerprint:
            message = f"index {manifest.version!r} was tokenised by other rules than this server's; build it anew"
            raise PreconditionError(Reason.LEXICAL_MISSING, message, {"active_index": manifest.version})


def _scores_of(candidate_list: CandidateList, rows: Positions) -> RetrieverScores:
    """A listed row's score is known; only the others are scored."""
    scores, ranks = np.empty(len(rows), dtype=np.float64), np.zeros(len(rows), dtype=np.int64)
    places = np.searchsorted(rows, candidate_list.ranked.rows)
    scores[places], ranks[places] = candidate_list.ranked.scores, np.arange(1, len(places) + 1)
    others = np.flatnonzero(ranks == 0)
    if len(others):
        scores[others] = candidate_list.scores(rows[others])
    return RetrieverScores(scores, ranks)
