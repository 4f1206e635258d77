"""A repository is built anew exactly when its content, its settings or the software have changed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildReport
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.repositories.indexing import Indexer, Unchanged, inputs_of
from groundwire_ingest.repositories.repositories_file import Repository
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_ingest.tree.contents import TreeContents, tree_contents
from groundwire_ingest.tree.walk import list_tree
from support.builds import Stages
from support.program import write_jsonl
from support.swaps import SWAPS, Swap

MAIN = Scope("shop", "main")
FINANCE = AccessRule("shop.py", NodeAccess(acl_tags=("finance",)))


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    root = tmp_path / "shop"
    (root / "ignored").mkdir(parents=True)
    (root / "shop.py").write_text("def shop():\n    return 1\n")
    (root / "ignored" / "other.py").write_text("def other():\n    return 1\n")
    (root / ".gitignore").write_text("ignored/\n")
    return Repository(root, MAIN, "none")


@pytest.fixture
def store(tmp_path: Path) -> IndexStore:
    return IndexStore(tmp_path / "data")


@pytest.fixture
def indexer(store: IndexStore) -> Indexer:
    return Indexer(store.data, store, Stages())


def test_what_is_unchanged_is_not_built(shop: Repository, store: IndexStore, indexer: Indexer) -> None:
    assert isinstance(indexer.index(shop, "v1"), BuildReport)
    (shop.path / "ignored" / "a.py").write_text("x = 1\n")
    (shop.path / "shop.py").touch()
    assert indexer.index(shop, "v2") == Unchanged(replace(MAIN, active_index="v1"))
    assert isinstance(indexer.index(shop, "v2", always=True), BuildReport)
    assert store.versions(MAIN) == ["v1", "v2"]


@pytest.mark.parametrize("swap", SWAPS, ids=lambda swap: swap.__name__)
def test_what_is_replaced_while_it_is_hashed_is_not_followed(
    shop: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swap: Swap
) -> None:
    secret, file = tmp_path / "secret.py", shop.path / "a" / "b.py"
    secret.write_text("secret = 1\n")
    file.parent.mkdir()
    file.write_text("b = 1\n")
    listed = list_tree(shop.path)
    monkeypatch.setattr("groundwire_ingest.tree.contents.list_tree", lambda *_: listed)
    swap(file, secret)
    before = inputs_of(shop, "none")
    for outside in (secret, tmp_path / "outside" / "b.py"):
        if outside.exists():
            outside.write_text("secret = 2\n")
    assert before == inputs_of(shop, "none") != ""


def test_files_outside_of_a_bundle_do_not_count(tmp_path: Path) -> None:
    bundle, secret = tmp_path / "bundle", tmp_path / "secret"
    (bundle / "regular_code_bundle").mkdir(parents=True)
    (bundle / "regular_code_bundle" / "chunks.json").write_text("[]")
    (bundle / "link").symlink_to(secret)
    inputs = set[str]()
    for text in ("1", "2"):
        secret.write_text(text)
        inputs.add(inputs_of(Repository(bundle, MAIN, "none"), "none"))
    assert len(inputs) == 1


def grow(repository: Repository) -> Repository:
    with (repository.path / "shop.py").open("a") as file:
        file.write("# more\n")
    return repository


def move(repository: Repository) -> Repository:
    (repository.path / "shop.py").rename(repository.path / "store.py")
    return repository


def unignore(repository: Repository) -> Repository:
    (repository.path / ".gitignore").write_text("")
    return repository


@pytest.mark.parametrize(
    "change",
    [
        grow,
        move,
        unignore,
        lambda repository: replace(repository, exclude=("*.md",)),
        lambda repository: replace(repository, access=(FINANCE,)),
        lambda repository: replace(repository, skip_dangling_edges=True),
    ],
)
def test_what_has_changed_has_other_inputs(shop: Repository, change: Callable[[Repository], Repository]) -> None:
    before = inputs_of(shop, "none")
    assert before != inputs_of(change(shop), "none") != ""


def test_what_has_changed_is_built(shop: Repository, store: IndexStore, indexer: Indexer) -> None:
    indexer.index(shop, "v1")
    assert isinstance(indexer.index(grow(shop), "v2"), BuildReport)
    assert store.active(MAIN) == "v2"


def test_rules_models_and_exclusions_are_told_apart(shop: Repository) -> None:
    of = NodeAccess
    rules = [
        (),
        (FINANCE,),
        (replace(FINANCE, allow_no_match=True),),
        (replace(FINANCE, path="*.py"),),
        *((replace(FINANCE, demand=demand),) for demand in (of("x"), of(acl_tags=("x",)), of("", (), ("x",)))),
        (replace(FINANCE, demand=of(clearance_level=1)),),
    ]
    inputs = [inputs_of(replace(shop, access=each), "none") for each in rules]
    inputs += [inputs_of(shop, "a model"), inputs_of(replace(shop, exclude=("a", "b")), "none")]
    inputs += [inputs_of(replace(shop, exclude=("b", "a")), "none"), inputs_of(shop, "none", "HNSW")]
    assert len(set(inputs)) == len(inputs)


def test_one_file_is_told_by_its_content(tmp_path: Path, indexer: Indexer) -> None:
    record = {"type": "node", "kind": "cs", "local_id": "a", "text": "class A {}"}
    source = Repository(write_jsonl(tmp_path / "a.jsonl", [record]), MAIN, "none")
    indexer.index(source, "v1")
    assert isinstance(indexer.index(source, "v2"), Unchanged)
    write_jsonl(source.path, [record | {"text": "class B {}"}])
    assert isinstance(indexer.index(source, "v2"), BuildReport)


def test_a_damaged_version_is_built_anew(shop: Repository, store: IndexStore, indexer: Indexer) -> None:
    indexer.index(shop, "v1")
    (store.directory(replace(MAIN, active_index="v1")) / "numbers.bin").unlink()
    assert isinstance(indexer.index(shop, "v2"), BuildReport)


def test_a_source_that_changes_while_it_is_read_is_built_again(shop: Repository, store: IndexStore) -> None:
    indexer = Indexer(store.data, store, Stages(ends={"Reading": lambda: (shop.path / "more.py").touch()}))
    indexer.index(shop, "v1")
    assert store.manifest(replace(MAIN, active_index="v1")).inputs == ""
    assert isinstance(indexer.index(shop, "v2"), BuildReport)


def test_a_tree_is_hashed_again_only_if_names_were_resolved(
    shop: Repository, indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[Path] = []

    def noted(root: Path, exclude: Sequence[str]) -> TreeContents:
        hashed.append(root)
        return tree_contents(root, exclude)

    monkeypatch.setattr("groundwire_ingest.repositories.indexing.tree_contents", noted)
    for number, (text, times) in enumerate({"x = 1\n": 2, "# comment\nx = 1\n": 1, "y = 1\n": 2}.items()):
        (shop.path / "shop.py").write_text(text)
        hashed.clear()
        indexer.index(shop, f"v{number}")
        assert len(hashed) == times


@pytest.mark.parametrize("more", [{"exclude": ("a",)}, {"access": (FINANCE,)}])
def test_only_a_tree_can_have_exclusions_and_access_rules(
    tmp_path: Path, indexer: Indexer, more: dict[str, object]
) -> None:
    record = {"type": "node", "kind": "cs", "local_id": "a", "text": "class A {}", "path": "shop.py"}
    source = Repository(write_jsonl(tmp_path / "a.jsonl", [record]), MAIN, "none")
    with pytest.raises(IngestError, match="only a source tree can have --exclude and access rules"):
        indexer.index(replace(source, **more), "v1")  # type: ignore[arg-type]
