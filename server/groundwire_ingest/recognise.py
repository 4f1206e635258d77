"""Which kind of source a path holds, told by its content."""

from pathlib import Path
from typing import BinaryIO

from groundwire_ingest.bundle.bundle import BundleSource
from groundwire_ingest.bundle.bundle_files import open_bundle_files
from groundwire_ingest.errors import IngestError
from groundwire_ingest.jsonl.jsonl import JsonlSource
from groundwire_ingest.jsonl.strict_json import numbered_lines, parse_json
from groundwire_ingest.records import Source
from groundwire_ingest.scip.documents import is_scip
from groundwire_ingest.scip.source import ScipSource
from groundwire_ingest.slack.slack import SlackSource, open_slack_files
from groundwire_ingest.tree.source import TreeSource

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_LOOKED_FOR = (
    "a RoslynIndexer bundle (zip or folder), a JSONL file whose first line is an object with a 'type', a Slack export "
    "(zip or folder), a SCIP index, or a folder of source files"
)


def recognise(path: Path) -> Source:
    """The source at a path: a bundle, a Slack export, a JSONL file, a SCIP index, or, for other folders, a source tree.

    Raises IngestError when it is none of them, naming what was looked for.
    """
    if path.is_dir():
        return _archived(path) or TreeSource(path)
    try:
        if is_scip(path):
            return ScipSource(path)
        with path.open("rb") as stream:
            is_zip = stream.read(4) in _ZIP_STARTS
            if not is_zip:
                stream.seek(0)
                _check_first_line(stream, str(path))
    except OSError as error:
        raise IngestError(f"{path}: cannot be read ({error.strerror}); name {_LOOKED_FOR}") from error
    source = _archived(path) if is_zip else JsonlSource(path)
    if source is None:
        raise IngestError(f"{path}: is a zip that holds neither a bundle nor a Slack export; name {_LOOKED_FOR}")
    return source


def _archived(path: Path) -> Source | None:
    """What a folder or zip holds, if it is one of the sources that come as either."""
    if open_bundle_files(path) is not None:
        return BundleSource(path)
    return None if open_slack_files(path) is None else SlackSource(path)


def _check_first_line(stream: BinaryIO, name: str) -> None:
    """Refuses a stream whose first line that is not blank is no record of nodes and edges."""
    try:
        place, line = next(numbered_lines(stream, name), (name, "null"))
        value = parse_json(line, place)
    except IngestError as error:
        raise IngestError(f"{error}; name {_LOOKED_FOR}") from error
    if not isinstance(value, dict) or "type" not in value:
        raise IngestError(f"{place}: holds no JSON object with a 'type'; name {_LOOKED_FOR}")
