"""Trees of the branches of a repository, which tests edit and build; each version is compared with one of nothing."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from groundwire_index.scope import Scope
from groundwire_index.storage import Storage
from groundwire_index.store.manifest import Manifest
from groundwire_index.store.store import SEGMENTS_FOLDER, IndexStore
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.build.kept_collection import COLLECTION_FOLDER
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_ingest.tree.source import TreeSource
from support.builds import Stages

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
"""What a build says that had no need to read the tree."""
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
    """The tree of a branch and a data folder, which branches may share; builds there, and compares with nothing."""

    def __init__(self, folder: Path, branch: str = "main", files: Mapping[str, str] = FILES) -> None:
        self.tree, self.data, self._folder = folder / f"tree of {branch}", folder / "data", folder
        self.segments = self.data / "shop" / branch / SEGMENTS_FOLDER
        self.kept = self.segments / COLLECTION_FOLDER
        self._branch, self._number = branch, 0
        for path, text in files.items():
            self.write(path, text)

    def write(self, path: str, text: str | None) -> None:
        if text is None:
            (self.tree / path).unlink()
            return
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / path).write_text(text, encoding="utf-8")

    def build(self, *access: AccessRule, storage: Storage | None = None) -> str:
        """Builds a version, checks its files, and returns whether the tree was read for it."""
        stages = Stages()
        files = self.files_of_a_build(*access, stages=stages, storage=storage)
        assert files == self.files_of_nothing(*access)
        return READ if "Reading" in stages.seen else RENEWED

    def files_of_a_build(self, *access: AccessRule, stages: Stages, storage: Storage | None = None) -> dict[str, str]:
        """Builds a version; returns the checksums of its files by name."""
        self._number += 1
        return self._files(self.data, stages, access, storage)

    def files_of_nothing(self, *access: AccessRule) -> dict[str, str]:
        """The same of the last version for a build that has nothing before it."""
        nothing = self._folder / f"nothing of {self._branch}"
        shutil.rmtree(nothing, ignore_errors=True)
        return self._files(nothing, Stages(), access, None)

    def scope(self, number: int) -> Scope:
        return Scope("shop", self._branch, f"v{number}")

    def _files(
        self, data: Path, stages: Stages, access: tuple[AccessRule, ...], storage: Storage | None
    ) -> dict[str, str]:
        scope = self.scope(self._number)
        options = BuildOptions(data, scope, None, inputs="x")
        build_index(TreeSource(self.tree, access=access), options, stages, storage)
        return {entry.name: entry.sha256 for entry in Manifest.read(IndexStore(data).require(scope)).files}
