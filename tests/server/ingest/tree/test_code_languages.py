"""The records of languages: the files that say where modules are, and the programs that run scripts."""

import pytest

from groundwire_ingest.tree.code_languages import CODE_LANGUAGES, module_file
from groundwire_ingest.tree.languages.go.go_modules import GoModule
from groundwire_ingest.tree.languages.module_files import ModuleFile
from groundwire_ingest.tree.languages.rust.crates import Crate
from groundwire_ingest.tree.languages.typescript.projects import ScriptConfig, ScriptPackage


@pytest.mark.parametrize(
    ("path", "text", "stated"),
    [
        ("shop/go.mod", "module example.com/shop\n", GoModule("example.com/shop")),
        ("shop/Cargo.toml", '[package]\nname = "shop-core"\n', Crate("shop_core")),
        ("shop/package.json", '{"name": "shop"}', ScriptPackage("shop")),
        ("shop/tsconfig.json", '{"compilerOptions": {"baseUrl": "src"}}', ScriptConfig(base_url="src")),
        ("shop/module.txt", "module example.com/shop\n", None),
        ("shop/data.json", '{"name": "shop"}', None),
    ],
)
def test_a_language_reads_its_module_files(path: str, text: str, stated: ModuleFile | None) -> None:
    assert module_file(path, text) == stated


def test_an_interpreter_runs_one_language() -> None:
    interpreters = [name for language in CODE_LANGUAGES.values() for name in language.interpreters]
    assert len(interpreters) == len(set(interpreters))
    assert {"python", "node", "deno", "ruby", "php"} <= set(interpreters)
