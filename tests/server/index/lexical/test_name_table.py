"""The names of an index against looking at each name: who bears it, and which trigrams it holds."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.files.segment import HeldSegment
from groundwire_index.lexical.name_table import (
    NAMES,
    NAMES_A_RUN,
    NameTable,
    add_bitmaps,
    write_frequent_trigrams,
    write_names,
)
from groundwire_index.lexical.term_runs import TermRun
from groundwire_index.nodes.node import Node
from groundwire_index.text.trigram_names import node_names, trigrams

Scratch = Callable[[], AbstractContextManager[Path]]
MakeNode = Callable[..., Node]

symbols = st.text(alphabet="abü1.", max_size=12)


def name_table(directory: Path, nodes: list[Node], names_a_run: int = NAMES_A_RUN) -> NameTable:
    run = TermRun()
    for node in nodes:
        run.add(node_names(node.symbol, node.location.path))
    write_names(directory, [HeldSegment(0, len(nodes), run.parts(NAMES))], directory, names_a_run)
    return NameTable(directory)


@given(
    symbols=st.lists(symbols, max_size=30),
    drawn_trigrams=st.sets(st.text(alphabet="abü1 ", min_size=3, max_size=3)),
    names_a_holder=st.sampled_from([1, 3, 10_000]),
    names_a_run=st.sampled_from([1, 2, NAMES_A_RUN]),
)
def test_names_are_found_by_trigram_row_and_bearer(
    symbols: list[str],
    drawn_trigrams: set[str],
    names_a_holder: int,
    names_a_run: int,
    make_node: MakeNode,
    scratch: Scratch,
) -> None:
    nodes = [make_node(f"N{row:03}", symbol=symbol) for row, symbol in enumerate(symbols)]
    with scratch() as directory:
        written = name_table(directory, nodes, names_a_run)
        write_frequent_trigrams(directory, len(written.names), names_a_holder, least_holders=1)
        table = NameTable(directory)
        borne = [node_names(node.symbol, node.location.path) for node in nodes]
        names = sorted({name for names_of_row in borne for name in names_of_row})
        assert [table.names[position] for position in range(len(table.names))] == names
        assert table.sizes.tolist() == [len(trigrams(name)) for name in names]
        for held in (drawn_trigrams, frozenset[str](), *(trigrams(name) for name in names)):
            assert table.shared(held).tolist() == [len(trigrams(name) & held) for name in names]
    everything = np.arange(len(names))[::-1]
    expected = [row for position in everything for row, row_names in enumerate(borne) if names[position] in row_names]
    assert table.rows_of(everything).tolist() == expected
    positions, counts = table.of_rows(np.arange(len(nodes)))
    assert counts.tolist() == [len(row_names) for row_names in borne]
    assert [names[position] for position in positions] == [name for row_names in borne for name in sorted(row_names)]


def test_more_trigrams_than_a_byte_counts(make_node: MakeNode, tmp_path: Path) -> None:
    name = "".join(chr(0x4E00 + number) for number in range(256))
    table = name_table(tmp_path, [make_node("A", symbol=name), make_node("B", symbol="b")])
    assert table.shared(trigrams(name)).tolist() == [0, 257]


@given(
    bitmaps=st.integers(1, 40).flatmap(
        lambda count: st.lists(st.lists(st.booleans(), min_size=count, max_size=count), min_size=1, max_size=4)
    ),
    block_bytes=st.integers(1, 6),
)
def test_bitmaps_are_counted_block_by_block(bitmaps: list[list[bool]], block_bytes: int) -> None:
    counts = np.full(len(bitmaps[0]), 3, dtype=np.uint8)
    add_bitmaps(counts, [np.packbits(bitmap) for bitmap in bitmaps], block_bytes)
    assert counts.tolist() == [3 + sum(column) for column in zip(*bitmaps, strict=True)]
