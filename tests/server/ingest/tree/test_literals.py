"""SQL and procedure names in string literals, and entities, as edges into the catalog."""

from collections.abc import Sequence
from itertools import chain

import pytest

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.file_analysis import EntityMapping, SourceFile, StringLiteral
from groundwire_ingest.tree.literals import ProcedureNames, literal_edges, references_in, statements
from groundwire_ingest.tree.sql.catalog import SqlCatalog, unique_edges
from groundwire_ingest.tree.sql.file import read_sql_file
from groundwire_ingest.tree.tables import entity_edges

SCHEMA = """\
CREATE TABLE dbo.Invoice (Id int)
CREATE TABLE dbo.Customer (Id int)
CREATE TABLE sales.[Order] (Id int)
GO
CREATE VIEW dbo.v_Invoice AS SELECT 1 AS Id
GO
CREATE FUNCTION dbo.fn_Total(@id int) RETURNS int AS BEGIN RETURN 1 END
GO
CREATE PROC dbo.Invoice_Create AS RETURN 0
GO
CREATE PROC dbo.Run AS RETURN 0
GO
CREATE PROC sales.Order_Close AS RETURN 0
GO
"""


@pytest.fixture(scope="module")
def catalog() -> SqlCatalog:
    catalog = SqlCatalog()
    catalog.add(read_sql_file(SourceFile("schema.sql", SCHEMA, "sql")))
    return catalog


def _all_edges(catalog: SqlCatalog, literals: Sequence[StringLiteral]) -> Sequence[SourceEdge]:
    read = (literal_edges(catalog, statement.literal, references_in(statement)) for statement in statements(literals))
    return unique_edges(chain(ProcedureNames(catalog).edges(literals), *read))


def _edges(catalog: SqlCatalog, text: str) -> set[tuple[str, str, float]]:
    return {
        (edge.edge_type, edge.to_key.removeprefix("sql::").partition("|")[0], edge.confidence)
        for edge in _all_edges(catalog, [StringLiteral("cs::Billing.Pay", text, 7)])
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dbo.Invoice_Create", {("Executes", "dbo.Invoice_Create", 0.8)}),
        (" [dbo].[Invoice_Create] ", {("Executes", "dbo.Invoice_Create", 0.8)}),
        ("dbo.Run", {("Executes", "dbo.Run", 0.8)}),
        ("invoice_create", {("Executes", "dbo.Invoice_Create", 0.6)}),
        ("Invoice_Create @id, @amount", {("Executes", "dbo.Invoice_Create", 0.6)}),
        ("Order_Close", {("Executes", "sales.Order_Close", 0.6)}),
        ("Run", set()),
        ("Invoice", set()),
        ("dbo.Invoice", set()),
        ("dbo.fn_Total", set()),
        ("dbo.Nothing_Create", set()),
    ],
)
def test_a_literal_that_is_a_procedures_name_executes_it(
    catalog: SqlCatalog, text: str, expected: set[tuple[str, str, float]]
) -> None:
    assert _edges(catalog, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM Invoice WHERE Id = @id", {("ReadsFrom", "dbo.Invoice", 0.9)}),
        ("select id from invoice", {("ReadsFrom", "dbo.Invoice", 0.9)}),
        ("Select * From dbo.v_Invoice", {("ReadsFrom", "dbo.v_Invoice", 0.9)}),
        (
            "SELECT o.Id FROM [sales].[Order] o JOIN dbo.Customer c ON c.Id = o.Id WHERE o.Id = %s AND c.Id = {id}",
            {("ReadsFrom", "sales.Order", 0.9), ("ReadsFrom", "dbo.Customer", 0.9)},
        ),
        ("INSERT INTO Customer (Id) VALUES ($1,$2)", {("WritesTo", "dbo.Customer", 0.9)}),
        ("delete from Customer where Id = %(id)s", {("WritesTo", "dbo.Customer", 0.9)}),
        ("UPDATE {table} SET Id = 1 FROM v_Invoice", {("ReadsFrom", "dbo.v_Invoice", 0.9)}),
        ("exec dbo.Invoice_Create", {("Executes", "dbo.Invoice_Create", 0.9)}),
        ("EXEC Invoice_Create @id", {("Executes", "dbo.Invoice_Create", 0.9)}),
        ("{call dbo.Invoice_Create(?, ?)}", {("Executes", "dbo.Invoice_Create", 0.9)}),
        ("{? = call Invoice_Create(?)}", {("Executes", "dbo.Invoice_Create", 0.9)}),
        ("SELECT dbo.fn_Total(@id)", {("Calls", "dbo.fn_Total", 0.9)}),
        ("BEGIN; DELETE FROM Invoice; COMMIT", {("WritesTo", "dbo.Invoice", 0.9)}),
        ("query failed: SELECT Id FROM Invoice", {("ReadsFrom", "dbo.Invoice", 0.9)}),
        ("SELECT * FROM [Order]", {("ReadsFrom", "sales.Order", 0.9)}),
    ],
)
def test_sql_that_parses_becomes_edges(catalog: SqlCatalog, text: str, expected: set[tuple[str, str, float]]) -> None:
    assert _edges(catalog, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM Invoice WHERE ", {("ReadsFrom", "dbo.Invoice", 0.6)}),
        (" JOIN dbo.Customer c ON c.Id = ", {("ReadsFrom", "dbo.Customer", 0.6)}),
        ("FROM Customer", {("ReadsFrom", "dbo.Customer", 0.6)}),
        ("UPDATE Invoice SET Id = ", {("WritesTo", "dbo.Invoice", 0.6)}),
        (
            "select {column} x, count(*) y from Customer {cohort} join Invoice on Invoice.Id = Customer.Id {rest}",
            {("ReadsFrom", "dbo.Customer", 0.6), ("ReadsFrom", "dbo.Invoice", 0.6)},
        ),
    ],
)
def test_pieces_of_sql_count_less(catalog: SqlCatalog, text: str, expected: set[tuple[str, str, float]]) -> None:
    assert _edges(catalog, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Please select a customer from the list",
        "Select a customer from the Invoice",
        "select the name from Customer and then press the button",
        "You can select any invoice from Customer",
        "Update Customer",
        "Update customer when done, then set Invoice",
        "Delete Invoice",
        "Delete invoice from Customer",
        "Insert Invoice",
        "from Customer import Invoice",
        "Call Invoice_Create when ready",
        "SELECT * FROM Elsewhere",
        "SELECT 'Invoice'",
        "",
        "(",
        "'",
    ],
)
def test_prose_and_unknown_names_make_no_edge(catalog: SqlCatalog, text: str) -> None:
    assert _edges(catalog, text) == set()


