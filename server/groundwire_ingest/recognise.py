"""The kind of source at a path, recognised by its content.

Sources are loaded once they are needed: what reads them takes longer to load than telling that nothing has changed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from groundwire_ingest.bundle.bundle_files import open_bundle_files
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.jsonl.strict_json import numbered_lines, parse_json
from groundwire_ingest.records import Source
from groundwire_ingest.slack.slack import SlackSource, open_slack_files
from groundwire_ingest.tree.access_rules import AccessRule

if TYPE_CHECKING:
    from groundwire_ingest.tree.contents import TreeContents
    from groundwire_ingest.tree.read_before import ReadBefore

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_LOOKED_FOR = (
    "a RoslynIndexer bundle (zip or folder), a JSONL file whose first line is an object with a 'type', a Slack export "
    "(zip or folder), a SCIP index, or a folder of source files"
)


def recognise(
    path: Path,
    exclude: Sequence[str] = (),
    access: Sequence[AccessRule] = (),
    read_before: "ReadBefore | None" = None,
    origin: str = "",
    contents: "TreeContents | None" = None,
) -> Source:
    """The source at a path: a bundle, a Slack export, a JSONL file, a SCIP index, or, for other folders, a source tree.

    `exclude`, `access`, `read_before`, `origin` and `contents` are a tree's, see `TreeSource`. Raises IngestError when
    it is no known kind of source, naming what was looked for. Raises it too for exclusions or access rules on a source
    that is no tree.
    """
    if is_tree(path):
        from groundwire_ingest.tree.source import TreeSource

        return TreeSource(path, exclude, access, read_before, origin, contents)
    source = _other_source(path)
    if exclude or access:
        raise IngestError(
            f"{path}: is a {source.description}; only a source tree can have --exclude and access rules: other sources "
            "hold what their producers put in, and state its access themselves"
        )
    return source


def is_tree(path: Path) -> bool:
    """True if the path is a folder that is a source tree. Raises IngestError as `open_archive` does."""
    return path.is_dir() and open_bundle_files(path) is None and open_slack_files(path) is None


def _other_source(path: Path) -> Source:
    if path.is_dir():
        return _archived(path)
    try:
        from groundwire_ingest.tree.scip.documents import is_scip

        if is_scip(path):
            from groundwire_ingest.scip_source import ScipSource

            return ScipSource(path)
        with path.open("rb") as stream:
            is_zip = stream.read(4) in _ZIP_STARTS
            if not is_zip:
                stream.seek(0)
                _check_first_line(stream, str(path))
    except OSError as error:
        raise IngestError(f"{path}: cannot be read ({error.strerror}); name {_LOOKED_FOR}") from error
    if is_zip:
        return _archived(path)
    from groundwire_ingest.jsonl.jsonl import JsonlSource

    return JsonlSource(path)


def _archived(path: Path) -> Source:
    """The source that comes as a zip or folder."""
    if open_bundle_files(path) is not None:
        from groundwire_ingest.bundle.bundle import BundleSource

        return BundleSource(path)
    if open_slack_files(path) is not None:
        return SlackSource(path)
    raise IngestError(f"{path}: is a zip that holds neither a bundle nor a Slack export; name {_LOOKED_FOR}")


def _check_first_line(stream: BinaryIO, name: str) -> None:
    """Refuses a stream whose first line that is not blank is no record of nodes and edges."""
    try:
        place, line = next(numbered_lines(stream, name), (name, "null"))
        value = parse_json(line, place)
    except IngestError as error:
        raise IngestError(f"{error}; name {_LOOKED_FOR}") from error
    if not isinstance(value, dict) or "type" not in value:
        raise IngestError(f"{place}: holds no JSON object with a 'type'; name {_LOOKED_FOR}")
