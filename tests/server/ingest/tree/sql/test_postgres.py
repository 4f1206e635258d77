"""PostgreSQL and MySQL files: dollar quotes, dumps with data, PL/pgSQL bodies, changed delimiters."""

from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.sql.catalog import SqlCatalog
from groundwire_ingest.tree.sql.file import read_sql_file

DUMP = """\
-- PostgreSQL database dump
SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);

CREATE TYPE public.rating AS ENUM ('G', 'PG');

CREATE TABLE public.actor (
    id integer DEFAULT nextval('actor_id'::regclass) NOT NULL,
    name text[] NOT NULL
);
ALTER TABLE public.actor OWNER TO postgres;
COMMENT ON COLUMN public.actor.name IS 'first; last';

CREATE TABLE film (id serial primary key, actor_id int REFERENCES actor ON DELETE CASCADE);
CREATE TABLE other.log (id int); CREATE TABLE audits (a int);
COPY public.actor (id, name) FROM stdin;
1\tit's
2\ta; CREATE TABLE ghost (id int);
\\.
ALTER TABLE ONLY film ADD CONSTRAINT c FOREIGN KEY (id) REFERENCES other.log(id) ON UPDATE CASCADE;
CREATE INDEX CONCURRENTLY IF NOT EXISTS film_ix ON ONLY film USING btree (id);
CREATE MATERIALIZED VIEW films AS SELECT * FROM film WITH NO DATA;
"""

ROUTINES = """\
CREATE OR REPLACE FUNCTION titles(p_id integer, OUT n int) RETURNS SETOF film
    LANGUAGE plpgsql AS $_$
DECLARE r film%ROWTYPE;
BEGIN
  -- a comment; with a semicolon
  SELECT name[1], count(*) INTO STRICT v, n FROM actor WHERE id = $1 OR id IN ($1,$2);
  IF NOT EXISTS (SELECT 1 FROM other.log) THEN
    INSERT INTO other.log(id) SELECT id FROM film ON CONFLICT (id) DO UPDATE SET id = (SELECT max(a) FROM audits);
  ELSIF audited(p_id) THEN
    UPDATE actor SET name = v RETURNING id INTO n;
  END IF;
  FOR r IN SELECT * FROM films LOOP RETURN NEXT r; END LOOP;
  PERFORM other.noted(r.id);
  CALL cleared(1);
  EXECUTE format('DELETE FROM film WHERE id = %L', p_id);
END
$_$;
CREATE FUNCTION audited(i int) RETURNS boolean AS 'select true from actor' LANGUAGE sql;
CREATE FUNCTION audited(i text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
CREATE FUNCTION other.noted(i int) RETURNS void AS $$ import plpy; x = 'SELECT * FROM actor' $$ LANGUAGE plpython3u;
CREATE PROCEDURE cleared(i int) LANGUAGE sql BEGIN ATOMIC INSERT INTO other.log VALUES (i); DELETE FROM film; END;
CREATE TRIGGER film_audit BEFORE INSERT OR UPDATE OF id ON public.film
    FOR EACH ROW WHEN (NEW.id > 0) EXECUTE FUNCTION audited();
DO $$ BEGIN UPDATE film SET id = 1; END $$;
COPY actor TO stdout;
"""

MYSQL = """\
DROP TABLE IF EXISTS `actor`;
CREATE TABLE `actor` (
  `id` int unsigned NOT NULL AUTO_INCREMENT COMMENT 'it\\'s; fine',
  `film` int, CONSTRAINT `fk` FOREIGN KEY (`film`) REFERENCES `film` (`id`) ON DELETE RESTRICT
) ENGINE=InnoDB;
# a comment; of MySQL
CREATE TABLE film (id int) ENGINE=InnoDB;
DELIMITER $$
CREATE DEFINER=`root`@`localhost` PROCEDURE `refill`(IN a INT, OUT b INT)
READS SQL DATA
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; END;
  SELECT COUNT(*) INTO b FROM actor WHERE id = a;
  IF (a > 1) THEN REPLACE INTO film (id) SELECT id FROM actor; ELSE CALL empty_all(); END IF;
END$$
CREATE TRIGGER tr AFTER UPDATE ON `film` FOR EACH ROW INSERT INTO actor (id) VALUES (NEW.id)$$
DELIMITER ;
CREATE PROCEDURE empty_all() BEGIN
  UPDATE film SET id = CASE WHEN 1 THEN 2 END; IF 1 THEN SELECT 1; END IF; DELETE FROM shop.actor;
END;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER `ins` AFTER INSERT ON `film` FOR EACH ROW
  DELETE FROM actor */;
"""


