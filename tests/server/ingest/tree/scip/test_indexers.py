"""The indexes that scip-typescript and scip-python make, over small sources."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from groundwire_ingest.records import SourceEdge
from support.scip_index import edges_of, notes_of, write_tree

pytestmark = pytest.mark.slow

INDEXERS = Path(__file__).parent / "indexers"
SECONDS = 300
TYPESCRIPT = {
    "tsconfig.json": '{"compilerOptions": {"target": "es2020", "strict": true}, "include": ["src"]}',
    "src/store.ts": """\
export interface Store {
  load(id: string): string;
}
export class MemoryStore implements Store {
  private readonly items = new Map<string, string>();
  load(id: string): string {
    const found = this.items.get(id);
    return found ?? describe(id);
  }
}
export function describe(id: string): string {
  return `nothing for ${id}`;
}
""",
    "src/café.ts": """\
import { MemoryStore, describe as tell, type Store } from "./store";

export class Café {
  constructor(private readonly store: Store) {
    tell("opened");
  }
  order(name: string): string {
    const größe = "🧾"; const text = this.store.load(name);
    return text + größe;
  }
}
export const open = (): Café => {
  const made = pick(new MemoryStore());
  return made;
};
function pick(store: Store): Café {
  const places = [new Café(store)].map(first);
  return places[0];
}
function first(place: Café): Café {
  return place;
}
""",
}
PYTHON = {
    "shop/__init__.py": "",
    "shop/store.py": """\
LIMIT = 3


class Store:
    def load(self, key: str) -> str:
        raise LookupError(f"no {key}")


class MemoryStore(Store):
    def __init__(self, size: int) -> None:
        self.size = size
        print("made", size)

    def load(self, key: str) -> str:
        return describe(key)


def describe(key: str) -> str:
    return f"nothing for {key}"
""",
    "shop/cafe.py": """\
from shop import store as stores
from shop.store import LIMIT, MemoryStore, Store, describe


class Cafe:
    def __init__(self, store: Store) -> None:
        self.store = store
        print("opened")

    def order(self, name: str) -> str:
        return "🧾" + self.store.load(name)


def open_cafe() -> Cafe:
    return Cafe(MemoryStore(LIMIT))


def everything(names: list[str]) -> list[str]:
    return [stores.describe(name) for name in map(describe, names)]
""",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the indexers' programs."""
    folder = tmp_path_factory.mktemp("indexers")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(INDEXERS / name, folder)
    run("npm", "ci", "--ignore-scripts", folder=folder)
    return folder / "node_modules" / ".bin"


def run(*command: str | Path, folder: Path) -> None:
    assert shutil.which(command[0]), f"no {command[0]}: `make test-slow` needs Node with npm"
    # scip-python asks the `python` that it finds for installed packages.
    environment = {**os.environ, "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, f"{command} exited {done.returncode}:\n{done.stdout}\n{done.stderr}"


def certain(root: Path) -> dict[tuple[str, str, str], SourceEdge]:
    return {place: edge for place, edge in edges_of(root).items() if edge.confidence == 1}


def test_typescript(tmp_path: Path, programs: Path) -> None:
    root = write_tree(tmp_path / "cafe", TYPESCRIPT)
    without_index = certain(root)
    run(programs / "scip-typescript", "index", "--no-progress-bar", folder=root)
    edges = certain(root)
    stated = {
        ("src/café.ts", "Imports", "src/store.ts"),
        ("src/café.ts#Café.constructor", "Calls", "src/store.ts#describe"),
        ("src/café.ts#Café.order", "Calls", "src/store.ts#Store.load"),
        ("src/café.ts#open", "Calls", "src/café.ts#pick"),
        ("src/café.ts#open", "Calls", "src/store.ts#MemoryStore"),
        ("src/café.ts#pick", "Calls", "src/café.ts#Café.constructor"),
        ("src/café.ts#pick", "References", "src/café.ts#first"),
        ("src/store.ts#MemoryStore", "Inherits", "src/store.ts#Store"),
        ("src/store.ts#MemoryStore.load", "Calls", "src/store.ts#describe"),
        ("src/store.ts#MemoryStore.load", "Implements", "src/store.ts#Store.load"),
        ("src/store.ts#Store.load", "ImplementedBy", "src/store.ts#MemoryStore.load"),
    }
    assert stated <= edges.keys()
    assert not stated <= without_index.keys()
    assert edges["src/café.ts#Café.order", "Calls", "src/store.ts#Store.load"].line == 8
    assert "src/café.ts" not in notes_of(root)


def test_python(tmp_path: Path, programs: Path) -> None:
    root = write_tree(tmp_path / "cafe", PYTHON)
    without_index = certain(root)
    options = ("--quiet", "--project-name", "shop", "--project-version", "1")
    run(programs / "scip-python", "index", *options, folder=root)
    edges = certain(root)
    stated = {
        ("shop/cafe.py", "Imports", "shop/store.py"),
        ("shop/cafe.py#Cafe.order", "Calls", "shop/store.py#Store.load"),
        ("shop/cafe.py#Cafe.__init__", "References", "shop/store.py#Store"),
        ("shop/cafe.py#open_cafe", "Calls", "shop/store.py#MemoryStore.__init__"),
        ("shop/cafe.py#open_cafe", "Calls", "shop/cafe.py#Cafe.__init__"),
        ("shop/cafe.py#open_cafe", "References", "shop/store.py#LIMIT"),
        ("shop/cafe.py#everything", "Calls", "shop/store.py#describe"),
        ("shop/store.py#MemoryStore", "Inherits", "shop/store.py#Store"),
        ("shop/store.py#MemoryStore.load", "Calls", "shop/store.py#describe"),
        ("shop/store.py#MemoryStore.load", "Overrides", "shop/store.py#Store.load"),
    }
    assert stated <= edges.keys()
    assert not stated <= without_index.keys()
    assert edges["shop/cafe.py#Cafe.order", "Calls", "shop/store.py#Store.load"].line == 11


def test_an_index_older_than_its_sources_is_left_out(tmp_path: Path, programs: Path) -> None:
    root = write_tree(tmp_path / "cafe", TYPESCRIPT)
    run(programs / "scip-typescript", "index", "--no-progress-bar", folder=root)
    store = root / "src" / "store.ts"
    store.write_text("// Licence.\n\n" + store.read_text(encoding="utf-8"), encoding="utf-8")
    assert "run its indexer again" in notes_of(root)["src/store.ts"]
