"""The trigram retriever against pg_trgm's definition, name by name."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from groundwire_index.files.segment import HeldSegment
from groundwire_index.lexical.name_table import NAMES, NameTable, write_frequent_trigrams, write_names
from groundwire_index.lexical.term_runs import TermRun
from groundwire_index.nodes.node import Node
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.text.trigram_names import node_names, query_names
from groundwire_server.backends.embedded.retrievers.trigram import Trigrams
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.search.search import Filter, Retriever
from support.chunks import Corpus, MakeNode, OpenBackend, serving
from support.listed_candidates import Asked, find
from support.name_oracle import name_similarity
from support.ranked import listed

Scratch = Callable[[], AbstractContextManager[Path]]
PUBLIC = AccessContext()
SEARCH = Asked("getUser", None, frozenset({Retriever.TRIGRAM}), 10, 10, 0.0, 0.3, Filter())

# Few letters, so that names share trigrams; capitals and dots, so that symbols have segments.
segments = st.text("abB_1", min_size=1, max_size=6)
symbols = st.lists(segments, min_size=1, max_size=3).map(".".join)
paths = st.lists(segments, max_size=3).map(lambda folders: "/".join([*folders, "ab.py"])) | st.just("")
queries = st.lists(symbols | st.sampled_from(["aB()", "ab/ab.py", "1"]), min_size=1, max_size=3).map(" ".join)


def expected(nodes: Sequence[Node], search: Asked) -> list[tuple[str, float]]:
    """The list: the greatest similarity over all pairs of names, best first, equal ones by id."""
    scores = {node.id: name_similarity(search.query, node) for node in nodes}
    ranked = sorted(scores, key=lambda id_: (-scores[id_], id_))
    listed = [(id_, scores[id_]) for id_ in ranked if scores[id_] > 0 and scores[id_] >= search.trigram_threshold]
    return listed[: search.lexical_limit]


def name_table(directory: Path, nodes: Sequence[Node], names_a_holder: int) -> NameTable:
    """The names of nodes, in which trigrams of few names are frequent already."""
    run = TermRun()
    for node in nodes:
        run.add(node_names(node.symbol, node.location.path))
    write_names(directory, [HeldSegment(0, len(nodes), run.parts(NAMES))], directory)
    count = len(NameTable(directory).names)
    write_frequent_trigrams(directory, count, names_a_holder, least_holders=1)
    return NameTable(directory)


def ids_and_scores(nodes: list[Node], search: Asked, open_backend: OpenBackend) -> list[tuple[str, float]]:
    with serving(Corpus(nodes), open_backend) as backend:
        items = find(backend, search).items
    places = [(item.trigram, item.id) for item in items if item.trigram is not None]
    assert len(places) == len(items)
    return [(id_, place.score) for place, id_ in sorted(places, key=lambda entry: entry[0].rank or 0)]


@given(
    names=st.lists(st.tuples(symbols | st.just(""), paths, st.booleans()), min_size=1, max_size=12),
    search=st.builds(
        replace,
        st.just(SEARCH),
        query=queries,
        lexical_limit=st.integers(1, 12),
        trigram_threshold=st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]),
    ),
    gather_rows=st.sampled_from([0, 4_096]),
    names_a_holder=st.sampled_from([1, 4, 10_000]),
)
def test_the_list_equals_that_of_every_pair_of_names(
    names: list[tuple[str, str, bool]],
    search: Asked,
    gather_rows: int,
    names_a_holder: int,
    make_node: MakeNode,
    scratch: Scratch,
) -> None:
    nodes = [make_node(f"N{row:02}", symbol=symbol, path=path) for row, (symbol, path, _) in enumerate(names)]
    nodes.append(make_node("Z"))
    allowed = np.asarray([*(not hidden for _, _, hidden in names), True])
    with scratch() as directory:
        index = cast(LoadedIndex, SimpleNamespace(names=name_table(directory, nodes, names_a_holder)))
        trigrams = Trigrams(
            index, query_names(search.query), search.lexical_limit, search.trigram_threshold, gather_rows
        )
        ranked = listed(trigrams.rank(allowed))
    actual = [(nodes[hit.row].id, hit.score) for hit in ranked]
    assert actual == expected([node for node, may in zip(nodes, allowed, strict=True) if may], search)
    event("some" if actual else "none")


@pytest.mark.parametrize("query", ["GetUsrById", "get_user_byid()", "Users.gteUserById", "src/usres.py"])
def test_a_name_with_a_typo_finds_what_was_meant(query: str, make_node: MakeNode, open_backend: OpenBackend) -> None:
    nodes = [
        make_node("A", symbol="Tax.compute", path="src/tax.py"),
        make_node("B", symbol="Users.getUserById", path="src/users.py"),
        make_node("C", symbol="Users.setPassword", path="lib/passwords.py"),
    ]
    (best, _), *_ = ids_and_scores(nodes, replace(SEARCH, query=query), open_backend)
    assert best == nodes[1].id


def test_the_same_name_has_similarity_one_and_none_in_common_is_no_hit(
    make_node: MakeNode, open_backend: OpenBackend
) -> None:
    nodes = [make_node("A", symbol="get_user"), make_node("B", symbol="Tax"), make_node("C")]
    assert ids_and_scores(nodes, replace(SEARCH, trigram_threshold=0.0), open_backend) == [(nodes[0].id, 1.0)]


def test_words_alone_name_nothing(make_node: MakeNode, open_backend: OpenBackend) -> None:
    search = replace(SEARCH, query="how does the user get a new password", trigram_threshold=0.0)
    assert ids_and_scores([make_node("A", symbol="password")], search, open_backend) == []
