"""Where a RoslynIndexer bundle, zip or folder, keeps what."""

from pathlib import Path

from groundwire_ingest.archive_files import ArchiveFiles, ArchiveLayout, open_archive

CODE_FOLDER = "regular_code_bundle"
SQL_FOLDERS = ("sql_bundle", "sql_code_bundle")
REPOSITORY_FILE = "repo_meta.json"
MARKERS = (
    f"{CODE_FOLDER}/chunks.json",
    *(f"{folder}/{name}" for folder in SQL_FOLDERS for name in ("docs/sql_bodies.jsonl", "graph/nodes.csv")),
)
"""A zip or folder is a bundle when it holds one of these, at its top or below a single top folder."""

_LAYOUT = ArchiveLayout(
    markers=tuple((marker,) for marker in MARKERS),
    belongs=frozenset({CODE_FOLDER, *SQL_FOLDERS, REPOSITORY_FILE}).__contains__,
)


def open_bundle_files(path: Path) -> ArchiveFiles | None:
    """The files of the bundle at `path`, or None when it is a folder or zip that holds none.

    Raises IngestError as `open_archive` does.
    """
    return open_archive(path, _LAYOUT)
