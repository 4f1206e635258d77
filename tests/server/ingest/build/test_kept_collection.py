"""A build after an edit gives the files of a build from nothing, whatever was kept of the build before."""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from groundwire_index.store.manifest import Manifest
from groundwire_index.store.store import SEGMENTS_FOLDER, IndexStore
from groundwire_ingest.build import build as building
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.build.kept_collection import COLLECTION_FOLDER, READINGS_FILE
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_ingest.tree.source import MOST_MOVED_FILES, TreeSource
from support.builds import Records, Stages, node

FILES: Mapping[str, str] = {
    "Shop.sln": 'Project("{F}") = "Shop", "src\\Shop.csproj", "{A}"\nEndProject\n',
    "src/Shop.csproj": '<Project>\n  <ItemGroup>\n<PackageReference Include="Refit" />\n  </ItemGroup>\n</Project>\n',
    "src/Orders.cs": """using Company.Billing;
namespace Shop;

public interface ITax { decimal Of(decimal price); }

[Route("orders")]
public class OrdersController : ControllerBase
{
    private readonly ITax tax;

    // asks the tax
    [HttpGet("{id}")]
    public decimal Total(int id)
    {
        Invoice.Write(id);
        connection.Execute("INSERT INTO Orders (Id) VALUES (1)");
        return tax.Of(1);
    }
}
""",
    "src/Tax.cs": "namespace Shop;\n\npublic class Tax : ITax\n{\n    public decimal Of(decimal price) => price;\n}\n",
    "db/orders.sql": "CREATE TABLE Orders (Id int NOT NULL);\n",
    "app/report.py": "import tax\n\n\ndef report():\n    # sums\n    return tax.rate() + 1\n",
    "app/tax.py": "def rate():\n    return 2\n",
    "docs/guide.md": "# Guide\n\nSee `report`.\n",
    "deploy.yaml": "kind: Service\nmetadata:\n  name: shop\n",
    "settings.json": '{"Tax": {"Rate": 2}}\n',
}
RENEWED = "renewed"
READ = "read"


def edited(path: str, old: str, new: str) -> tuple[str, str | None]:
    assert old in FILES[path]
    return path, FILES[path].replace(old, new, 1)


EDITS: Mapping[str, tuple[str, str | None, str]] = {
    "a comment": (*edited("src/Orders.cs", "// asks the tax", "// asks\n    // the tax"), RENEWED),
    "lines at the top": (*edited("app/report.py", "import", "# what\n# it\n\nimport"), RENEWED),
    "a number": (*edited("app/report.py", "+ 1", "+ 2"), RENEWED),
    "a document's text": (*edited("docs/guide.md", "See", "Now see"), RENEWED),
    "a mention in a document": (*edited("docs/guide.md", "See", "See `rate`, `app/tax.py` and"), RENEWED),
    "a name": (*edited("app/tax.py", "def rate", "def other():\n    pass\n\n\ndef rate"), READ),
    "another string": (*edited("src/Orders.cs", "INTO Orders", "INTO Others"), READ),
    "lines in another order": ("app/tax.py", "def base():\n    pass\n\n\ndef rate():\n    return 2\n", READ),
    "a project": (*edited("src/Shop.csproj", "Refit", "Dapper"), READ),
    "a solution": (*edited("Shop.sln", "Shop.csproj", "Other.csproj"), READ),
    "settings": (*edited("settings.json", "Rate", "Share"), READ),
    "a deployment": (*edited("deploy.yaml", "name: shop", "name: store"), READ),
    "a table": (*edited("db/orders.sql", "Orders", "Sales"), READ),
    "a file less": ("src/Tax.cs", None, READ),
    "a file more": ("src/More.cs", "namespace Shop;\n\npublic class More : ITax\n{\n}\n", READ),
}


class Repository:
    """A tree and the data folder of its index; builds there, and compares with a build from nothing."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.data, self._folder = folder / "tree", folder / "data", folder
        self.kept = self.data / "shop" / "main" / SEGMENTS_FOLDER / COLLECTION_FOLDER
        self._number = 0
        for path, text in FILES.items():
            self.write(path, text)

    def write(self, path: str, text: str | None) -> None:
        if text is None:
            (self.tree / path).unlink()
            return
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / path).write_text(text, encoding="utf-8")

    def build(self, *access: AccessRule) -> str:
        """Builds a version, checks its files, and returns whether the tree was read for it."""
        self._number += 1
        stages, unused = Stages(), Stages()
        shutil.rmtree(self._folder / "nothing", ignore_errors=True)
        of_kept = self._files(self.data, stages, access)
        assert of_kept == self._files(self._folder / "nothing", unused, access)
        return READ if "Reading" in stages.seen else RENEWED

    def scope(self, number: int) -> Scope:
        return Scope("shop", "main", f"v{number}")

    def _files(self, data: Path, stages: Stages, access: tuple[AccessRule, ...]) -> dict[str, str]:
        scope = self.scope(self._number)
        build_index(TreeSource(self.tree, access=access), BuildOptions(data, scope, None, inputs="x"), stages)
        return {entry.name: entry.sha256 for entry in Manifest.read(IndexStore(data).require(scope)).files}


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
