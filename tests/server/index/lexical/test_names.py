"""The names of an index against looking at each name: who bears it, and which trigrams it holds."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.lexical import frequent_trigrams
from groundwire_index.lexical.names import NameRun, NameTable, write_names
from groundwire_index.nodes.node import Node
from groundwire_index.store.segment import HeldSegment
from groundwire_index.text.names import node_names, trigrams

Scratch = Callable[[], AbstractContextManager[Path]]
MakeNode = Callable[..., Node]

symbols = st.text(alphabet="abü1.", max_size=12)


def name_table(directory: Path, nodes: list[Node]) -> NameTable:
    run = NameRun()
    for node in nodes:
        run.add(node)
    write_names(directory, [HeldSegment(0, len(nodes), run.parts())], directory)
    return NameTable(directory)


@given(
    symbols=st.lists(symbols, max_size=30),
    asked=st.sets(st.text(alphabet="abü1 ", min_size=3, max_size=3)),
    names_a_holder=st.sampled_from([1, 3, 10_000]),
    block=st.sampled_from([1, 2, 1 << 15]),
)
def test_names_are_found_by_trigram_row_and_bearer(
    symbols: list[str], asked: set[str], names_a_holder: int, block: int, make_node: MakeNode, scratch: Scratch
) -> None:
    nodes = [make_node(f"N{row:03}", symbol=symbol) for row, symbol in enumerate(symbols)]
    with scratch() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequent_trigrams, "LEAST_HOLDERS", 1)
        patch.setattr(frequent_trigrams, "NAMES_A_HOLDER", names_a_holder)
        patch.setattr(frequent_trigrams, "_BLOCK_BYTES", block)
        table = name_table(directory, nodes)
        borne = [node_names(node.symbol, node.location.path) for node in nodes]
        names = sorted({name for names_of_row in borne for name in names_of_row})
        assert [table.names[position] for position in range(len(table.names))] == names
        assert table.sizes.tolist() == [len(trigrams(name)) for name in names]
        for held in (asked, frozenset[str](), *(trigrams(name) for name in names)):
            assert table.shared(held).tolist() == [len(trigrams(name) & held) for name in names]
    everything = np.arange(len(names))[::-1]
    expected = [row for position in everything for row, own in enumerate(borne) if names[position] in own]
    assert table.rows_of(everything).tolist() == expected
    positions, counts = table.of_rows(np.arange(len(nodes)))
    assert counts.tolist() == [len(own) for own in borne]
    assert [names[position] for position in positions] == [name for own in borne for name in sorted(own)]


def test_more_trigrams_than_a_byte_counts(make_node: MakeNode, tmp_path: Path) -> None:
    name = "".join(chr(0x4E00 + number) for number in range(256))
    table = name_table(tmp_path, [make_node("A", symbol=name), make_node("B", symbol="b")])
    assert table.shared(trigrams(name)).tolist() == [0, 257]
