"""T-SQL files: batches, statements without semicolons, routines to the end of their batch."""

import pytest

from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.sql.catalog import SqlCatalog
from groundwire_ingest.tree.sql.file import read_sql_file

TABLES = """\
USE [Shop]
GO
/****** Object:  Table [dbo].[Customer] ******/
SET ANSI_NULLS ON
GO
CREATE TABLE [dbo].[Customer](
    [Id] [int] IDENTITY(1,1) NOT NULL PRIMARY KEY CLUSTERED
) ON [PRIMARY]
GO
CREATE TABLE [dbo].[Invoice](
    [Id] [int] IDENTITY(1,1) NOT NULL,
    [CustomerId] int NOT NULL,
    [Total] AS (dbo.fn_Total(Id))
) -- one row an invoice
GO
ALTER TABLE [dbo].[Invoice] WITH CHECK ADD CONSTRAINT FK_Customer FOREIGN KEY(CustomerId)
REFERENCES [dbo].[Customer]([Id]) ON UPDATE CASCADE ON DELETE SET NULL
GO
CREATE TABLE dbo.Audit (Id int) CREATE TABLE sales.Line (Id int, Invoice int REFERENCES Invoice(Id))
CREATE UNIQUE NONCLUSTERED INDEX IX_Line ON sales.Line(Id) INCLUDE (Invoice) WITH (FILLFACTOR = 90)
GO
"""

ROUTINES = """\
-- total of an invoice
CREATE FUNCTION dbo.fn_Total(@id int) RETURNS decimal(18,2) AS
BEGIN
    RETURN ISNULL((SELECT SUM(l.Id) FROM sales.Line l WHERE l.Invoice = @id), 0)
END
GO
CREATE OR ALTER PROCEDURE dbo.Invoice_Create @customer int, @note AS nvarchar(10) = N'x', @id int OUTPUT
WITH EXECUTE AS OWNER
AS
SET NOCOUNT ON
INSERT INTO dbo.Invoice (CustomerId) VALUES (@customer)
GO
CREATE VIEW dbo.v_Invoice WITH SCHEMABINDING AS
WITH c AS (SELECT Id FROM dbo.Customer)
SELECT i.* FROM dbo.Invoice i INNER JOIN c ON c.Id = i.CustomerId
GO
CREATE TRIGGER trg_Invoice ON dbo.Invoice AFTER INSERT, UPDATE AS
BEGIN
    IF UPDATE(CustomerId) INSERT INTO Audit SELECT Id FROM inserted
END
GO
CREATE SYNONYM dbo.Inv FOR [Shop].[dbo].[Invoice]
GO
"""


def _read(*texts: str) -> tuple[list[FileAnalysis], SqlCatalog]:
    catalog = SqlCatalog()
    return [
        catalog.add(read_sql_file(SourceFile(f"{n}.sql", text, "sql"))) for n, text in enumerate(texts, start=1)
    ], catalog


def _edges(catalog: SqlCatalog, from_id: str) -> set[tuple[str, str]]:
    return {
        (edge.edge_type, edge.to_key.removeprefix("sql::"))
        for edge in catalog.edges()
        if edge.from_key == f"sql::{from_id}"
    }


def _procedure_edges(body: str) -> set[tuple[str, str]]:
    """The edges of a procedure with this body, besides the objects of TABLES and ROUTINES."""
    analyses, catalog = _read(TABLES, ROUTINES, f"CREATE PROC dbo.Subject @x int, @d date AS\n{body}\nGO\n")
    assert not analyses[-1].skipped
    return _edges(catalog, "dbo.Subject|PROC")


def test_each_object_is_a_node_with_its_exact_lines() -> None:
    (tables, routines), _ = _read(TABLES, ROUTINES)
    assert [(node.local_id, node.start_line, node.end_line) for node in (*tables.nodes, *routines.nodes)] == [
        ("dbo.Customer|TABLE", 1, 8),
        ("dbo.Invoice|TABLE", 10, 17),
        ("dbo.Audit|TABLE", 19, 19),
        ("sales.Line|TABLE", 19, 19),
        ("sales.IX_Line|INDEX", 20, 20),
        ("dbo.fn_Total|FUNC", 1, 5),
        ("dbo.Invoice_Create|PROC", 7, 11),
        ("dbo.v_Invoice|VIEW", 13, 15),
        ("dbo.trg_Invoice|TRIGGER", 17, 20),
        ("dbo.Inv|SYNONYM", 22, 22),
    ]
    assert tables.nodes[2].text == "CREATE TABLE dbo.Audit (Id int)"
    assert routines.nodes[0].text.startswith("-- total of an invoice\nCREATE FUNCTION")
    assert routines.nodes[0].text.endswith("END")
    assert not tables.skipped
    assert not routines.skipped


