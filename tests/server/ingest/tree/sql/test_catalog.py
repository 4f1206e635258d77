"""The catalog across files: which object a name means, how sure an edge is, and what is reported."""

import logging
import re

import pytest

from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.sql.catalog import SqlCatalog
from groundwire_ingest.tree.sql.file import read_sql_file
from groundwire_ingest.tree.sql.object_names import parse_name
from support.growth import check_linear


def _catalog(*texts: str) -> SqlCatalog:
    catalog = SqlCatalog()
    for number, text in enumerate(texts, start=1):
        catalog.add(read_sql_file(SourceFile(f"{number}.sql", text, "sql")))
    return catalog


def _analysis(text: str) -> FileAnalysis:
    return SqlCatalog().add(read_sql_file(SourceFile("a.sql", text, "sql")))


def _edges(catalog: SqlCatalog) -> list[tuple[str, str, str, float]]:
    return [
        (edge.from_key.removeprefix("sql::"), edge.edge_type, edge.to_key.removeprefix("sql::"), edge.confidence)
        for edge in catalog.edges()
    ]


def _meant(catalog: SqlCatalog, written: str) -> str | None:
    """The key of the object that a name means."""
    name = parse_name(written)
    meant = None if name is None else catalog.find(name)
    return None if meant is None else meant.object.key


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("dbo.Invoice", "sql::dbo.Invoice|TABLE"),
        ("DBO.INVOICE", "sql::dbo.Invoice|TABLE"),
        ("[dbo].[Invoice]", "sql::dbo.Invoice|TABLE"),
        ('"dbo"."Invoice"', "sql::dbo.Invoice|TABLE"),
        ("Shop.dbo.Invoice", "sql::dbo.Invoice|TABLE"),
        ("Shop..Invoice", "sql::dbo.Invoice|TABLE"),
        ("invoice", "sql::dbo.Invoice|TABLE"),
        ("archive.Invoice", "sql::archive.Invoice|TABLE"),
        ("[Order Line]", "sql::sales.Order Line|TABLE"),
        ("Order", "sql::sales.Order|TABLE"),
        ("Twin", None),
        ("other.Order", None),
        ("#Invoice", None),
        ("@Invoice", None),
        ("Invoice x", None),
        ("dbo.", None),
        ("", None),
        ("nowhere", None),
    ],
)
def test_names_resolve_by_schema_default_or_uniqueness(name: str, key: str | None) -> None:
    catalog = _catalog(
        "CREATE TABLE archive.Invoice (Id int)\nGO\nCREATE TABLE [dbo].[Invoice] (Id int)\nGO\n"
        "CREATE TABLE sales.[Order] (Id int)\nCREATE TABLE sales.[Order Line] (Id int)\n"
        "CREATE TABLE a.Twin (Id int)\nCREATE TABLE b.Twin (Id int)\n"
    )
    assert _meant(catalog, name) == key


def test_the_first_of_several_definitions_is_the_one_that_names_mean() -> None:
    catalog = SqlCatalog()
    text = "CREATE TABLE dbo.Invoice (Id int)\nGO\n"
    ids = [
        node.local_id
        for path in ("1.sql", "2.sql", "3.sql")
        for node in catalog.add(
            read_sql_file(SourceFile(path, text.replace("dbo.I", "DBO.i") if path[0] == "3" else text, "sql"))
        ).nodes
    ]
    assert ids == ["dbo.Invoice|TABLE", "dbo.Invoice|TABLE~2", "DBO.invoice|TABLE~3"]
    assert _meant(catalog, "dbo.invoice") == "sql::dbo.Invoice|TABLE"


def test_an_alter_of_a_t_sql_routine_is_a_definition() -> None:
    analysis = _analysis("CREATE PROC dbo.A AS RETURN 0\nGO\nALTER PROC dbo.A AS SELECT 1\nGO\n")
    assert [node.local_id for node in analysis.nodes] == ["dbo.A|PROC", "dbo.A|PROC~2"]


def test_edges_cross_files_whatever_their_order() -> None:
    catalog = _catalog(
        "CREATE VIEW dbo.v AS SELECT * FROM dbo.Invoice",
        "CREATE TABLE dbo.Invoice (Id int)",
        "ALTER TABLE dbo.Invoice ADD FOREIGN KEY (Id) REFERENCES dbo.Customer(Id)",
        "CREATE TABLE dbo.Customer (Id int)",
    )
    assert _edges(catalog) == [
        ("dbo.v|VIEW", "ReadsFrom", "dbo.Invoice|TABLE", 1.0),
        ("3.sql", "Alters", "dbo.Invoice|TABLE", 1.0),
        ("dbo.Invoice|TABLE", "FK", "dbo.Customer|TABLE", 1.0),
    ]


