"""Files that an earlier source has read give the same records, whatever was edited since."""

import random
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.decoding import MAX_FILE_BYTES
from groundwire_ingest.tree.read_before import ReadBefore
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.walk import ListedFile
from groundwire_ingest.workers import Workers

FILES = {
    "app/shop.py": ["import app.tax\n\n\ndef shop():\n    return app.tax.rate()\n", "def shop():\n    return 2\n"],
    "app/tax.py": ["def rate():\n    return 'SELECT rate FROM rates'\n", "RATE = 1\n"],
    "db/rates.sql": ["CREATE TABLE rates (rate int);\n", "CREATE TABLE rates (rate int, country text);\n"],
    "docs/guide.md": ["# Guide\n\nSee `shop`.\n", "# Guide\n\n## Install\n\nRun it.\n"],
    "web/Page.vue": ["<script>\nexport function page() { return 1 }\n</script>\n", "<template><p>tax</p></template>\n"],
    "deploy.yaml": ["kind: Service\nmetadata:\n  name: shop\n", "a: 1\n"],
}


@pytest.mark.parametrize("most_bytes", [1_000, 1 << 20], ids=["too small for all", "large"])
def test_the_records_are_those_of_a_source_that_reads_all_files(tmp_path: Path, most_bytes: int) -> None:
    rng, read_before = random.Random(7), ReadBefore(most_bytes)
    edits: list[tuple[str, int]] = [(name, 0) for name in FILES]
    for _ in range(8):
        for name, content in edits:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            if content < 2:
                (tmp_path / name).write_text(FILES[name][content], encoding="utf-8")
            else:
                (tmp_path / name).unlink(missing_ok=True)
        remembered = list(TreeSource(tmp_path, read_before=read_before).read())
        assert remembered == list(TreeSource(tmp_path).read())
        edits = [(rng.choice([*FILES]), rng.randrange(3)) for _ in range(2)]


def test_a_file_is_read_again_only_for_other_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[ListedFile] = []
    mapped = Workers.map

    def noting(
        self: Workers, function: Callable[[ListedFile], object], tasks: Iterable[ListedFile], size: Callable[..., int]
    ) -> Iterator[object]:
        listed = list(tasks)
        read.extend(listed)
        return mapped(self, function, listed, size)

    monkeypatch.setattr(Workers, "map", noting)
    read_before = ReadBefore(1 << 20)
    for text, expected in (("x = 1\n", ["a.py", "b.py"]), ("x = 1\n", []), ("x = 2\n", ["b.py"]), ("x = 1\n", [])):
        read.clear()
        (tmp_path / "a.py").write_text("y = 1\n", encoding="utf-8")
        (tmp_path / "b.py").write_text(text, encoding="utf-8")
        list(TreeSource(tmp_path, read_before=read_before).read())
        assert [item.path for item in read] == expected


def test_a_file_too_large_to_be_read_is_not_hashed_either(tmp_path: Path) -> None:
    (tmp_path / "small.sql").write_text("CREATE TABLE rates (rate int);\n", encoding="utf-8")
    with (tmp_path / "dump.sql").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    records = list(TreeSource(tmp_path, read_before=ReadBefore(1 << 20)).read())
    assert [record.path for record in records if isinstance(record, SkippedFile)] == ["dump.sql"]
    contents = {path: content.removeprefix("sql ") for path, content in TreeSource(tmp_path).contents()}
    assert contents["dump.sql"] == str(MAX_FILE_BYTES + 1)
    assert len(contents["small.sql"]) == len(sha256(b"").hexdigest())