def test_each_edge_comes_once_with_its_surest_mention_and_its_place(catalog: SqlCatalog) -> None:
    literals = [
        StringLiteral("cs::A", "SELECT * FROM Invoice WHERE ", 3),
        StringLiteral("cs::A", "SELECT * FROM Invoice", 9),
        StringLiteral("cs::B", "SELECT * FROM Invoice", 4),
    ]
    edges = _all_edges(catalog, literals)
    assert [(edge.from_key, edge.confidence, edge.origin) for edge in edges] == [
        ("cs::A", 0.9, "cs::A, line 9"),
        ("cs::B", 0.9, "cs::B, line 4"),
    ]


def test_entities_map_to_tables_and_views_only(catalog: SqlCatalog) -> None:
    mappings = [
        EntityMapping("cs::Invoice", "Invoice", 0.7),
        EntityMapping("cs::Invoice", "dbo.Invoice", 1.0),
        EntityMapping("cs::Order", "Order", 1.0),
        EntityMapping("cs::View", "[dbo].[v_Invoice]", 0.7),
        EntityMapping("cs::Procedure", "Invoice_Create", 1.0),
        EntityMapping("cs::Unknown", "Nothing", 1.0),
        EntityMapping("cs::Odd", "no table, no name", 1.0),
    ]
    assert [
        (edge.from_key, edge.edge_type, edge.to_key, edge.confidence) for edge in entity_edges(catalog, mappings)
    ] == [
        ("cs::Invoice", "MapsTo", "sql::dbo.Invoice|TABLE", 1.0),
        ("cs::Order", "MapsTo", "sql::sales.Order|TABLE", 0.9),
        ("cs::View", "MapsTo", "sql::dbo.v_Invoice|VIEW", 0.7),
    ]