def _redefined(*texts: str) -> list[tuple[str, str, float]]:
    edges = _edges(_catalog(*texts))
    return [(start, end, confidence) for start, edge_type, end, confidence in edges if edge_type == "RedefinedBy"]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE dbo.A (Id int)",
        "CREATE OR REPLACE VIEW dbo.A AS SELECT 1",
        "CREATE INDEX dbo.A ON dbo.T (Id)",
        "CREATE SEQUENCE dbo.A",
        "CREATE PROC dbo.A @x int AS RETURN 0\nGO\n",
    ],
)
def test_each_older_definition_of_an_object_leads_to_the_current_one(text: str) -> None:
    first, *others = (edge for edge in _redefined(*[text] * 200))
    assert first[0].startswith(("dbo.A|", "A|"))
    assert {end for _, end, _ in (first, *others)} == {f"{first[0]}~200"}
    assert [start for start, _, _ in others] == [f"{first[0]}~{number}" for number in range(2, 200)]


def test_definitions_for_several_database_systems_are_no_redefinitions() -> None:
    catalog = SqlCatalog()
    table, view = "CREATE TABLE t (a int);\n", "CREATE VIEW v AS SELECT a FROM t;\n"
    for path in ("mysql/1.sql", "mysql/2.sql", "sqlite/1.sql", "sqlite/2.sql", "tax_postgres.sql", "views.sql"):
        catalog.add(read_sql_file(SourceFile(path, view if path == "views.sql" else table, "sql")))
    assert {(start, kind, end) for start, kind, end, _ in _edges(catalog)} == {
        ("t|TABLE", "RedefinedBy", "t|TABLE~2"),
        ("t|TABLE~3", "RedefinedBy", "t|TABLE~4"),
        ("v|VIEW", "ReadsFrom", "t|TABLE~2"),
    }


def test_all_parts_of_a_long_older_definition_lead_to_the_current_one() -> None:
    select = f"SELECT '{'a' * 200}'\n"
    text = f"CREATE PROC dbo.A AS\n{select * 40}GO\n"
    assert _redefined("SELECT 1\nGO\n", text, text, text) == [
        (f"dbo.A|PROC{number}{part}", "dbo.A|PROC~3", 0.9) for number in ("", "~2") for part in ("", "@2")
    ]


def test_of_several_definitions_in_one_script_the_last_is_current() -> None:
    text = "CREATE PROC dbo.A AS RETURN 0\nGO\nALTER PROC dbo.A AS SELECT 1\nGO\n"
    assert _redefined(text) == [("dbo.A|PROC", "dbo.A|PROC~2", 0.9)]


def test_the_file_that_is_named_as_the_object_is_current_although_a_script_comes_later() -> None:
    catalog = SqlCatalog()
    for path in ("dbo/Views/Tax.sql", "releases/1.sql", "releases/10.sql", "releases/9.sql"):
        catalog.add(read_sql_file(SourceFile(path, "CREATE VIEW dbo.Tax AS SELECT 1;\n", "sql")))
    assert {(start, end) for start, _, end, _ in _edges(catalog)} == {
        (f"dbo.Tax|VIEW~{number}", "dbo.Tax|VIEW") for number in (2, 3, 4)
    }


def test_a_routine_that_a_later_script_alters_is_redefined() -> None:
    texts = ("CREATE PROC dbo.A AS RETURN 0\nGO\n", "ALTER PROC dbo.a @x int AS SELECT 1\nGO\n")
    assert _redefined(*texts) == [("dbo.A|PROC", "dbo.a|PROC~2", 0.9)]


def test_no_schema_and_the_default_ones_are_one() -> None:
    texts = ("CREATE TABLE t (a int)", "CREATE TABLE dbo.t (a int)", "CREATE TABLE x.t (a int)")
    assert _redefined(*texts) == [("t|TABLE", "dbo.t|TABLE", 0.8)]


@pytest.mark.parametrize(
    ("definition", "other"),
    [
        ("CREATE TABLE dbo.A (Id int)", "CREATE VIEW dbo.A AS SELECT 1"),
        ("CREATE TABLE x.A (Id int)", "CREATE TABLE y.A (Id int)"),
        ("CREATE INDEX ix ON a (Id)", "CREATE INDEX ix ON b (Id)"),
        (
            "CREATE FUNCTION f(i int) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;",
            "CREATE FUNCTION f(i text) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;",
        ),
    ],
)
def test_other_objects_are_no_redefinition(definition: str, other: str) -> None:
    assert _redefined(definition, other) == []
    assert len(_redefined(definition, other, definition)) == 1


