"""The SQL half of a bundle: `docs/sql_bodies.jsonl`, `docs/bodies/*.sql`, `graph/nodes.csv` and `graph/edges.csv`.

An object may be in `sql_bodies.jsonl`, in `nodes.csv`, or in both; two entries of one object make one node. Its text is
the body of the former, else the file that `body_path` names, else `docs/bodies/<name>.<KIND>.sql`, else empty (a table
that other databases own has no body).
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace

from groundwire_ingest.archive_files import ArchiveFiles
from groundwire_ingest.bundle.bundle_fields import ACCESS_SPELLINGS, BundleRecord, bundle_record, csv_records
from groundwire_ingest.bundle.bundle_files import SQL_FOLDERS
from groundwire_ingest.bundle.bundle_keys import CODE_KIND, BundleKeys, object_identity
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.jsonl.strict_json import decode_utf8, numbered_lines, parse_json
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode, StatedAccess

_OBJECT_SPELLINGS = {
    "key": ("key",),
    "kind": ("kind",),
    "file": ("file", "source_file"),
    "body": ("body", "text"),
    **ACCESS_SPELLINGS,
}
_ROW_SPELLINGS = {**_OBJECT_SPELLINGS, "body_path": ("body_path",)}
_EDGE_SPELLINGS = {
    "from": ("from", "from_id"),
    "to": ("to", "to_id"),
    "relation": ("relation", "edge_type"),
    "kind": ("kind", "type"),
}


def sql_half(files: ArchiveFiles) -> tuple[tuple[SourceNode, ...], tuple[SkippedFile, ...]]:
    """The nodes of the SQL half, those of `nodes.csv` first, and body files that belong to none of them.

    Raises IngestError, also for an object that one file names twice: only there both mentions are seen.
    """
    folder = _sql_folder(files)
    if folder is None:
        return (), ()
    bodies = _Bodies(files, folder)
    described = _by_key(_node(record) for record in _body_records(files, f"{folder}/docs/sql_bodies.jsonl"))
    listed = _by_key(
        replace(_node(row), text=bodies.named_by(row))
        for row in _csv_records(files, f"{folder}/graph/nodes.csv", _ROW_SPELLINGS)
    )
    nodes = (
        _merged(described[key], listed[key]) if key in described and key in listed else node
        for key, node in {**listed, **described}.items()
    )
    return tuple(replace(node, text=bodies.text_of(node)) for node in nodes), bodies.unused()


def sql_edges(files: ArchiveFiles, keys: BundleKeys) -> Iterator[SourceEdge]:
    """The edges of `graph/edges.csv`, each with the relation that its source gives it. Raises IngestError."""
    folder = _sql_folder(files)
    if folder is None:
        return
    for row in _csv_records(files, f"{folder}/graph/edges.csv", _EDGE_SPELLINGS):
        yield SourceEdge(
            from_key=keys.find(row.identifier("from"), row.place),
            to_key=keys.find(row.identifier("to"), row.place),
            edge_type=row.text("relation") or row.identifier("kind"),
            origin=row.place,
        )


class _Bodies:
    """The files below `docs/bodies`, and which of them a node has claimed."""

    def __init__(self, files: ArchiveFiles, folder: str) -> None:
        self._files = files
        self._folder = folder
        self._unclaimed = {name for name in files.names if name.startswith(f"{folder}/docs/bodies/")}

    def named_by(self, row: BundleRecord) -> str:
        """The text of the file that the row's `body_path` names; the row's own when it names none."""
        path = row.text("body_path").replace("\\", "/")
        if not path:
            return row.text("body")
        name = next((name for name in (f"{self._folder}/{path}", path) if name in self._files.names), None)
        if name is None:
            raise IngestError(f"{row.place}: body_path {path!r} is no file of the bundle; add it, or leave it empty")
        return self._claimed(name)

    def text_of(self, node: SourceNode) -> str:
        """The node's text, or that of the file with the node's name."""
        name = f"{self._folder}/docs/bodies/{node.local_id.replace('|', '.')}.sql"
        body = self._claimed(name) if name in self._files.names else ""
        return node.text or body

    def unused(self) -> tuple[SkippedFile, ...]:
        """The files that no node has claimed."""
        return tuple(SkippedFile(name, "no SQL object of the bundle has this body") for name in sorted(self._unclaimed))

    def _claimed(self, name: str) -> str:
        self._unclaimed.discard(name)
        return decode_utf8(self._files.read(name), self._files.place(name))


def _sql_folder(files: ArchiveFiles) -> str | None:
    folders = [folder for folder in SQL_FOLDERS if any(name.startswith(f"{folder}/") for name in files.names)]
    if len(folders) > 1:
        raise IngestError(f"{files.place(folders[1])}: is there as well as {folders[0]}; keep one of them")
    return folders[0] if folders else None


def _body_records(files: ArchiveFiles, name: str) -> Iterator[BundleRecord]:
    if name in files.names:
        for place, line in numbered_lines(io.BytesIO(files.read(name)), files.place(name)):
            yield bundle_record(parse_json(line, place), _OBJECT_SPELLINGS, place)


def _csv_records(files: ArchiveFiles, name: str, spellings: Mapping[str, tuple[str, ...]]) -> Iterator[BundleRecord]:
    if name in files.names:
        place = files.place(name)
        yield from csv_records(decode_utf8(files.read(name), place), spellings, place)


def _node(record: BundleRecord) -> SourceNode:
    kind, local_id = object_identity(record.identifier("key"), record.text("kind"), record.place)
    is_code = kind == CODE_KIND
    stated_kind = record.text("kind")
    return SourceNode(
        kind=kind,
        local_id=local_id,
        text=record.text("body"),
        origin=record.place,
        path=record.text("file").replace("\\", "/"),
        symbol=local_id.rpartition("|")[0] or local_id,
        language="csharp" if is_code else "tsql",
        data_type="regular_code" if is_code else "db_code",
        corpus_type="CODE_LOGIC",
        access=record.access(),
        metadata={**record.others, "kind": stated_kind} if stated_kind else record.others,
    )


def _merged(body: SourceNode, row: SourceNode) -> SourceNode:
    """One node of what `sql_bodies.jsonl` and `nodes.csv` say; the former counts where both say something."""
    return replace(
        body,
        text=body.text or row.text,
        path=body.path or row.path,
        access=_merged_access(body, row),
        metadata={**row.metadata, **body.metadata},
    )


def _merged_access(body: SourceNode, row: SourceNode) -> StatedAccess:
    """The access that either states. Raises IngestError when both state a field and differ."""
    stated, also_stated = (
        {name: value for name, value in asdict(node.access).items() if value is not None} for node in (body, row)
    )
    if any(also_stated.get(name, value) != value for name, value in stated.items()):
        raise IngestError(f"{row.origin}: states other access for {row.key!r} than {body.origin}; make them agree")
    return StatedAccess(**also_stated | stated)


def _by_key(nodes: Iterable[SourceNode]) -> dict[str, SourceNode]:
    node_of_key: dict[str, SourceNode] = {}
    for node in nodes:
        other = node_of_key.setdefault(node.key, node)
        if other is not node:
            raise IngestError(f"{node.origin}: {node.key!r} was already named at {other.origin}; name it once")
    return node_of_key