def test_a_node_names_its_symbol_signature_and_class() -> None:
    (_, routines), _ = _read(TABLES, ROUTINES)
    procedure = routines.nodes[1]
    assert procedure.key == "sql::dbo.Invoice_Create|PROC"
    assert procedure.symbol == "dbo.Invoice_Create"
    assert procedure.signature == (
        "CREATE OR ALTER PROCEDURE dbo.Invoice_Create @customer int, @note AS nvarchar(10) = N'x', @id int OUTPUT "
        "WITH EXECUTE AS OWNER"
    )
    assert (procedure.language, procedure.data_type, procedure.corpus_type) == ("tsql", "db_code", "CODE_LOGIC")
    assert (procedure.path, procedure.origin) == ("2.sql", "2.sql:7")


def test_a_long_signature_is_cut() -> None:
    columns = ",\n".join(f"    Column{n} int NOT NULL" for n in range(100))
    (analysis,), _ = _read(f"CREATE TABLE dbo.Wide (\n{columns}\n)\nGO\n")
    assert len(analysis.nodes[0].signature) <= 300
    assert analysis.nodes[0].signature.startswith("CREATE TABLE dbo.Wide ( Column0 int NOT NULL, Column1")
    assert analysis.nodes[0].signature.endswith(" ...")


def test_definitions_depend_on_what_they_state() -> None:
    _, catalog = _read(TABLES, ROUTINES)
    assert _edges(catalog, "dbo.Invoice|TABLE") == {("FK", "dbo.Customer|TABLE"), ("Calls", "dbo.fn_Total|FUNC")}
    assert _edges(catalog, "sales.Line|TABLE") == {("FK", "dbo.Invoice|TABLE")}
    assert _edges(catalog, "sales.IX_Line|INDEX") == {("On", "sales.Line|TABLE")}
    assert _edges(catalog, "dbo.fn_Total|FUNC") == {("ReadsFrom", "sales.Line|TABLE")}
    assert _edges(catalog, "dbo.v_Invoice|VIEW") == {
        ("ReadsFrom", "dbo.Customer|TABLE"),
        ("ReadsFrom", "dbo.Invoice|TABLE"),
    }
    assert _edges(catalog, "dbo.trg_Invoice|TRIGGER") == {("On", "dbo.Invoice|TABLE"), ("WritesTo", "dbo.Audit|TABLE")}
    assert _edges(catalog, "dbo.Inv|SYNONYM") == {("SynonymFor", "dbo.Invoice|TABLE")}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("SELECT * FROM dbo.Invoice SELECT * FROM Audit", {"ReadsFrom dbo.Invoice", "ReadsFrom dbo.Audit"}),
        ("SELECT * FROM dbo.Audit WITH (xlock rowlock readpast)", {"ReadsFrom dbo.Audit"}),
        ("SET NOCOUNT ON DELETE FROM dbo.Audit", {"WritesTo dbo.Audit"}),
        ("SET IDENTITY_INSERT dbo.Audit ON INSERT dbo.Invoice DEFAULT VALUES", {"WritesTo dbo.Invoice"}),
        ("DELETE dbo.Audit WHERE Id = @x", {"WritesTo dbo.Audit"}),
        ("DELETE TOP (5) FROM dbo.Audit", {"WritesTo dbo.Audit"}),
        (
            "UPDATE i SET i.Id += 1 FROM dbo.Invoice AS i JOIN Customer c ON c.Id = i.CustomerId",
            {"WritesTo dbo.Invoice", "ReadsFrom dbo.Customer"},
        ),
        (
            "DELETE i FROM dbo.Invoice i WITH (ROWLOCK) JOIN dbo.Audit a ON a.Id = i.Id",
            {"WritesTo dbo.Invoice", "ReadsFrom dbo.Audit"},
        ),
        ("WITH x AS (SELECT Id FROM dbo.Audit) DELETE FROM x WHERE Id > 1", {"WritesTo dbo.Audit"}),
        (
            "INSERT INTO dbo.Audit (Id) OUTPUT inserted.Id INTO sales.Line (Id) SELECT Id FROM Invoice",
            {"WritesTo dbo.Audit", "WritesTo sales.Line", "ReadsFrom dbo.Invoice"},
        ),
        ("INSERT INTO dbo.Audit EXEC Invoice_Create 1", {"WritesTo dbo.Audit", "Executes dbo.Invoice_Create"}),
        (
            "INSERT dbo.Audit VALUES ((SELECT MAX(Id) FROM dbo.Customer))",
            {"WritesTo dbo.Audit", "ReadsFrom dbo.Customer"},
        ),
        ("EXEC @x = [dbo].[Invoice_Create] @customer = 1", {"Executes dbo.Invoice_Create"}),
        ("TRUNCATE TABLE dbo.Audit", {"WritesTo dbo.Audit"}),
        (
            "MERGE dbo.Audit AS t USING dbo.Invoice s ON s.Id = t.Id WHEN MATCHED THEN UPDATE SET Id = s.Id\n"
            "WHEN NOT MATCHED THEN INSERT (Id) VALUES (s.Id) WHEN NOT MATCHED BY SOURCE THEN DELETE;",
            {"WritesTo dbo.Audit", "ReadsFrom dbo.Invoice"},
        ),
        (
            "IF NOT EXISTS (SELECT 1 FROM dbo.Audit) SET @x = (SELECT MAX(Id) FROM Customer) ELSE PRINT 'no'",
            {"ReadsFrom dbo.Audit", "ReadsFrom dbo.Customer"},
        ),
        ("SET @x = dbo.fn_Total(3)", {"Calls dbo.fn_Total"}),
        ("EXEC @x = dbo.fn_Total 3", {"Calls dbo.fn_Total"}),
        ("SELECT dbo.fn_Total(c.Id) FROM dbo.Customer c", {"Calls dbo.fn_Total", "ReadsFrom dbo.Customer"}),
        ("SELECT a.Id INTO #Customer FROM dbo.Audit a SELECT * FROM #Customer", {"ReadsFrom dbo.Audit"}),
        ("SELECT Id INTO sales.Line FROM dbo.Audit", {"WritesTo sales.Line", "ReadsFrom dbo.Audit"}),
        ("DECLARE @Audit TABLE (Id int) SELECT * FROM @Audit", set()),
        ("DECLARE c CURSOR FOR SELECT Id FROM dbo.Audit OPEN c FETCH NEXT FROM c INTO @x", {"ReadsFrom dbo.Audit"}),
        ("UPDATE STATISTICS dbo.Audit", set()),
        ("GRANT SELECT, DELETE ON dbo.Audit TO clerk SELECT * FROM dbo.Customer", {"ReadsFrom dbo.Customer"}),
        ("SELECT CASE WHEN 1 = 1 THEN 'a' ELSE 'b' END FROM dbo.Audit", {"ReadsFrom dbo.Audit"}),
        (
            "BEGIN TRY BEGIN TRAN UPDATE Audit SET Id = 1 COMMIT END TRY BEGIN CATCH ROLLBACK END CATCH",
            {"WritesTo dbo.Audit"},
        ),
    ],
)
def test_statements_of_a_procedure_become_edges(body: str, expected: set[str]) -> None:
    assert {f"{edge_type} {to.partition('|')[0]}" for edge_type, to in _procedure_edges(body)} == expected