def _read(*texts: str) -> tuple[list[FileAnalysis], SqlCatalog]:
    catalog = SqlCatalog()
    return [
        catalog.add(read_sql_file(SourceFile(f"{n}.sql", text, "sql"))) for n, text in enumerate(texts, start=1)
    ], catalog


def _spans(analysis: FileAnalysis) -> list[tuple[str, int, int]]:
    return [(node.local_id, node.start_line, node.end_line) for node in analysis.nodes]


def _edges(catalog: SqlCatalog, from_id: str) -> set[tuple[str, str]]:
    return {
        (edge.edge_type, edge.to_key.removeprefix("sql::"))
        for edge in catalog.edges()
        if edge.from_key == f"sql::{from_id}"
    }


def test_a_dump_is_cut_into_its_objects_with_what_is_said_about_them() -> None:
    (analysis,), _ = _read(DUMP)
    assert _spans(analysis) == [
        ("1.sql", 1, 3),
        ("public.rating|TYPE", 5, 5),
        ("public.actor|TABLE", 7, 12),
        ("public.film|TABLE", 14, 14),
        ("other.log|TABLE", 15, 15),
        ("public.audits|TABLE", 15, 15),
        ("1.sql@2", 16, 20),
        ("public.film_ix|INDEX", 21, 21),
        ("public.films|VIEW", 22, 22),
    ]
    assert {node.language for node in analysis.nodes} == {"postgres"}
    assert [(edge.from_key, edge.to_key) for edge in analysis.edges] == [("sql::1.sql", "sql::1.sql@2")]
    assert not analysis.skipped


def test_a_dump_states_keys_indexes_views_and_loaded_tables() -> None:
    _, catalog = _read(DUMP)
    assert _edges(catalog, "public.film|TABLE") == {("FK", "public.actor|TABLE"), ("FK", "other.log|TABLE")}
    assert _edges(catalog, "public.film_ix|INDEX") == {("On", "public.film|TABLE")}
    assert _edges(catalog, "public.films|VIEW") == {("ReadsFrom", "public.film|TABLE")}
    assert _edges(catalog, "1.sql@2") == {("WritesTo", "public.actor|TABLE"), ("Alters", "public.film|TABLE")}
    assert {edge.confidence for edge in catalog.edges()} == {1.0}


def test_bodies_of_routines_are_read_statement_by_statement() -> None:
    (_, analysis), catalog = _read(DUMP, ROUTINES)
    assert _spans(analysis) == [
        ("public.titles|FUNC", 1, 17),
        ("public.audited|FUNC", 18, 18),
        ("public.audited|FUNC~2", 19, 19),
        ("other.noted|FUNC", 20, 20),
        ("public.cleared|PROC", 21, 21),
        ("public.film_audit|TRIGGER", 22, 23),
        ("2.sql", 24, 25),
    ]
    assert _edges(catalog, "public.titles|FUNC") == {
        ("ReadsFrom", "public.actor|TABLE"),
        ("ReadsFrom", "other.log|TABLE"),
        ("WritesTo", "other.log|TABLE"),
        ("ReadsFrom", "public.audits|TABLE"),
        ("ReadsFrom", "public.film|TABLE"),
        ("Calls", "public.audited|FUNC"),
        ("WritesTo", "public.actor|TABLE"),
        ("ReadsFrom", "public.films|VIEW"),
        ("Calls", "other.noted|FUNC"),
        ("Executes", "public.cleared|PROC"),
        ("WritesTo", "public.film|TABLE"),
    }
    assert _edges(catalog, "public.audited|FUNC") == {("ReadsFrom", "public.actor|TABLE")}
    assert _edges(catalog, "public.audited|FUNC~2") == set()
    assert _edges(catalog, "other.noted|FUNC") == set()
    assert _edges(catalog, "public.cleared|PROC") == {
        ("WritesTo", "other.log|TABLE"),
        ("WritesTo", "public.film|TABLE"),
    }
    assert _edges(catalog, "public.film_audit|TRIGGER") == {
        ("On", "public.film|TABLE"),
        ("Calls", "public.audited|FUNC"),
    }
    assert _edges(catalog, "2.sql") == {("WritesTo", "public.film|TABLE"), ("ReadsFrom", "public.actor|TABLE")}
    assert not analysis.skipped


