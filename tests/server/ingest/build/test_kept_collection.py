"""A build after an edit gives the files of a build from nothing, whatever was kept of the build before."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build import build as building
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.build.kept_collection import READINGS_FILE
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_ingest.tree.source import MOST_MOVED_FILES, TreeSource
from support.builds import Records, Stages, node
from support.built_branches import EDITS, FILES, READ, RENEWED, Repository


def test_a_build_after_an_edit_gives_the_files_of_a_build_from_nothing(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    assert repository.build() == READ
    assert repository.build() == RENEWED
    for edit, (path, text, expected) in EDITS.items():
        repository.write(path, text)
        assert (edit, repository.build()) == (edit, expected)


def test_a_file_with_another_name_is_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.build()
    (repository.tree / "src/Tax.cs").rename(repository.tree / "src/Vat.cs")
    assert repository.build() == READ


def test_other_access_rules_have_the_tree_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.build()
    rule = AccessRule("src/", NodeAccess(acl_tags=("staff",)))
    assert repository.build(rule) == READ
    repository.write("src/Orders.cs", "// edited\n" + FILES["src/Orders.cs"])
    assert repository.build(rule) == RENEWED


def test_the_ends_of_a_file_with_any_name_move_with_its_lines(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    path, text = 'src/Größe "a".cs', FILES["src/Orders.cs"].replace("OrdersController", "SizesController")
    repository.write(path, text)
    repository.build()
    repository.write(path, f"// edited\n{text}")
    assert repository.build() == RENEWED


DAMAGES: Sequence[Callable[[bytes], bytes]] = (
    lambda _: b"",
    lambda _: b"other",
    lambda content: content[: len(content) // 2],
)


@pytest.mark.parametrize("damaged", DAMAGES)
def test_damaged_files_lead_to_a_build_from_nothing(tmp_path: Path, damaged: Callable[[bytes], bytes]) -> None:
    repository = Repository(tmp_path)
    repository.build()
    files = sorted(path.name for path in repository.kept.iterdir())
    assert len(files) == 8
    for number, name in enumerate(files):
        (repository.kept / name).write_bytes(damaged((repository.kept / name).read_bytes()))
        repository.write("app/report.py", f"# edit {number}\n" + FILES["app/report.py"])
        assert (name, repository.build()) == (name, READ)
    assert repository.build() == RENEWED


def test_a_damaged_reading_is_read_again(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.build()
    with sqlite3.connect(repository.kept / READINGS_FILE) as connection:
        connection.execute("UPDATE readings SET content = x'00'")
    connection.close()
    repository.write("app/tax.py", "# edit\n" + FILES["app/tax.py"])
    assert repository.build() == READ


def test_what_other_software_kept_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(tmp_path)
    repository.build()
    monkeypatch.setattr(building, "software", lambda: ["other"])
    assert repository.build() == READ
    assert repository.build() == RENEWED


def test_what_other_software_pickled_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its types may have other fields, or other modules."""
    repository = Repository(tmp_path)
    repository.build()
    pickled = repository.kept / "rest.pickled"
    content = b"\x80\x04cgroundwire_ingest.of_an_earlier_version\nRest\n."
    pickled.write_bytes(content)
    written = json.loads((repository.kept / "checksums.json").read_bytes())
    written["checksums"]["rest.pickled"] = hashlib.sha256(content).hexdigest()
    (repository.kept / "checksums.json").write_text(json.dumps(written), encoding="utf-8")
    monkeypatch.setattr(building, "software", lambda: ["other"])
    assert repository.build() == READ


def test_many_edited_files_have_the_tree_read(tmp_path: Path) -> None:
    """Each edited file takes a look at all edges and ends, so that many would take longer than resolving names."""
    repository = Repository(tmp_path)
    for number in range(MOST_MOVED_FILES + 1):
        repository.write(f"more/m{number}.py", "# a\nX = 1\n")
    repository.build()
    for number in range(MOST_MOVED_FILES):
        repository.write(f"more/m{number}.py", "# a\n# b\nX = 1\n")
    assert repository.build() == RENEWED
    for number in range(MOST_MOVED_FILES + 1):
        repository.write(f"more/m{number}.py", "# a\n# b\n# c\nX = 1\n")
    assert repository.build() == READ


def test_nothing_of_an_earlier_text_stays(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write("app/tax.py", "# a very secret remark\ndef rate():\n    return 2\n")
    repository.build()
    repository.write("app/tax.py", "# a remark\ndef rate():\n    return 2\n")
    assert repository.build() == RENEWED
    IndexStore(repository.data).delete(repository.scope(1))
    texts = [path.read_bytes() for path in repository.data.rglob("*") if path.is_file()]
    assert not any(b"secret remark" in text for text in texts)
    assert any(b"a remark" in text for text in texts)


def test_what_was_kept_goes_with_the_version_of_the_last_build(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.build()
    assert [*repository.kept.iterdir()]
    records = Records([node("a", "text")])
    build_index(records, BuildOptions(repository.data, repository.scope(9), None), Stages())
    assert not repository.kept.exists()
    repository.build()
    store = IndexStore(repository.data)
    store.activate(repository.scope(9))
    store.delete(repository.scope(2))
    assert not repository.kept.exists()


def test_what_files_changed_meanwhile_is_not_kept(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    options = BuildOptions(repository.data, repository.scope(1), None, are_inputs_unchanged=lambda: False)
    build_index(TreeSource(repository.tree), options, Stages())
    assert [path.name for path in repository.kept.iterdir()] == [READINGS_FILE]
