"""Scripts of SQL in files that are named as something else."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.sql.recognition import is_sql_script
from support.growth import check_linear


@pytest.mark.parametrize(
    "text",
    [
        "CREATE PROCEDURE [dbo].mp_Tax AS SELECT 1\nGO\n",
        "\n-- 2.3.1\n/* why * not */\nALTER TABLE dbo.Tax ADD Rate int",
        "create or replace function tax(integer) returns integer as ''",
        "CREATE UNIQUE NONCLUSTERED INDEX IX_Tax ON Tax (Id)",
        "INSERT INTO mp_Tax (Id) VALUES (1)",
        "DELETE FROM `mp_Tax`",
        "UPDATE [dbo].[Tax] SET Rate = 0",
        "SET ANSI_NULLS ON\nGO\n",
        "IF EXISTS (SELECT 1 FROM Tax) DROP TABLE Tax",
        "GO\nCREATE TABLE Tax (Id int)",
    ],
)
def test_a_text_that_begins_with_a_statement_is_a_script(text: str) -> None:
    assert is_sql_script(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<configuration><add key='CREATE TABLE x' /></configuration>",
        "<!-- CREATE TABLE Tax (Id int) -->",
        "create a table of taxes",
        "Updates set in stone",
        "-- CREATE TABLE Tax (Id int)",
        "/* CREATE TABLE Tax (Id int)",
        "/<br>",
    ],
)
def test_other_texts_are_none(text: str) -> None:
    assert not is_sql_script(text)


@pytest.mark.parametrize("part", ["-- a\n", "/* a */ ", " \n", "/*", "create ", "unique "])
def test_the_time_is_linear(part: str) -> None:
    check_linear(lambda count: is_sql_script(part * count), 20_000)


def test_scripts_in_files_of_configuration_are_read_as_sql(
    make_tree: Callable[[Mapping[str, str | bytes]], Path],
) -> None:
    root = make_tree(
        {
            "Setup/mssql/2.9.config": "CREATE PROCEDURE dbo.Pay AS SELECT 1\nGO\n",
            "Setup/mssql/2.10.config": "ALTER PROCEDURE dbo.Pay AS SELECT 2\nGO\n",
            "Web.config": '<configuration>\n  <add key="a" value="b" />\n</configuration>\n',
        }
    )
    records = list(TreeSource(root).read())
    symbols = {(node.path, node.symbol) for node in records if isinstance(node, SourceNode) and node.kind == "sql"}
    edges = {(edge.from_key, edge.edge_type, edge.to_key) for edge in records if isinstance(edge, SourceEdge)}
    assert symbols == {("Setup/mssql/2.9.config", "dbo.Pay"), ("Setup/mssql/2.10.config", "dbo.Pay")}
    assert {edge[1] for edge in edges if edge[0].startswith("sql::")} == {"RedefinedBy"}
