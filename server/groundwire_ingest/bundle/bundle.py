"""The bundle source: what RoslynIndexer writes of a C# and SQL code base, zipped or as a folder.

Canonical names: a C# chunk is `cs::<Id>`, a SQL object `sql::dbo.Invoice|TABLE`. Dependencies of C# chunks, on each
other and on SQL objects, are `cs_dep` edges; edges between SQL objects keep the relation their source gives them.
Line numbers are unknown (0), as bundles hold none.
"""

from collections.abc import Iterator
from pathlib import Path

from groundwire_index.nodes.node import JsonValue
from groundwire_index.scope import node_key
from groundwire_ingest.archive_files import ArchiveFiles
from groundwire_ingest.bundle.bundle_fields import ACCESS_SPELLINGS, BundleRecord, bundle_record
from groundwire_ingest.bundle.bundle_files import CODE_FOLDER, MARKERS, REPOSITORY_FILE, open_bundle_files
from groundwire_ingest.bundle.bundle_keys import CODE_KIND, BundleKeys, is_sql_key
from groundwire_ingest.bundle.bundle_sql import sql_edges, sql_half
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.jsonl.strict_json import decode_utf8, json_items, parse_json
from groundwire_ingest.records import SourceEdge, SourceNode, SourceRecord

CHUNKS_FILE = f"{CODE_FOLDER}/chunks.json"
DEPENDENCIES_FILE = f"{CODE_FOLDER}/dependencies.json"
DEPENDENCY_EDGE = "cs_dep"

_CHUNK_SPELLINGS = {
    "id": ("id",),
    "repository_path": ("repo_relative_path",),
    "file": ("file", "source_file"),
    "class": ("class", "class_name"),
    "member": ("member", "member_name"),
    "signature": ("signature",),
    "text": ("text",),
    **ACCESS_SPELLINGS,
}
_DEPENDENCY_SPELLINGS = {
    "from": ("from", "from_id", "id"),
    "to": ("to", "to_id"),
    "targets": ("dependencies", "depends_on"),
    "relation": ("relation", "edge_type"),
}
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
        nodes, unused = sql_half(self._files)
        keys = BundleKeys((*chunks, *((node.kind, node.local_id) for node in nodes)))
        yield from nodes
        yield from unused
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


def code_nodes(files: ArchiveFiles) -> Iterator[SourceNode]:
    """The C# chunks in their order; none when the bundle has no `chunks.json`. Raises IngestError."""
    if CHUNKS_FILE not in files.names:
        return
    place = files.place(CHUNKS_FILE)
    for position, chunk in enumerate(json_items(decode_utf8(files.read(CHUNKS_FILE), place), place)):
        yield _node(bundle_record(chunk, _CHUNK_SPELLINGS, f"{place}[{position}]"))


def code_edges(files: ArchiveFiles, keys: BundleKeys) -> Iterator[SourceEdge]:
    """The dependencies of C# chunks on each other and on SQL objects. Raises IngestError.

    `dependencies.json` is an object of ids to lists of ids, or a list of objects that each name one dependency (`from`
    and `to`) or all of a chunk (`id` and `dependencies`).
    """
    if DEPENDENCIES_FILE not in files.names:
        return
    place = files.place(DEPENDENCIES_FILE)
    content = parse_json(decode_utf8(files.read(DEPENDENCIES_FILE), place), place)
    if isinstance(content, dict):
        listed: list[JsonValue] = [{"from": owner, "dependencies": targets} for owner, targets in content.items()]
        places = [f"{place}[{owner!r}]" for owner in content]
    elif isinstance(content, list):
        listed, places = content, [f"{place}[{position}]" for position in range(len(content))]
    else:
        raise IngestError(f"{place}: is neither a JSON object nor a list")
    for value, origin in zip(listed, places, strict=True):
        yield from _edges(bundle_record(value, _DEPENDENCY_SPELLINGS, origin), keys)


def _node(chunk: BundleRecord) -> SourceNode:
    repository_path, file = chunk.text("repository_path"), chunk.text("file")
    symbol = ".".join(name for name in (chunk.text("class"), chunk.text("member")) if name)
    metadata = {**chunk.others, "file": file} if repository_path and file else dict(chunk.others)
    return SourceNode(
        kind=CODE_KIND,
        local_id=chunk.identifier("id"),
        text=chunk.text("text"),
        origin=chunk.place,
        path=(repository_path or file).replace("\\", "/"),
        symbol=symbol,
        signature=chunk.text("signature"),
        language="csharp",
        data_type="regular_code",
        corpus_type="CODE_LOGIC",
        access=chunk.access(),
        metadata=metadata,
    )


def _edges(dependency: BundleRecord, keys: BundleKeys) -> Iterator[SourceEdge]:
    from_key = node_key(CODE_KIND, dependency.identifier("from"))
    for target in _targets(dependency):
        if isinstance(target, bool) or not isinstance(target, int | str):
            raise IngestError(f"{dependency.place}: names no chunk or SQL object by {str(target)[:80]!r}")
        name = str(target)
        yield SourceEdge(
            from_key=from_key,
            to_key=keys.find(name, dependency.place) if is_sql_key(name) else node_key(CODE_KIND, name),
            edge_type=dependency.text("relation") or DEPENDENCY_EDGE,
            origin=dependency.place,
        )


def _targets(dependency: BundleRecord) -> list[JsonValue]:
    named = [dependency.values[field] for field in ("targets", "to") if field in dependency.values]
    if len(named) != 1:
        raise IngestError(f"{dependency.place}: give the dependencies of a chunk as 'to' or as 'dependencies'")
    targets = named[0]
    if targets is None:
        return []
    return targets if isinstance(targets, list) else [targets]
