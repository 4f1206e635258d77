"""What the files of a tree that hold no code say about its code."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from groundwire_ingest.tree.languages.typescript.projects import ScriptProject


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """What name resolution needs to know about a tree besides its code.

    `python_packages` are the folders that hold an `__init__.py`; `go_modules` has the module path of each folder that
    holds a go.mod; `dotnet_projects` are the folders that hold a project of .NET; `script_projects` has what each
    `tsconfig.json` and `package.json` says; `crates` the name of the crate of each folder that holds a Cargo.toml with
    a package. Paths are relative to the tree, its root being empty.
    """

    python_packages: frozenset[str]
    go_modules: Mapping[str, str]
    dotnet_projects: frozenset[str] = frozenset()
    script_projects: Mapping[str, ScriptProject] = field(default_factory=dict)
    crates: Mapping[str, str] = field(default_factory=dict)