def test_what_alters_an_object_leads_to_its_current_definition() -> None:
    table = "CREATE TABLE t (a int);\nALTER TABLE t ADD b int;\n"
    catalog = _catalog(
        table,
        table,
        "CREATE VIEW v AS SELECT a FROM t;",
        "ALTER TABLE ONLY t ADD c int;\nALTER VIEW v RENAME TO w;\nALTER TABLE gone ADD c int;\n",
    )
    altered = [edge for edge in _edges(catalog) if edge[1] == "Alters"]
    assert altered == [("4.sql", "Alters", "t|TABLE~2", 1.0), ("4.sql", "Alters", "v|VIEW", 1.0)]


def test_a_reference_leads_to_the_definition_in_its_file_else_to_the_nearest_and_of_several_to_the_current() -> None:
    catalog = SqlCatalog()
    table, view = "CREATE TABLE t (a int);\n", "CREATE VIEW {} AS SELECT a FROM t;\n"
    files = {
        "a/1.sql": table,
        "a/2.sql": table,
        "b/x/1.sql": table,
        "b/x/2.sql": table + view.format("own"),
        "b/y.sql": view.format("near"),
        "c.sql": view.format("far"),
    }
    for path, text in files.items():
        catalog.add(read_sql_file(SourceFile(path, text, "sql")))
    assert [(start, end) for start, edge_type, end, _ in _edges(catalog) if edge_type == "ReadsFrom"] == [
        ("own|VIEW", "t|TABLE~4"),
        ("near|VIEW", "t|TABLE~4"),
        ("far|VIEW", "t|TABLE~4"),
    ]


def test_a_redefinition_that_names_its_object_names_itself() -> None:
    text = "CREATE PROC dbo.A AS EXEC dbo.A\nGO\n"
    assert _edges(_catalog(text, text)) == [("dbo.A|PROC", "RedefinedBy", "dbo.A|PROC~2", 0.9)]


def test_confidence_falls_with_what_had_to_be_assumed() -> None:
    catalog = _catalog(
        "CREATE TABLE dbo.Invoice (Id int)\nCREATE TABLE sales.Line (Id int)\nCREATE TABLE dbo.Torn (Id int)\nGO\n"
        "CREATE PROC dbo.P AS\n"
        "SELECT * FROM Invoice\n"
        "SELECT * FROM Line\n"
        "SELECT * FROM dbo.Torn WHERE = = 3\n"
        "GO\n"
        "CREATE VIEW dbo.v AS SELECT * FROM Elsewhere.dbo.Invoice\nGO\n"
    )
    assert _edges(catalog) == [
        ("dbo.P|PROC", "ReadsFrom", "dbo.Invoice|TABLE", 1.0),
        ("dbo.P|PROC", "ReadsFrom", "sales.Line|TABLE", 0.9),
        ("dbo.P|PROC", "ReadsFrom", "dbo.Torn|TABLE", 0.7),
        ("dbo.v|VIEW", "ReadsFrom", "dbo.Invoice|TABLE", 0.9),
    ]


def test_quotes_of_any_dialect_are_parsed_where_the_dialect_is_none_of_them() -> None:
    catalog = _catalog(
        "PRAGMA foreign_keys = ON;\nCREATE TABLE `user` (id INTEGER PRIMARY KEY AUTOINCREMENT);\n"
        'CREATE TABLE [a "b"] (id INTEGER);\n'
        "CREATE TRIGGER moved AFTER UPDATE ON `user` BEGIN\n"
        "  UPDATE `user` SET at = (strftime('%s', 'now')) WHERE id IN (SELECT id FROM [a \"b\"]);\nEND;\n"
    )
    assert [edge for edge in _edges(catalog) if edge[1] != "On"] == [
        ("moved|TRIGGER", "WritesTo", "user|TABLE", 1.0),
        ("moved|TRIGGER", "ReadsFrom", 'a "b"|TABLE', 1.0),
    ]


def test_the_surest_of_several_mentions_counts() -> None:
    catalog = _catalog(
        "CREATE TABLE dbo.Invoice (Id int)\nGO\n"
        "CREATE PROC dbo.P AS SELECT * FROM dbo.Invoice WHERE = =\nSELECT * FROM dbo.Invoice\nSELECT Id FROM Invoice\n"
    )
    assert [(edge.confidence, edge.origin) for edge in catalog.edges()] == [(1.0, "1.sql:4")]


