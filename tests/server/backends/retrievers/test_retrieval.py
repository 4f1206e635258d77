"""The candidates of a query against a recomputation node by node: lists, union, ranks and complete scores."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from groundwire_index.nodes.node import Node
from groundwire_index.nodes.purposes import purpose_of
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_index.text.prose_tokenizer import tokenize_prose
from groundwire_server.backends.embedded.retrievers.semantic import PathLimits
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.search.search import Filter, Retriever
from support.chunks import Corpus, MakeNode, OpenBackend, Vector, callers, candidate_searches, corpora, serving
from support.filter_oracle import passes
from support.listed_candidates import Asked, Candidate, Place, Told, find, microseconds
from support.name_oracle import name_similarity
from support.properties import costly
from support.semantic_paths import EXACT_PATHS, taking

PUBLIC = AccessContext()

Scores = dict[str, float]
"""By id. A node that cannot be scored is left out."""


def unit(vector: Vector) -> list[float]:
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector]


def dense(search: Asked, corpus: Corpus) -> Scores:
    assert search.query_vector is not None
    query = search.query_vector.tolist()
    return {
        node.id: sum(float(np.float32(x)) * y for x, y in zip(unit(vector), query, strict=True))
        for node in corpus.nodes
        if (vector := corpus.vectors[node.id]) is not None
    }


def bm25(query: list[str], documents: dict[str, list[str]]) -> Scores:
    mean = sum(map(len, documents.values())) / len(documents) or 1.0
    scores = dict.fromkeys(documents, 0.0)
    for term, repeats in sorted(Counter(query).items()):
        holding = sum(term in document for document in documents.values())
        idf = math.log(1.0 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for id_, document in documents.items():
            frequency = float(document.count(term))
            length = 0.25 + 0.75 * (len(document) / mean)
            scores[id_] += repeats * idf * frequency / (frequency + 1.5 * length)
    return scores


def scores_of(source: Retriever, search: Asked, corpus: Corpus) -> Scores:
    """The scores of all visible nodes in one source."""
    match source:
        case Retriever.DENSE:
            return dense(search, corpus)
        case Retriever.BM25_CODE:
            return bm25(tokenize(search.query), {node.id: tokenize(node.text) for node in corpus.nodes})
        case Retriever.BM25_PROSE:
            return bm25(tokenize_prose(search.query), {node.id: tokenize_prose(node.text) for node in corpus.nodes})
        case Retriever.TRIGRAM:
            return {node.id: name_similarity(search.query, node) for node in corpus.nodes}


def list_of(source: Retriever, search: Asked, scores: Scores, allowed: set[str]) -> list[str]:
    """The source's list, best first, equal ones by id."""
    least, limit = {
        Retriever.DENSE: (-math.inf if search.min_similarity is None else search.min_similarity, search.dense_limit),
        Retriever.TRIGRAM: (max(search.trigram_threshold, math.ulp(0.0)), search.lexical_limit),
    }.get(source, (math.ulp(0.0), search.lexical_limit))
    listed = [id_ for id_, score in scores.items() if id_ in allowed and score >= least]
    return sorted(listed, key=lambda id_: (-scores[id_], id_))[:limit]


def recomputed(search: Asked, corpus: Corpus) -> Told:
    """The candidates over a corpus of which the caller sees everything; none is blocked."""
    allowed = {node.id for node in corpus.nodes if passes(node, search.filter)}
    sources = [source for source in Retriever if source in (search.retrievers or set(Retriever))]
    scores = {source: scores_of(source, search, corpus) for source in sources}
    lists = {source: list_of(source, search, scores[source], allowed) for source in sources}

    def place(source: Retriever, id_: str) -> Place | None:
        if id_ not in scores.get(source, {}):
            return None
        ranked = lists[source]
        return Place(scores[source][id_], ranked.index(id_) + 1 if id_ in ranked else None)

    union = set[str]().union(*lists.values())
    file_scores = scores_of_files(search, corpus) if search.scores_files and Retriever.BM25_CODE in sources else {}
    nodes_of = Counter(map(file_of, corpus.nodes))
    items = numbered_files(
        Candidate(
            node.id,
            node.corpus_type,
            microseconds(node.timestamp),
            **{source.value: place(source, node.id) for source in Retriever},
            purpose=purpose_of(node),
            chars=len(node.text),
            file=corpus.nodes.index(next(other for other in corpus.nodes if file_of(other) == file_of(node)))
            if file_of(node)
            else None,
            file_score=file_scores.get(file_of(node)),
            is_alone=file_of(node) in file_scores and nodes_of[file_of(node)] == 1,
        )
        for node in corpus.nodes
        if node.id in union
    )
    return Told(tuple(items), tuple((source, len(lists[source])) for source in sources), 0)


