"""The first build of another branch starts from what a branch keeps, and gives the files of a build from nothing."""

import errno
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from groundwire_index.files.durable_files import locked
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import MAX_ID_LENGTH, Scope
from groundwire_index.store import store
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build import kept_collection, segments, spool
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.build.kept_collection import READINGS_FILE
from groundwire_ingest.build.other_branches import MOST_BRANCHES_READ, OtherBranches
from groundwire_ingest.build.second_name import give_second_name
from groundwire_ingest.build.segments import SegmentMaker
from groundwire_ingest.processes import Advance
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_ingest.tree.contents import tree_contents
from groundwire_ingest.tree.other_readings import OtherReadings
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.walk import ListedFile
from groundwire_ingest.workers import Workers
from support.builds import Records, Stages, node
from support.built_branches import EDITS, FILES, READ, RENEWED, Repository

SECRET = "a very secret remark"
STAFF = AccessRule("src/", NodeAccess(acl_tags=("staff",)))


@dataclass
class Work:
    """The paths of the files that workers have read, and how many rows were cut into tokens."""

    read: list[str] = field(default_factory=list)
    rows: int = 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    noted = Work()
    map_to_workers, make = Workers.map, SegmentMaker.made

    def map_and_note(
        self: Workers, function: Callable[..., object], tasks: Iterable[object], size: Callable[..., int]
    ) -> Iterator[object]:
        listed = list(tasks)
        noted.read += [item.path for item in listed if isinstance(item, ListedFile)]
        return map_to_workers(self, function, listed, size)

    def make_and_note(self: SegmentMaker, rows: range, advance: Advance) -> object:
        noted.rows += len(rows)
        return make(self, rows, advance)

    monkeypatch.setattr(spool, "ROWS_A_SPAN", 4)
    monkeypatch.setattr(Workers, "map", map_and_note)
    monkeypatch.setattr(SegmentMaker, "made", make_and_note)
    return noted


def files_with(folder: Path, text: str) -> list[str]:
    """The files below a folder whose bytes have a text."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if text.encode() in path.read_bytes()]


def with_secret() -> dict[str, str]:
    """Files as others, but for a remark in one of them."""
    return {**FILES, "app/tax.py": f"# {SECRET}\n{FILES['app/tax.py']}"}


@pytest.fixture(scope="module")
def data_of_main(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a build of the branch main."""
    main = Repository(tmp_path_factory.mktemp("main"))
    main.files_of_a_build(stages=Stages())
    return main.data


@pytest.mark.parametrize("edit", [*EDITS])
def test_a_branch_with_an_edit_gives_the_files_of_a_build_from_nothing(
    tmp_path: Path, data_of_main: Path, edit: str, work: Work
) -> None:
    shutil.copytree(data_of_main, tmp_path / "data")
    path, text, expected = EDITS[edit]
    feature = Repository(tmp_path, "feature")
    feature.write(path, text)
    work.read.clear()
    stages = Stages()
    files = feature.files_of_a_build(stages=stages)
    assert ("Reading" in stages.seen) == (expected == READ)
    assert {*work.read} == ({path} if text is not None else set())
    assert files == feature.files_of_nothing()
    stages = Stages()
    assert files == feature.files_of_a_build(stages=stages)
    assert "Reading" not in stages.seen


def test_branches_that_are_edited_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "ROWS_A_SPAN", 4)
    rng = random.Random(11)
    branches = [Repository(tmp_path, name) for name in ("main", "feature/one", "other")]
    for _ in range(12):
        branch = rng.choice(branches)
        path, text, _ = rng.choice([*EDITS.values()])
        if text is not None or (branch.tree / path).exists():
            branch.write(path, text)
        for name in rng.sample([*FILES], rng.randrange(2)):
            moved = f"moved/{Path(name).name}"
            if (branch.tree / name).exists():
                branch.write(moved, (branch.tree / name).read_text(encoding="utf-8"))
                branch.write(name, None)
        branch.build()