def test_the_rows_of_a_trigger_are_no_tables() -> None:
    _, catalog = _read(
        "CREATE TABLE dbo.inserted (Id int)\nCREATE TABLE dbo.T (Id int)\nGO\n"
        "CREATE TRIGGER dbo.tr ON dbo.T AFTER INSERT AS DELETE FROM T WHERE Id IN (SELECT Id FROM inserted)"
    )
    assert _edges(catalog, "dbo.tr|TRIGGER") == {("On", "dbo.T|TABLE"), ("WritesTo", "dbo.T|TABLE")}


def test_sql_in_a_string_counts_with_less_confidence() -> None:
    body = "CREATE PROC dbo.Subject AS EXEC sp_executesql N'SELECT * FROM dbo.Audit WHERE x = ''y'''"
    _, catalog = _read(TABLES, body)
    edges = [edge for edge in catalog.edges() if edge.from_key == "sql::dbo.Subject|PROC"]
    assert [(edge.edge_type, edge.to_key, edge.confidence) for edge in edges] == [
        ("ReadsFrom", "sql::dbo.Audit|TABLE", 0.7)
    ]


def test_a_procedure_reaches_to_the_end_of_its_batch_and_no_further() -> None:
    text = "CREATE PROC dbo.A AS\nBEGIN SELECT 1 END;\nCREATE TABLE #t (Id int)\nGO\nPRINT 'x'\nEXEC dbo.A\n"
    (analysis,), _ = _read(text)
    assert [(node.local_id, node.start_line, node.end_line) for node in analysis.nodes] == [
        ("dbo.A|PROC", 1, 3),
        ("1.sql", 5, 6),
    ]


