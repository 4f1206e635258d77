"""What the name of a table means among the tables of other repositories."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from groundwire_index.repository_edges.tables import OfferedTable, TableIn, TableMatching, TableUse

USE = TableUse("invoice", "", ("TABLE", "VIEW"), "user", "ReadsFrom", 0, 0.95)


def table(schema: str, key: str = "table", *, has_no_schema: bool = False) -> OfferedTable:
    return OfferedTable("invoice", schema, "TABLE", key, has_no_schema)


def meant(tables: Sequence[TableIn], use: TableUse) -> list[tuple[str, float]]:
    return [(item.table.key, confidence) for item, confidence in TableMatching(tables).tables(0, "app", use)]


def of_lib(*tables: OfferedTable, index: int = 1, repository: str = "lib") -> list[TableIn]:
    return [TableIn(index, repository, item) for item in tables]


@pytest.mark.parametrize(
    ("stated", "home", "schemas", "expected"),
    [
        ("sales", None, ["sales", "dbo"], ["sales"]),
        ("sales", None, ["dbo"], []),
        ("dbo", None, [""], [""]),
        ("", None, ["sales", "public"], ["public"]),
        ("", "sales", ["sales", "public"], ["sales"]),
        ("", None, ["dbo", "public"], []),
        ("", None, ["sales", ""], [""]),
        ("*", None, ["sales"], ["sales"]),
        ("*", None, ["sales", "other"], []),
    ],
)
def test_the_schema_decides(stated: str, home: str | None, schemas: list[str], expected: list[str]) -> None:
    use = replace(USE, schema=stated, home_schema=home)
    assert [key for key, _ in meant(of_lib(*(table(schema, schema) for schema in schemas)), use)] == expected


def test_the_only_schema_is_assumed_and_a_database_where_there_are_none() -> None:
    assert meant(of_lib(table("sales")), USE) == [("table", 0.9)]
    assert meant(of_lib(table("dbo")), USE) == [("table", 0.95)]
    assert meant(of_lib(table("", has_no_schema=True)), replace(USE, schema="shop")) == [("table", 0.9)]
    assert meant(of_lib(table("dbo")), replace(USE, schema="dbo", is_foreign=True)) == [("table", 0.9)]


def test_a_table_of_several_repositories_or_of_its_own_leads_nowhere() -> None:
    assert meant([*of_lib(table("dbo")), *of_lib(table("dbo"), index=2, repository="other")], USE) == []
    assert meant([*of_lib(table("dbo")), *of_lib(table("sales"), index=0, repository="app")], USE) == []
    assert meant(of_lib(table("dbo")), replace(USE, object_types=("VIEW",))) == []
