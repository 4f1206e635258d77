"""A source is told by its content, whatever it is called."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groundwire_ingest.bundle.bundle import BundleSource
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.jsonl.jsonl import JsonlSource
from groundwire_ingest.recognise import recognise
from groundwire_ingest.slack.slack import SlackSource
from groundwire_ingest.tree.source import TreeSource

BundleMaker = Callable[..., Path]


@pytest.mark.parametrize("top", ["", "Release_1/"])
@pytest.mark.parametrize("zipped", [True, False])
def test_a_bundle(make_bundle: BundleMaker, zipped: bool, top: str) -> None:
    assert isinstance(recognise(make_bundle(zipped=zipped, top=top)), BundleSource)


@pytest.mark.parametrize("top", ["", "Shop Slack export/"])
@pytest.mark.parametrize("zipped", [True, False])
def test_a_slack_export(make_bundle: BundleMaker, slack_lists: dict[str, Any], zipped: bool, top: str) -> None:
    files = {**slack_lists, "general/2025-01-01.json": []}
    assert isinstance(recognise(make_bundle(files, zipped=zipped, top=top)), SlackSource)


@pytest.mark.parametrize("missing", ["channels.json", "users.json", "general/2025-01-01.json"])
def test_what_lacks_a_part_of_a_slack_export_is_none(
    make_bundle: BundleMaker, slack_lists: dict[str, Any], missing: str
) -> None:
    files = {**slack_lists, "general/2025-01-01.json": [], "general/2025.json": []}
    assert isinstance(
        recognise(make_bundle({name: value for name, value in files.items() if name != missing})), TreeSource
    )


@pytest.mark.parametrize("content", ['{"type": "node"}', '\ufeff\n  \n{"x": 1, "type": "edge"}\nnot looked at'])
def test_jsonl(tmp_path: Path, content: str) -> None:
    path = tmp_path / "nodes.dat"
    path.write_text(content, encoding="utf-8")
    assert isinstance(recognise(path), JsonlSource)


def test_any_other_folder_is_a_source_tree(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert isinstance(recognise(tmp_path), TreeSource)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "thing.jsonl: holds no JSON object"),
        (b" \n\n", "thing.jsonl: holds no JSON object"),
        (b"hello\n", ":1: is not valid JSON"),
        (b"[1]\n", ":1: holds no JSON object with a 'type'"),
        (b'\n{"kind": "cs"}\n', ":2: holds no JSON object with a 'type'"),
        (b"\x7fELF\xff\xfe\n", ":1: is not UTF-8"),
    ],
)
def test_any_other_file_is_refused_with_what_was_looked_for(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "thing.jsonl"
    path.write_bytes(content)
    with pytest.raises(IngestError) as caught:
        recognise(path)
    assert message in str(caught.value)
    assert "name a RoslynIndexer bundle (zip or folder), a JSONL file" in str(caught.value)


def test_a_missing_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"cannot be read \(No such file or directory\); name a RoslynIndexer bundle"):
        recognise(tmp_path / "nowhere")


def test_a_zip_without_a_bundle_or_a_broken_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    with pytest.raises(IngestError, match="is a zip that holds neither a bundle nor a Slack export; name a Roslyn"):
        recognise(tmp_path / "empty.zip")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04nonsense")
    with pytest.raises(IngestError, match="is no zip that can be read"):
        recognise(tmp_path / "broken.zip")
