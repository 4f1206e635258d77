"""How well the words of a query fit whole files, against brute force, and what that costs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.files.durable_files import write_array
from groundwire_index.lexical.lexical import K1, B, LexicalTable, TermPostings
from groundwire_index.nodes.reading_order import NO_DOCUMENT, ReadingOrder
from groundwire_index.store.loaded import LoadedIndex
from groundwire_server.backends.embedded.retrievers.bm25 import Bm25
from groundwire_server.backends.embedded.retrievers.bm25_scan import WeightedTerm
from groundwire_server.backends.embedded.retrievers.retrieval import file_scores
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.backends.shared.scoring import MAX_FILE_NODES
from groundwire_server.domain.search.candidates import FileScores
from support.calls import never_stop
from support.index_tables import lexical_table, postings_of

WORDS = ["get", "user", "id", "tax"]


class Tables:
    """What file scores are read from: rows with their words and their document, in the order of the rows."""

    def __init__(
        self, directory: Path, texts: Sequence[Sequence[str]], documents: Sequence[int], visible: Sequence[bool]
    ) -> None:
        self.lexical: LexicalTable = lexical_table(directory, texts)
        document = np.asarray(documents, dtype=np.int32)
        count = int(document.max()) + 1
        order = np.argsort(np.where(document == NO_DOCUMENT, count, document), kind="stable").astype(np.int32)
        starts = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(document[document != NO_DOCUMENT], minlength=count), out=starts[1:])
        write_array(directory / "reading_order.bin", np.stack((order, np.argsort(order).astype(np.int32), document)))
        write_array(directory / "reading_order.starts.bin", starts)
        self.reading = ReadingOrder(directory, len(texts))
        index = cast(LoadedIndex, SimpleNamespace(reading_order=self.reading))
        self.visibility = Visibility(index, np.asarray(visible, dtype=np.bool_))

    def terms(self, words: Sequence[str]) -> tuple[WeightedTerm, ...]:
        """The weighted terms of a query."""
        postings = postings_of(self.lexical, words)
        return Bm25(self.lexical, words, self.visibility.words(self.lexical, postings), postings).terms

    def scores(self, words: Sequence[str], rows: Sequence[int], max_nodes: int = MAX_FILE_NODES) -> FileScores:
        """The scores of the files of some rows."""
        chosen = np.asarray(rows, dtype=np.int64)
        mean = self.visibility.words(self.lexical, {}).mean_file_length
        return file_scores(
            self.terms(words), self.lexical, self.reading, self.visibility, mean, never_stop, chosen, max_nodes
        )


@contextmanager
def tables(
    texts: Sequence[Sequence[str]], documents: Sequence[int], visible: Sequence[bool] | None = None
) -> Iterator[Tables]:
    with TemporaryDirectory() as directory:
        yield Tables(Path(directory), texts, documents, [True] * len(texts) if visible is None else visible)


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(WORDS), max_size=4), st.integers(NO_DOCUMENT, 3), st.booleans()), min_size=1
    ),
    st.lists(st.sampled_from([*WORDS, "absent"]), max_size=5),
    st.data(),
)
def test_a_file_counts_by_all_that_the_caller_sees_of_it(
    rows: list[tuple[list[str], int, bool]], query: list[str], data: st.DataObject
) -> None:
    texts, documents, visible = ([*column] for column in zip(*rows, strict=True))
    seen = [row for row, is_visible in enumerate(visible) if is_visible]
    scored_rows = sorted(data.draw(st.sets(st.sampled_from(seen), max_size=6))) if seen else []
    with tables(texts, documents, visible) as held:
        of_files = held.scores(query, scored_rows, max_nodes=5)
        weights = {word: term.weight for word in set(query) for term in held.terms([word] * query.count(word))}
    words_of = {
        document: [word for row in seen if documents[row] == document for word in texts[row]]
        for document in {documents[row] for row in seen} - {NO_DOCUMENT}
    }
    mean = sum(map(len, words_of.values())) / max(1, len(words_of)) or 1.0
    for row, score, is_alone in zip(scored_rows, of_files.scores.tolist(), of_files.is_alone.tolist(), strict=True):
        words = words_of.get(documents[row])
        nodes = sum(documents[other] == documents[row] for other in seen)
        assert is_alone == (words is not None and nodes == 1)
        if words is None or nodes > 5:
            assert np.isnan(score)
            continue
        norm = K1 * (1.0 - B + B * len(words) / mean)
        expected = sum(weight * words.count(word) / (words.count(word) + norm) for word, weight in weights.items())
        assert score == pytest.approx(expected, rel=1e-12, abs=0)


def test_a_rare_word_costs_its_own_rows_and_not_those_of_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten files of 200 rows, and words of which each is in four of the rows: no word is looked up in all of them."""

    def looked_up(_: TermPostings, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        raise AssertionError(f"a rare word was looked up in {len(rows)} rows")

    monkeypatch.setattr(TermPostings, "frequencies_at", looked_up)
    texts = [[f"word{row % 500}"] for row in range(2_000)]
    with tables(texts, [row // 200 for row in range(2_000)]) as held:
        of_files = held.scores([f"word{number}" for number in range(200)], range(0, 2_000, 200))
    assert np.count_nonzero(of_files.scores) >= 4
