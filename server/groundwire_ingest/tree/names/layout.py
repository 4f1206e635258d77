"""The facts about a tree's code from files other than code."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from groundwire_ingest.tree.languages.typescript.projects import ScriptProject


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """The facts about a tree that name resolution needs besides its code.

    `python_packages` are the folders with an `__init__.py`. `go_modules` has the module path of each folder with a
    go.mod. `dotnet_projects` are the folders with a .NET project. `script_projects` has the facts of each
    `tsconfig.json` and `package.json`. `crates` has the name of the crate of each folder with a Cargo.toml that has a
    package. Paths are relative to the tree, its root being empty.
    """

    python_packages: frozenset[str]
    go_modules: Mapping[str, str]
    dotnet_projects: frozenset[str] = frozenset()
    script_projects: Mapping[str, ScriptProject] = field(default_factory=dict)
    crates: Mapping[str, str] = field(default_factory=dict)
