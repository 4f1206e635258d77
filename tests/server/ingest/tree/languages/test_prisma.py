"""Prisma schemas: nodes and the tables of models."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]


def test_nodes_and_tables(analyse: Analyser) -> None:
    text = (
        'datasource db {\n  provider = "postgresql"\n}\n\n// Buys things.\nmodel Customer {\n  id Int @id\n'
        '  kind Kind\n  @@map("customers")\n}\nenum Kind {\n  Big\n}\nmodel Order {\n  id Int @id\n}\n'
    )
    analysis = analyse("schema.prisma", text)
    assert [(node.local_id, node.start_line, node.end_line) for node in analysis.file.nodes] == [
        ("schema.prisma", 1, 3),
        ("schema.prisma#Customer", 5, 10),
        ("schema.prisma#Kind", 11, 13),
        ("schema.prisma#Order", 14, 16),
    ]
    assert analysis.facts is not None
    assert [(item.from_key, item.table) for item in analysis.facts.mappings] == [
        ("prisma::schema.prisma#Customer", "customers"),
        ("prisma::schema.prisma#Order", "Order"),
    ]


@pytest.mark.parametrize("text", ["model A {\n  b B\nmodel B {\n  a A\n", "model A {", "}\nmodel A {\n}\n}\n"])
def test_what_is_not_closed_ends_where_the_next_starts(analyse: Analyser, text: str) -> None:
    analysis = analyse("schema.prisma", text)
    assert "A" in [node.symbol for node in analysis.file.nodes]
    assert analysis.facts is not None


def test_a_schema_of_nothing_but_a_comment_has_a_node(analyse: Analyser) -> None:
    assert [node.text for node in analyse("schema.prisma", "// nothing yet\n").file.nodes] == ["// nothing yet"]
