"""What Go code tells GORM."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]


@pytest.mark.parametrize(
    ("fields", "method", "tables"),
    [
        ("gorm.Model", "", [("order_lines", 0.8)]),
        ('ID uint `gorm:"primaryKey"`', "", [("order_lines", 0.8)]),
        ("ID uint", 'func (o *OrderLine) TableName() string {\n\treturn "lines"\n}', [("lines", 1.0)]),
        ("gorm.Model", 'func (OrderLine) TableName() string { return "lines" }', [("lines", 1.0)]),
        ("ID uint", "", []),
        ('ID uint `json:"id"`', "", []),
        ("ID uint", "func (o *OrderLine) TableName() string { return name() }", []),
    ],
)
def test_tables(analyse: Analyser, fields: str, method: str, tables: list[tuple[str, float]]) -> None:
    facts = analyse("a.go", f"package a\n\ntype OrderLine struct {{\n\t{fields}\n}}\n\n{method}\n").facts
    assert facts is not None
    assert [(item.table, item.confidence) for item in facts.mappings] == tables