def file_of(node: Node) -> tuple[str, ...] | None:
    name = node.document_id or node.location.path
    kind = "id" if node.document_id else "path"
    return (kind, name, node.document_version_id, node.repo_name) if name else None


def scores_of_files(search: Asked, corpus: Corpus) -> dict[tuple[str, ...] | None, float]:
    """BM25 of whole files with the weights of terms among nodes, by file."""
    documents = {node.id: tokenize(node.text) for node in corpus.nodes}
    files = sorted({file for node in corpus.nodes if (file := file_of(node))})
    words = {
        file: [word for node in corpus.nodes if file_of(node) == file for word in documents[node.id]] for file in files
    }
    mean = sum(map(len, words.values())) / max(1, len(words)) or 1.0
    scores: dict[tuple[str, ...] | None, float] = dict.fromkeys(files, 0.0)
    for term, repeats in sorted(Counter(tokenize(search.query)).items()):
        holding = sum(term in document for document in documents.values())
        idf = math.log(1.0 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for file in files:
            frequency = float(words[file].count(term))
            length = 0.25 + 0.75 * (len(words[file]) / mean)
            scores[file] += repeats * idf * frequency / (frequency + 1.5 * length)
    return scores


def numbered_files(items: Iterable[Candidate]) -> list[Candidate]:
    """Told whose files are numbered as they first occur: the numbers themselves say nothing."""
    numbers: dict[int, int] = {}
    return [
        item if item.file is None else replace(item, file=numbers.setdefault(item.file, len(numbers))) for item in items
    ]


def blocked(search: Asked, corpus: Corpus, lifecycle: Lifecycle) -> int:
    if lifecycle is not Lifecycle.ACTIVE:
        return 0
    deleted = {node.id for node in corpus.nodes if node.deleted}
    return sum(item.id in deleted for item in recomputed(search, corpus).items)


@costly()
@given(data=st.data(), caller=callers, lifecycle=st.sampled_from(Lifecycle), limits=st.sampled_from(EXACT_PATHS))
def test_candidates_equal_those_recomputed_from_the_visible_nodes_alone(
    data: st.DataObject,
    caller: AccessContext,
    lifecycle: Lifecycle,
    limits: PathLimits,
    make_node: MakeNode,
    shared_backend: OpenBackend,
) -> None:
    corpus = data.draw(corpora(make_node))
    seen = corpus.seen_by(caller)
    with serving(corpus, shared_backend) as backend, taking(limits):
        for _ in range(6):
            search = data.draw(candidate_searches)
            expected = recomputed(search, seen.alive(lifecycle)) if seen.alive(lifecycle).nodes else None
            retrieved = find(backend, search, caller, lifecycle)
            if expected is None:
                assert retrieved.items == ()
            else:
                items = tuple(numbered_files(retrieved.items))
                assert replace(retrieved, items=items, deleted_blocked=0) == expected
            assert retrieved.deleted_blocked == blocked(search, seen, lifecycle)
            event("some blocked" if retrieved.deleted_blocked else "none blocked")
            event(f"{min(len(retrieved.items), 3)} candidates or more")


SEARCH = Asked("getUser", np.asarray([1.0, 0.0, 0.0]), frozenset(), 10, 10, 0.0, 0.3, Filter())


def lengths(retrieved: Told) -> dict[Retriever, int]:
    return dict(retrieved.list_lengths)


def test_every_candidate_has_its_score_in_every_source(make_node: MakeNode, open_backend: OpenBackend) -> None:
    """B stands in no list but that of the vectors, C in none but that of the names; D is no candidate."""
    a = make_node("A", "getUser tax", symbol="getUser")
    b = make_node("B", "nothing alike")
    c = make_node("C", "nothing alike", symbol="getUsers", corpus_type="CODE_LOGIC")
    d = make_node("D", "nothing alike")
    corpus = Corpus([a, b, c, d], vectors={a.id: (1, 0, 0), b.id: (0, 1, 0), d.id: (-1, 0, 0)})
    with serving(corpus, open_backend) as backend:
        retrieved = find(backend, SEARCH)
    assert [item.id for item in retrieved.items] == [a.id, b.id, c.id]
    of_a, of_b, of_c = retrieved.items
    assert of_a.dense == Place(1.0, 1)
    assert of_b.dense == Place(0.0, 2)
    assert of_c.dense is None
    assert of_a.trigram == Place(1.0, 1)
    assert of_b.trigram == Place(0.0, None)
    assert of_c.trigram is not None
    assert of_c.trigram.rank == 2
    assert of_b.bm25_code == of_c.bm25_code == of_c.bm25_prose == Place(0.0, None)
    assert of_c.corpus_type == "CODE_LOGIC"
    assert lengths(retrieved) == {
        Retriever.DENSE: 2,
        Retriever.BM25_CODE: 1,
        Retriever.BM25_PROSE: 1,
        Retriever.TRIGRAM: 2,
    }


def test_a_node_beyond_the_end_of_a_list_keeps_its_score_there(make_node: MakeNode, open_backend: OpenBackend) -> None:
    nodes = [make_node("A", "tax"), make_node("B", "tax words of others"), make_node("C", "tax", symbol="tax")]
    search = replace(
        SEARCH, query="tax", retrievers=frozenset({Retriever.BM25_CODE, Retriever.TRIGRAM}), lexical_limit=1
    )
    with serving(Corpus(nodes), open_backend) as backend:
        retrieved = find(backend, search)
    first, third = retrieved.items
    assert (first.id, third.id) == (nodes[0].id, nodes[2].id)
    assert first.bm25_code is not None
    assert (first.bm25_code.rank, third.bm25_code) == (1, Place(first.bm25_code.score, None))
    assert first.dense is None
    assert first.bm25_prose is None
    assert [retriever for retriever, _ in retrieved.list_lengths] == [Retriever.BM25_CODE, Retriever.TRIGRAM]


@pytest.mark.parametrize(
    ("deleted_words", "filter_", "count"),
    [("tax", Filter(), 1), ("invoice", Filter(), 0), ("tax", Filter(languages=("sql",)), 0)],
    ids=["would match", "would not match", "does not pass"],
)
def test_deleted_nodes_are_counted_only_where_they_would_be_candidates(
    make_node: MakeNode, open_backend: OpenBackend, deleted_words: str, filter_: Filter, count: int
) -> None:
    nodes = [make_node("A", "tax", language="sql"), make_node("B", deleted_words, deleted=True)]
    search = replace(SEARCH, query="tax", retrievers=frozenset({Retriever.BM25_CODE}), filter=filter_)
    with serving(Corpus(nodes), open_backend) as backend:
        counts = {lifecycle: find(backend, search, PUBLIC, lifecycle).deleted_blocked for lifecycle in Lifecycle}
    assert counts == {Lifecycle.ACTIVE: count, Lifecycle.ALL: 0, Lifecycle.DELETED: 0}


class StoppedError(Exception):
    pass


@pytest.mark.parametrize(
    "retrievers", [{Retriever.BM25_CODE}, {Retriever.BM25_CODE, Retriever.TRIGRAM}, set(Retriever)]
)
def test_work_can_stop_after_each_list(
    make_node: MakeNode, open_backend: OpenBackend, retrievers: set[Retriever]
) -> None:
    search = replace(SEARCH, retrievers=frozenset(retrievers))
    with serving(Corpus([make_node("A", "getUser")]), open_backend) as backend:
        for calls in range(len(retrievers)):
            with pytest.raises(StoppedError):
                find(backend, search, checkpoint=Mock(side_effect=[*[None] * calls, StoppedError]))
        assert find(backend, search, checkpoint=Mock(side_effect=[None] * len(retrievers))).items