def test_a_second_routine_ends_the_first_even_without_a_batch_separator() -> None:
    text = "CREATE PROC dbo.A AS SELECT @@ROWCOUNT\nCREATE PROC dbo.B AS\nSELECT 1\n"
    (analysis,), _ = _read(text)
    assert [(node.local_id, node.text) for node in analysis.nodes] == [
        ("dbo.A|PROC", "CREATE PROC dbo.A AS SELECT @@ROWCOUNT"),
        ("dbo.B|PROC", "CREATE PROC dbo.B AS\nSELECT 1"),
    ]


def test_separators_in_comments_and_strings_separate_nothing() -> None:
    text = "CREATE PROC dbo.A AS\n/*\nGO\n*/\nSELECT '\nGO\n' AS [a\nGO\nEXEC dbo.A\n"
    (analysis,), _ = _read(text)
    assert [(node.local_id, node.start_line, node.end_line) for node in analysis.nodes] == [
        ("dbo.A|PROC", 1, 7),
        ("1.sql", 9, 9),
    ]


def test_a_long_body_is_cut_between_its_statements() -> None:
    statements = "\n".join(
        f"    UPDATE dbo.Audit\n    SET Id = {n}\n    WHERE Id = {n} + 1 -- {'x' * 60}" for n in range(100)
    )
    text = f"CREATE PROC dbo.Long AS\nBEGIN\n{statements}\nEND\nGO\n"
    (_, analysis), catalog = _read(TABLES, text)
    ids = [node.local_id for node in analysis.nodes]
    assert ids == ["dbo.Long|PROC", *(f"dbo.Long|PROC@{n}" for n in range(2, len(ids) + 1))]
    assert len(ids) > 1
    assert all(node.text.startswith("    UPDATE") for node in analysis.nodes[1:])
    assert "\n".join(node.text for node in analysis.nodes) == text.removesuffix("\nGO\n")
    assert {(edge.from_key, edge.to_key, edge.edge_type) for edge in analysis.edges} == {
        ("sql::dbo.Long|PROC", f"sql::{part}", "Contains") for part in ids[1:]
    }
    assert _edges(catalog, "dbo.Long|PROC") == {("WritesTo", "dbo.Audit|TABLE")}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM dbo.Audit a CROSS APPLY dbo.Split(a.Id, ',') s",
        "SELECT v FROM [dbo].[Split]('a', ',') JOIN dbo.Audit ON v = Id",
        "SELECT dbo.Split(Id) FROM dbo.Audit",
        "SELECT * FROM dbo.Audit (NOLOCK) WHERE Id IN (SELECT v FROM dbo.Split('a'))",
    ],
)
def test_a_function_of_the_tree_may_have_the_name_of_one_of_sql(query: str) -> None:
    function = "CREATE FUNCTION dbo.Split(@s int) RETURNS TABLE AS RETURN (SELECT 1 AS v)"
    _, catalog = _read(TABLES, function, f"CREATE PROC dbo.Subject AS {query}")
    assert _edges(catalog, "dbo.Subject|PROC") == {("ReadsFrom", "dbo.Audit|TABLE"), ("Calls", "dbo.Split|FUNC")}


def test_a_function_of_sql_is_none_of_the_tree_without_a_schema() -> None:
    function = "CREATE FUNCTION dbo.Split(@s int) RETURNS TABLE AS RETURN (SELECT 1 AS v)"
    _, catalog = _read(TABLES, function, "CREATE PROC dbo.Subject AS SELECT SPLIT(Id, ',') FROM dbo.Audit")
    assert _edges(catalog, "dbo.Subject|PROC") == {("ReadsFrom", "dbo.Audit|TABLE")}