def test_a_signature_ends_where_the_body_begins() -> None:
    (_, analysis), _ = _read(DUMP, ROUTINES)
    assert analysis.nodes[0].signature == (
        "CREATE OR REPLACE FUNCTION titles(p_id integer, OUT n int) RETURNS SETOF film LANGUAGE plpgsql"
    )
    assert analysis.nodes[4].signature == "CREATE PROCEDURE cleared(i int) LANGUAGE sql"


def test_mysql_delimiters_versioned_code_and_backticks_are_understood() -> None:
    (analysis,), catalog = _read(MYSQL)
    assert _spans(analysis) == [
        ("actor|TABLE", 1, 5),
        ("film|TABLE", 6, 7),
        ("refill|PROC", 8, 15),
        ("tr|TRIGGER", 16, 16),
        ("empty_all|PROC", 17, 20),
        ("ins|TRIGGER", 21, 22),
    ]
    assert {node.language for node in analysis.nodes} == {"mysql"}
    assert (
        analysis.nodes[2].signature
        == "CREATE DEFINER=`root`@`localhost` PROCEDURE `refill`(IN a INT, OUT b INT) READS SQL DATA"
    )
    assert _edges(catalog, "actor|TABLE") == {("FK", "film|TABLE")}
    assert _edges(catalog, "refill|PROC") == {
        ("ReadsFrom", "actor|TABLE"),
        ("WritesTo", "film|TABLE"),
        ("Executes", "empty_all|PROC"),
    }
    assert _edges(catalog, "tr|TRIGGER") == {("On", "film|TABLE"), ("WritesTo", "actor|TABLE")}
    assert _edges(catalog, "ins|TRIGGER") == {("On", "film|TABLE"), ("WritesTo", "actor|TABLE")}
    assert not analysis.skipped


def test_a_qualifier_in_mysql_is_a_database_that_holds_all_tables() -> None:
    _, catalog = _read(MYSQL)
    confidences = {edge.to_key: edge.confidence for edge in catalog.edges() if edge.from_key == "sql::empty_all|PROC"}
    assert confidences == {"sql::film|TABLE": 1.0, "sql::actor|TABLE": 0.9}


def test_a_function_of_a_schema_may_have_the_name_of_one_of_sql() -> None:
    catalog = SqlCatalog()
    text = (
        "CREATE FUNCTION app.unnest(a text) RETURNS SETOF text AS $$ SELECT 'x' $$ LANGUAGE sql;\n"
        "CREATE VIEW app.of_tree AS SELECT * FROM app.unnest('x') u;\n"
        "CREATE VIEW app.of_sql AS SELECT * FROM unnest(ARRAY[1]) u;\n"
    )
    catalog.add(read_sql_file(SourceFile("a.sql", text, "sql")))
    assert [(edge.from_key, edge.edge_type, edge.to_key) for edge in catalog.edges()] == [
        ("sql::app.of_tree|VIEW", "Calls", "sql::app.unnest|FUNC")
    ]
