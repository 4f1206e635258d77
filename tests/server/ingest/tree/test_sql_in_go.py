"""Go code that names SQL tables through builders, and migrations that are functions."""

from collections.abc import Callable, Mapping
from pathlib import Path

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.source import TreeSource

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]

SCHEMA = """\
CREATE TABLE album (id int);
CREATE TABLE scrobbles (id int);
CREATE TABLE bookmark (id int);
"""
BASE = """\
package persistence

import . "github.com/Masterminds/squirrel"

const bookmarkTable = "bookmark"

type sqlRepository struct {
	tableName string
}

func (r sqlRepository) newSelect() SelectBuilder {
	return Select().From(r.tableName)
}
"""
REPOSITORIES = """\
package persistence

import . "github.com/Masterminds/squirrel"

type albumRepository struct {
	sqlRepository
}

func NewAlbumRepository() *albumRepository {
	r := &albumRepository{}
	r.tableName = "album"
	return r
}

type scrobbleRepository struct {
	sqlRepository
}

func NewScrobbleRepository() *scrobbleRepository {
	r := &scrobbleRepository{}
	r.tableName = "scrobbles"
	return r
}

func (r *scrobbleRepository) Record() error {
	insert := Insert(r.tableName).SetMap(values)
	return r.exec(insert)
}

func (r *scrobbleRepository) Albums() error {
	return r.exec(Select("id").From("album a").Join("bookmark on bookmark.id = a.id"))
}

func (r *scrobbleRepository) Clean() error {
	return r.exec(Delete(bookmarkTable).Where("id = 1"))
}
"""


def _edges(root: Path) -> set[tuple[str, str, str, float]]:
    edges = [record for record in TreeSource(root).read() if isinstance(record, SourceEdge)]
    return {
        (edge.from_key.rpartition("#")[2], edge.edge_type, edge.to_key.partition("::")[2], edge.confidence)
        for edge in edges
        if edge.edge_type in ("ReadsFrom", "WritesTo")
    }


def test_builders_read_and_write_the_tables_that_they_are_given(make_tree: TreeMaker) -> None:
    files = {"db/schema.sql": SCHEMA, "persistence/base.go": BASE, "persistence/repositories.go": REPOSITORIES}
    assert _edges(make_tree(files)) == {
        ("albumRepository", "ReadsFrom", "album|TABLE", 0.8),
        ("scrobbleRepository", "ReadsFrom", "scrobbles|TABLE", 0.8),
        ("scrobbleRepository.Record", "WritesTo", "scrobbles|TABLE", 0.9),
        ("scrobbleRepository.Albums", "ReadsFrom", "album|TABLE", 0.9),
        ("scrobbleRepository.Albums", "ReadsFrom", "bookmark|TABLE", 0.9),
        ("scrobbleRepository.Clean", "WritesTo", "bookmark|TABLE", 0.9),
    }


MIGRATION = """\
package migrations

func init() {
	goose.AddMigrationContext(Up20200101, Down20200101)
}

func Up20200101(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.Exec(`
create table if not exists radio (id int);
create table share (id int);
`)
	return err
}

func Down20200101(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.Exec(`create table radio (id int)`)
	return err
}
"""


def test_a_migration_in_go_stands_for_the_tables_that_it_creates(make_tree: TreeMaker) -> None:
    reading = """\
package persistence

import sq "github.com/Masterminds/squirrel"

func Shares() error {
	return exec(sq.Select("*").From("share"))
}

func Radios(db *sql.DB) error {
	return db.Exec("DELETE FROM radio WHERE id = ?", 1)
}
"""
    files = {"db/migrations/20200101_create.go": MIGRATION, "persistence/share.go": reading}
    assert _edges(make_tree(files)) == {
        ("Shares", "ReadsFrom", "db/migrations/20200101_create.go#Up20200101", 0.9),
        ("Radios", "WritesTo", "db/migrations/20200101_create.go#Up20200101", 0.9),
    }
