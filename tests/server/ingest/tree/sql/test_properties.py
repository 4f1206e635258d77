"""Whatever a SQL file holds: it is read without an error, nothing of it is lost, and its lines are right."""

import re

from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.sql.catalog import SqlCatalog
from groundwire_ingest.tree.sql.file import read_sql_file

_FRAGMENTS = (
    """
CREATE|ALTER|OR ALTER|TABLE|VIEW|PROCEDURE|PROC|FUNCTION|TRIGGER|INDEX|SYNONYM|TYPE|IF NOT EXISTS|dbo.|[dbo].[Invoice]
Invoice|Customer|"Order"|`lines`|#tmp|@x|@@ROWCOUNT|$1|(|)|,|;|.|=|*|AS|BEGIN|END|END IF|CASE|WHEN|THEN|ELSE|IF|WHILE
LOOP|SELECT|FROM|JOIN|ON|WHERE|INSERT|INTO|VALUES|UPDATE|SET|DELETE|MERGE|USING|WITH|c AS (|EXEC|CALL|RETURN|DECLARE
REFERENCES|FOREIGN KEY|UNION ALL|TOP (5)|OUTPUT|TRUNCATE TABLE|LANGUAGE plpgsql|AS $$|$$|$body$|RETURNS int|FOR EACH ROW
'text'|'it''s'|N'SELECT a FROM b'|'|"|[|]|`|/*|*/|--|\\|/|1|1.5|COPY t FROM stdin;|\\.|GO|DELIMITER $$|/*!50003|GRANT|TO
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

_soups = st.lists(st.tuples(st.sampled_from(_FRAGMENTS), st.sampled_from([" ", "\n", "\r\n", ""])), max_size=60).map(
    lambda pieces: "".join(fragment + gap for fragment, gap in pieces)
)


def _read(text: str) -> tuple[FileAnalysis, SqlCatalog]:
    catalog = SqlCatalog()
    return catalog.add(read_sql_file(SourceFile("db/a.sql", text, "sql"))), catalog


def _assert_exact(text: str, analysis: FileAnalysis) -> None:
    lines = text.split("\n")
    for node in analysis.nodes:
        assert node.text.strip()
        assert node.text in "\n".join(lines[node.start_line - 1 : node.end_line])
        assert node.text.count("\n") == node.end_line - node.start_line
    keys = [node.key for node in analysis.nodes]
    assert len(keys) == len(set(keys))


@given(st.text())
def test_arbitrary_text_is_read_and_its_nodes_are_exact_slices(text: str) -> None:
    analysis, catalog = _read(text)
    _assert_exact(text, analysis)
    catalog.edges()


@given(_soups)
def test_sql_in_any_disorder_is_read_without_loss(text: str) -> None:
    analysis, catalog = _read(text)
    _assert_exact(text, analysis)
    covered = {line for node in analysis.nodes for line in range(node.start_line, node.end_line + 1)}
    for number, line in enumerate(text.split("\n"), start=1):
        is_separator = re.fullmatch(r"\s*GO\s*;?.*", line) is not None
        assert number in covered or is_separator or re.search(r"\w", line) is None, line
    keys = {node.key for node in analysis.nodes}
    edges = (*analysis.edges, *catalog.edges())
    assert all(edge.from_key in keys and edge.to_key in keys and 0 < edge.confidence <= 1 for edge in edges)
    assert len({(edge.from_key, edge.to_key, edge.edge_type) for edge in edges}) == len(edges)


@given(st.lists(_soups, min_size=1, max_size=4))
def test_reading_twice_gives_the_same(texts: list[str]) -> None:
    def run() -> object:
        catalog = SqlCatalog()
        analyses = [
            catalog.add(read_sql_file(SourceFile(f"{number}.sql", text, "sql"))) for number, text in enumerate(texts)
        ]
        return analyses, catalog.edges()

    assert run() == run()