def test_a_branch_with_the_same_files_reads_none_and_shares_its_rows(tmp_path: Path, work: Work) -> None:
    main = Repository(tmp_path)
    main.build()
    work.read.clear()
    work.rows = 0
    feature = Repository(tmp_path, "feature")
    stages = Stages()
    feature.files_of_a_build(stages=stages)
    assert ("Reading" in stages.seen, work.read, work.rows) == (False, [], 0)
    shared = [path for path in feature.segments.iterdir() if path.is_file()]
    assert shared
    assert all(path.samefile(main.segments / path.name) for path in shared)


def test_branches_of_any_source_share_rows(tmp_path: Path, work: Work) -> None:
    records = Records([node(f"n{number}", "text") for number in range(20)])
    for branch in ("main", "feature"):
        work.rows = 0
        build_index(records, BuildOptions(tmp_path, Scope("shop", branch, "v1"), None), Stages())
    assert work.rows == 0
    for branch in ("main", "feature"):
        index = LoadedIndex(IndexStore(tmp_path).require(Scope("shop", branch, "v1")))
        assert {index.nodes.ids[row] for row in range(20)} == {f"shop::{branch}::cs::n{number}" for number in range(20)}


def test_readings_are_there_for_a_later_edit(tmp_path: Path, work: Work) -> None:
    """They are taken over although the first build of the branch needed none of them."""
    Repository(tmp_path).build()
    feature = Repository(tmp_path, "feature")
    feature.files_of_a_build(stages=Stages())
    shutil.rmtree(tmp_path / "data" / "shop" / "main")
    work.read.clear()
    feature.write("app/more.py", "def more():\n    pass\n")
    feature.files_of_a_build(stages=Stages())
    assert work.read == ["app/more.py"]


def test_a_merge_takes_what_the_merged_branch_keeps(tmp_path: Path, work: Work) -> None:
    main, feature = Repository(tmp_path), Repository(tmp_path, "feature")
    main.build()
    for branch in (feature, main):
        branch.write("app/more.py", "def more():\n    pass\n")
    feature.build()
    work.read.clear()
    work.rows = 0
    stages = Stages()
    main.files_of_a_build(stages=stages)
    assert ("Reading" in stages.seen, work.read, work.rows) == (False, [], 0)


def test_a_file_system_without_links_has_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: Work) -> None:
    main = Repository(tmp_path)
    main.build()
    monkeypatch.setattr(Path, "hardlink_to", _refuse)
    work.rows = 0
    feature = Repository(tmp_path, "feature")
    assert feature.build() == RENEWED
    shared = [path for path in feature.segments.iterdir() if path.is_file()]
    assert not any(path.samefile(main.segments / path.name) for path in shared)


def _refuse(*_: object) -> None:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def test_other_access_rules_share_readings_alone(tmp_path: Path, work: Work) -> None:
    main, feature, third = (Repository(tmp_path, name) for name in ("main", "feature", "third"))
    main.build(STAFF)
    work.read.clear()
    assert feature.build() == READ
    assert third.build(STAFF) == RENEWED
    assert sorted(work.read) == sorted([*FILES, "deploy.yaml"] * 2), "of the builds from nothing"