def test_a_statement_that_does_not_parse_is_named_and_read_as_far_as_possible() -> None:
    text = """\
CREATE TABLE dbo.A (Id int)
CREATE TABLE dbo.B (Id int)
CREATE TABLE dbo.C (Id int)
CREATE TABLE dbo.Alias (Id int)
CREATE TABLE dbo.Common (Id int)
GO
CREATE FUNCTION dbo.fn(@x int) RETURNS int AS BEGIN RETURN 1 END
GO
CREATE PROC dbo.P AS
WITH Common AS (SELECT 1 AS Id)
UPDATE alias SET Id = EXTRACT(DAY FROM Id) , FROM dbo.A AS alias, dbo.B x
JOIN Common ON dbo.fn(1) = ) ( 2
GO
"""
    catalog = SqlCatalog()
    analysis = catalog.add(read_sql_file(SourceFile("a.sql", text, "sql")))
    (skipped,) = analysis.skipped
    assert skipped.path == "a.sql"
    assert re.fullmatch(
        r"statement at line 10 not parsed \([^<>\n]+\); its references are those that were made out", skipped.why
    )
    assert _edges(catalog) == [
        ("dbo.P|PROC", "WritesTo", "dbo.A|TABLE", 0.7),
        ("dbo.P|PROC", "ReadsFrom", "dbo.B|TABLE", 0.7),
        ("dbo.P|PROC", "Calls", "dbo.fn|FUNC", 0.7),
    ]


def test_common_table_expressions_hide_tables_only_where_they_are_in_scope() -> None:
    catalog = _catalog(
        "CREATE TABLE dbo.A (Id int)\nCREATE TABLE dbo.B (Id int)\nCREATE TABLE dbo.C (Id int)\nGO\n"
        "CREATE VIEW dbo.v1 AS WITH A AS (SELECT * FROM A) SELECT * FROM A JOIN dbo.C ON 1 = 1\nGO\n"
        "CREATE VIEW dbo.v2 AS SELECT * FROM (SELECT * FROM B) x\nGO\n"
        "CREATE VIEW dbo.v3 AS WITH B AS (SELECT 1 x UNION ALL SELECT x FROM B) SELECT * FROM B\nGO\n"
    )
    assert _edges(catalog) == [
        ("dbo.v1|VIEW", "ReadsFrom", "dbo.C|TABLE", 1.0),
        ("dbo.v1|VIEW", "ReadsFrom", "dbo.A|TABLE", 1.0),
        ("dbo.v2|VIEW", "ReadsFrom", "dbo.B|TABLE", 1.0),
    ]


def test_no_object_has_an_edge_to_itself_and_none_dangles() -> None:
    catalog = _catalog(
        "CREATE TABLE dbo.Node (Id int, Parent int REFERENCES dbo.Node(Id), Other int REFERENCES dbo.Missing(Id))"
    )
    assert catalog.edges() == ()


def test_scripts_are_kept_in_runs_and_the_run_that_writes_has_the_edge() -> None:
    inserts = "\n".join(f"INSERT INTO dbo.A (Id) VALUES ({n}) -- {'x' * 80}" for n in range(100))
    text = f"CREATE TABLE dbo.A (Id int)\nCREATE TABLE dbo.B (Id int)\nGO\n{inserts}\nDELETE FROM dbo.B\nGO\n"
    catalog = SqlCatalog()
    analysis = catalog.add(read_sql_file(SourceFile("seed.sql", text, "sql")))
    scripts = [node for node in analysis.nodes if node.path == node.local_id.partition("@")[0]]
    assert [node.local_id for node in scripts] == ["seed.sql", "seed.sql@2"]
    assert {(node.symbol, node.signature) for node in scripts} == {("seed.sql", "")}
    assert "\n".join(node.text for node in scripts) == f"{inserts}\nDELETE FROM dbo.B"
    assert [edge[:3] for edge in _edges(catalog)] == [
        ("seed.sql", "WritesTo", "dbo.A|TABLE"),
        ("seed.sql@2", "WritesTo", "dbo.A|TABLE"),
        ("seed.sql@2", "WritesTo", "dbo.B|TABLE"),
    ]


