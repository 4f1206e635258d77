"""The bundle source: what RoslynIndexer writes of a C# and SQL code base, zipped or as a folder.

Canonical names: a C# chunk is `cs::<Id>`, a SQL object `sql::dbo.Invoice|TABLE`. Dependencies of C# chunks, on each
other and on SQL objects, are `cs_dep` edges; edges between SQL objects keep the relation their source gives them.
Line numbers are unknown (0), as bundles hold none.
"""

from collections.abc import Iterator
from pathlib import Path

from groundwire_ingest.archive_files import ArchiveFiles
from groundwire_ingest.bundle.bundle_code import code_edges, code_nodes
from groundwire_ingest.bundle.bundle_fields import bundle_record
from groundwire_ingest.bundle.bundle_files import MARKERS, REPOSITORY_FILE, open_bundle_files
from groundwire_ingest.bundle.bundle_keys import BundleKeys
from groundwire_ingest.bundle.bundle_sql import sql_edges, sql_half
from groundwire_ingest.errors import IngestError
from groundwire_ingest.jsonl.strict_json import decode_utf8, parse_json
from groundwire_ingest.records import SourceRecord

_REPOSITORY_SPELLINGS = {"branch": ("branch",), "commit": ("head_sha",)}


class BundleSource:
    """A RoslynIndexer bundle, zip or folder. Raises IngestError when there is none at the path."""

    def __init__(self, path: Path) -> None:
        files = open_bundle_files(path)
        if files is None:
            raise IngestError(f"{path}: holds no bundle; one of {', '.join(MARKERS)} must be there")
        self._path = path
        self._files = files

    @property
    def description(self) -> str:
        """`RoslynIndexer bundle`, its name and, where `repo_meta.json` says them, the branch and commit behind it."""
        branch, commit = _origin(self._files)
        made_of = ", ".join(f"{what} {value}" for what, value in (("branch", branch), ("commit", commit)) if value)
        return f"RoslynIndexer bundle {self._path.name}" + (f" ({made_of})" if made_of else "")

    def read(self) -> Iterator[SourceRecord]:
        """Yields the C# chunks, the SQL objects, body files that belong to none, and the edges of both halves."""
        chunks: list[tuple[str, str]] = []
        for chunk in code_nodes(self._files):
            chunks.append((chunk.kind, chunk.local_id))
            yield chunk
        sql = sql_half(self._files)
        keys = BundleKeys((*chunks, *((node.kind, node.local_id) for node in sql.nodes)))
        yield from sql.nodes
        yield from sql.unused
        yield from code_edges(self._files, keys)
        yield from sql_edges(self._files, keys)


def _origin(files: ArchiveFiles) -> tuple[str, str]:
    """The branch and commit that the bundle was made of; "" for what it does not say."""
    if REPOSITORY_FILE not in files.names:
        return "", ""
    place = files.place(REPOSITORY_FILE)
    meta = bundle_record(
        parse_json(decode_utf8(files.read(REPOSITORY_FILE), place), place), _REPOSITORY_SPELLINGS, place
    )
    return meta.text("branch"), meta.text("commit")