@pytest.mark.parametrize("is_short_first", [True, False])
def test_a_longer_name_of_a_branch_leaves_out_what_is_too_long(tmp_path: Path, is_short_first: bool) -> None:
    folders = "/".join(["d" * 200] * (MAX_ID_LENGTH // 201 - 1))
    path = f"{folders}/{'f' * (MAX_ID_LENGTH - len(folders) - 60)}.py"
    files = {**FILES, path: "def long():\n    pass\n"}
    branches = [Repository(tmp_path, name, files) for name in ("main", "a-branch-with-a-long-name" * 4)]
    for branch in branches if is_short_first else reversed(branches):
        assert branch.build() == READ
        assert branch.build() == RENEWED
    indexes = [LoadedIndex(IndexStore(branch.data).require(branch.scope(1))) for branch in branches]
    places = [index.nodes.categories["path"].values.find(path) for index in indexes]
    assert [place is not None for place in places] == [True, False]


class StorageElsewhere(IndexStore):
    """Versions whose deletion would not reach what is kept."""

    keeps_collections = False


def test_storage_that_keeps_nothing_takes_nothing(tmp_path: Path, work: Work) -> None:
    main = Repository(tmp_path)
    main.build()
    work.read.clear()
    feature = Repository(tmp_path, "feature")
    feature.files_of_a_build(stages=Stages(), storage=StorageElsewhere(feature.data))
    assert sorted(work.read) == sorted([*FILES, "deploy.yaml"])
    assert all(path.stat().st_nlink == 1 for path in main.segments.iterdir() if path.is_file())


def test_each_branch_has_its_own_texts_alone(tmp_path: Path) -> None:
    for number, files in enumerate((FILES, {path: text for path, text in FILES.items() if path != "app/tax.py"})):
        folder = tmp_path / str(number)
        main, feature = Repository(folder, "main", with_secret()), Repository(folder, "feature", files)
        main.build()
        feature.build()
        assert files_with(main.segments, SECRET)
        assert not files_with(folder / "data/shop/feature", SECRET)


def test_a_deletion_removes_all_of_its_branch_and_nothing_of_another(tmp_path: Path) -> None:
    """First of the branch that was built first, then of the one that took from it."""
    for number, names in enumerate((("main", "feature"), ("feature", "main"))):
        main, feature = (Repository(tmp_path / str(number), name, with_secret()) for name in ("main", "feature"))
        main.build()
        feature.build()
        by_name = {"main": main, "feature": feature}
        deleted, kept = (by_name[name] for name in names)
        kept.write("app/tax.py", FILES["app/tax.py"])
        for branch in (kept, deleted, deleted):
            branch.files_of_a_build(stages=Stages())
        store = IndexStore(main.data)
        store.delete(kept.scope(1))
        deleted.write("app/tax.py", "RATE = 1\n")
        deleted.build()
        for version in (1, 2, 3):
            store.delete(deleted.scope(version))
        assert not files_with(main.data, SECRET)
        assert kept.build() == RENEWED


def test_a_build_that_fails_leaves_nothing_of_another_branch(tmp_path: Path) -> None:
    main, feature = Repository(tmp_path, "main", with_secret()), Repository(tmp_path, "feature")
    main.build()
    for stage in ("Comparing", "Tokenising", "Writing tables", "Saving"):
        stages = Stages(ends={stage: _fail})
        with pytest.raises(KeyboardInterrupt):
            feature.files_of_a_build(stages=stages)
        assert not files_with(tmp_path / "data/shop/feature", SECRET)
    assert feature.build() == RENEWED


def _fail() -> None:
    raise KeyboardInterrupt


def test_what_a_killed_build_has_left_goes_with_a_build_or_a_deletion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is copied as it is when a build is killed that has another branch's collection before it."""
    main, feature = Repository(tmp_path, "main", with_secret()), Repository(tmp_path, "feature")
    main.build()
    main.write("app/tax.py", FILES["app/tax.py"])
    folders = [tmp_path / "killed once", tmp_path / "killed twice"]

    def give_and_copy(file: Path, target: Path) -> bool:
        is_given = give_second_name(file, target)
        for folder in folders:
            shutil.copytree(main.data, folder, dirs_exist_ok=True)
        return is_given

    monkeypatch.setattr(kept_collection, "give_second_name", give_and_copy)
    feature.build()
    monkeypatch.undo()
    for folder in folders:
        assert files_with(folder / "shop/feature", SECRET)
    main.data = feature.data = folders[0]
    feature.files_of_a_build(stages=Stages())
    assert not files_with(folders[0] / "shop/feature", SECRET)
    main.data = folders[1]
    main.files_of_a_build(stages=Stages())
    main.files_of_a_build(stages=Stages())
    index_store = IndexStore(folders[1])
    index_store.activate(main.scope(2))
    index_store.delete(main.scope(1))  # which is not the last one: what the last build keeps stays
    assert not files_with(folders[1], SECRET)


def test_deletions_of_two_branches_at_once_remove_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds the lock of builds while waiting for that of writers would look like a build to the other deletion."""
    main, feature = Repository(tmp_path), Repository(tmp_path, "feature")
    for repository in (main, feature):
        for _ in range(2):
            repository.files_of_a_build(stages=Stages())
    (feature.segments.parent / ".building-killed").mkdir()
    held: list[str] = []
    taken: list[tuple[str, ...]] = []

    @contextmanager
    def recorded(path: Path, refusal: str = "") -> Iterator[None]:
        if path.parent == feature.segments.parent:
            taken.append((*held, path.name))
        with locked(path, refusal):
            held.append(path.name)
            yield
            held.pop()

    monkeypatch.setattr(store, "locked", recorded)
    IndexStore(main.data).delete(main.scope(1))
    assert taken == [(".write.lock",), (".write.lock", ".build.lock")]
    assert not (feature.segments.parent / ".building-killed").exists()


def test_patterns_that_match_nothing_are_those_of_the_branch(tmp_path: Path) -> None:
    """Files that are left out are not compared, so branches may differ in them."""
    main, feature = Repository(tmp_path), Repository(tmp_path, "feature")
    main.write("gen/made.py", "made = 1\n")
    unused = []
    for repository, branch in ((main, "main"), (feature, "feature")):
        stages = Stages()
        options = BuildOptions(repository.data, Scope("shop", branch, "v1"), None, inputs="x")
        report = build_index(TreeSource(repository.tree, exclude=("gen/",)), options, stages)
        unused.append((report.unused_patterns, "Reading" in stages.seen))
    assert unused == [((), True), (("gen/",), False)]


DAMAGES: Sequence[Callable[[bytes], bytes]] = (
    lambda _: b"",
    lambda _: b"other",
    lambda content: content[: len(content) // 2],
    lambda content: content[:-9] + bytes(9),
)


@pytest.mark.parametrize("damaged", DAMAGES)
def test_damaged_files_of_the_other_branch_change_nothing(tmp_path: Path, damaged: Callable[[bytes], bytes]) -> None:
    main = Repository(tmp_path)
    main.build()
    files = sorted(path for path in main.segments.rglob("*") if path.is_file())
    assert len(files) > 8
    feature = Repository(tmp_path, "feature")
    of_nothing = feature.files_of_nothing()
    for path in files:
        content = path.read_bytes()
        path.write_bytes(damaged(content))
        stages = Stages()
        assert (path.name, feature.files_of_a_build(stages=stages)) == (path.name, of_nothing)
        is_of_collection = path.parent == main.kept and path.name != READINGS_FILE
        assert ("Reading" in stages.seen) == is_of_collection
        shutil.rmtree(feature.segments)
        path.write_bytes(content)


def test_a_file_that_is_gone_or_of_another_user_gets_no_second_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, target = tmp_path / "file", tmp_path / "target"
    assert not give_second_name(file, target)
    file.write_text("text", encoding="utf-8")
    monkeypatch.setattr(Path, "hardlink_to", _refuse)
    assert give_second_name(file, target)
    assert target.read_text(encoding="utf-8") == "text"
    monkeypatch.setattr(shutil, "copyfile", _refuse)
    assert not give_second_name(file, target)
    assert not target.exists()


def test_a_file_that_changes_while_it_is_compared_is_read_again(tmp_path: Path) -> None:
    """Although another branch has what was read of the content that it had before."""
    main, third, feature = (Repository(tmp_path, name) for name in ("main", "third", "feature"))
    main.build()
    for branch in (third, feature):
        branch.write("app/report.py", "# a\n" + FILES["app/report.py"])
    third.write("app/more.py", "def more():\n    pass\n")
    third.build()
    contents = tree_contents(feature.tree)
    feature.write("app/report.py", "# a\n# b\n" + FILES["app/report.py"])
    stages = Stages()
    build_index(TreeSource(feature.tree, contents=contents), BuildOptions(main.data, feature.scope(1), None), stages)
    assert "Reading" in stages.seen


def test_damaged_readings_of_the_other_branch_are_read_again(tmp_path: Path, work: Work) -> None:
    main = Repository(tmp_path)
    main.build()
    with sqlite3.connect(main.kept / READINGS_FILE) as connection:
        connection.execute("UPDATE readings SET content = substr(content, 2) WHERE path = 'app/tax.py'")
        connection.execute("UPDATE readings SET content = 'text' WHERE path = 'app/report.py'")
    connection.close()
    feature = Repository(tmp_path, "feature")
    feature.write("app/more.py", "def more():\n    pass\n")
    work.read.clear()
    feature.files_of_a_build(stages=Stages())
    assert sorted(work.read) == ["app/more.py", "app/report.py", "app/tax.py"]


def test_a_writer_of_the_other_branch_holds_up_nothing_and_is_not_held_up(tmp_path: Path, work: Work) -> None:
    main = Repository(tmp_path)
    main.build()
    feature = Repository(tmp_path, "feature")
    feature.write("app/more.py", "def more():\n    pass\n")
    work.read.clear()
    connection = sqlite3.connect(main.kept / READINGS_FILE, timeout=0, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    feature.files_of_a_build(stages=Stages())
    connection.execute("DELETE FROM readings")
    connection.execute("COMMIT")
    connection.close()
    assert work.read == ["app/more.py"]


class Meanwhile:
    """Does something else at the call of a given number, after the call."""

    def __init__(self, number: int, action: Callable[[], object]) -> None:
        self._waiting, self._action = number, action
        self.is_done = False

    def count(self) -> None:
        self._waiting -= 1
        if self._waiting == 0:
            self.is_done = True
            self._action()


def other_build(main: Repository) -> None:
    main.write("app/tax.py", "# edited meanwhile\n" + FILES["app/tax.py"])
    main.files_of_a_build(stages=Stages())


def other_deletion(main: Repository) -> None:
    store = IndexStore(main.data)
    store.activate(main.scope(1))
    store.delete(main.scope(2))


@pytest.mark.parametrize("happens", [other_build, other_deletion])
@pytest.mark.parametrize("number", [1, 2, 5, 9, 14, 20])
def test_a_build_or_deletion_of_the_other_branch_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, happens: Callable[[Repository], None], number: int
) -> None:
    """It comes between any two looks at what the other branch keeps."""
    monkeypatch.setattr(spool, "ROWS_A_SPAN", 4)
    main, feature = Repository(tmp_path), Repository(tmp_path, "feature")
    main.build()
    main.build()
    feature.write("app/report.py", "# edited\n" + FILES["app/report.py"])
    meanwhile = Meanwhile(number, lambda: happens(main))
    look, content = OtherBranches.segments, OtherReadings.content

    def give_in_collection(file: Path, target: Path) -> bool:
        is_given = give_second_name(file, target)
        meanwhile.count()
        return is_given

    def look_for_segments(self: OtherBranches) -> object:
        known = look(self)
        meanwhile.count()
        return known

    def read_content(self: OtherReadings, path: str, reader: str, key: str) -> bytes | None:
        known = content(self, path, reader, key)
        meanwhile.count()
        return known

    monkeypatch.setattr(kept_collection, "give_second_name", give_in_collection)
    monkeypatch.setattr(segments, "give_second_name", give_in_collection)
    monkeypatch.setattr(OtherBranches, "segments", look_for_segments)
    monkeypatch.setattr(OtherReadings, "content", read_content)
    feature.build()
    assert meanwhile.is_done
    monkeypatch.undo()
    assert feature.build() == RENEWED


def test_only_branches_that_changed_last_are_looked_into(tmp_path: Path) -> None:
    for number in range(MOST_BRANCHES_READ + 2):
        branch = tmp_path / f"b{number}"
        (branch / ".segments").mkdir(parents=True)
        os.utime(branch, ns=(number, number))
    (tmp_path / "without").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / ".hidden" / ".segments").mkdir(parents=True)
    names = [folder.parent.name for folder in OtherBranches.beside(tmp_path / "b9").folders]
    assert names == [f"b{number}" for number in range(8, 0, -1)]
    assert OtherBranches.beside(tmp_path / "gone" / "b").folders == ()