def test_guards_settings_and_grants_stay_with_the_object_they_surround() -> None:
    text = (
        "SET ANSI_NULLS ON\nGO\nIF OBJECT_ID('dbo.P') IS NOT NULL\n    DROP PROC dbo.P\nGO\n-- pays\n"
        "CREATE PROC dbo.P AS SELECT 1\nGO\nGRANT EXECUTE ON dbo.P TO clerk\nGO\nGRANT SELECT ON dbo.Q TO clerk\n"
    )
    analysis = _analysis(text)
    assert [(node.local_id, node.start_line, node.end_line) for node in analysis.nodes] == [
        ("dbo.P|PROC", 1, 9),
        ("a.sql", 11, 11),
    ]
    assert analysis.skipped == ()


def test_many_settings_above_an_object_are_a_script_of_their_own() -> None:
    text = "".join(f"DROP TABLE IF EXISTS dbo.Table{n}\n" for n in range(100)) + "CREATE TABLE dbo.A (Id int)\n"
    assert [(node.local_id, node.start_line, node.end_line) for node in _analysis(text).nodes] == [
        ("a.sql", 1, 100),
        ("dbo.A|TABLE", 101, 101),
    ]


def test_a_file_without_statements_is_a_script_of_its_comments_or_nothing() -> None:
    assert [node.text for node in _analysis("\n-- to be written\n\n").nodes] == ["-- to be written"]
    assert _analysis(" \n;\nGO\n").nodes == ()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("CREATE TABLE [dbo].[A] ([Id] int)\nGO", "tsql"),
        ("CREATE TABLE a (id serial)", "postgres"),
        ("CREATE TABLE `a` (`id` int) ENGINE=InnoDB", "mysql"),
        ("CREATE TABLE a (id integer PRIMARY KEY AUTOINCREMENT)", "sql"),
        ("CREATE TABLE a (id int)", "sql"),
        ("SELECT a FROM b -- [dbo].[A] nvarchar(5)\nWHERE c = 'DECLARE @x'", "sql"),
        ("DELETE FROM a USING b WHERE a.id = b.id; SELECT a -> 'x' ->> 'y' FROM b WHERE c @> d;", "postgres"),
    ],
)
def test_the_dialect_is_told_from_evidence(text: str, language: str) -> None:
    assert {node.language for node in _analysis(text).nodes} == {language}


def test_an_object_without_a_known_schema_is_found_under_the_default_ones() -> None:
    catalog = _catalog("CREATE TABLE Invoice (Id int)")
    assert _meant(catalog, "dbo.Invoice") == _meant(catalog, "public.invoice") == "sql::Invoice|TABLE"
    assert _meant(catalog, "sales.Invoice") is None


def test_the_parser_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        _analysis("EXPLAIN PLAN FOR SELECT 1; REPLACE INTO a.b (x) SELECT 1 FROM z; CREATE RULE x AS ON UPDATE TO y;")
    assert caplog.records == []
    assert logging.getLogger("sqlglot").filters == []


def test_a_parser_that_breaks_down_costs_one_tree_and_not_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise ValueError("Cannot convert empty name into var.")

    monkeypatch.setattr("sqlglot.parse", break_down)
    catalog = _catalog("CREATE TABLE dbo.A (Id int)\nGO\nCREATE VIEW dbo.v AS SELECT * FROM dbo.A\nGO\n")
    assert _edges(catalog) == []
    (skipped,) = _analysis("CREATE VIEW dbo.v AS SELECT * FROM dbo.A\nGO\n").skipped
    assert "(the SQL parser failed with ValueError)" in skipped.why


def test_the_time_of_many_rows_grows_with_their_number() -> None:
    def read(rows: int) -> None:
        text = "INSERT INTO dbo.A (Id, Name) VALUES\n" + "(1, N'a name; with marks'),\n" * rows + "(2, N'b');\n"
        assert len(_analysis(text).nodes) > rows // 1_000

    check_linear(read, 300)


def test_nesting_never_recurses_and_its_time_grows_with_its_depth() -> None:
    def read(depth: int) -> None:
        text = "SELECT " + "(" * depth + "1" + ")" * depth + ";\nSELECT " + "NOT " * (depth // 2) + "1;\n"
        assert [skipped.why.partition("(")[2].partition(")")[0] for skipped in _analysis(text).skipped] == [
            "nested deeper than 60 parentheses",
            "nested too deeply",
        ]

    check_linear(read, 500)


@pytest.mark.parametrize("run", ["GO{spaces}x", "a GENERATED b{spaces}x", "GO{spaces};{spaces}1"])
def test_a_long_run_of_spaces_costs_no_more_than_other_text(run: str) -> None:
    check_linear(lambda spaces: _analysis("EXEC dbo.Pay;\n" + run.format(spaces=" " * spaces) + "\n"), 5_000)
