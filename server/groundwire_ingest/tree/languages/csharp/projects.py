"""Projects of .NET, which a `.csproj` describes."""

from dataclasses import dataclass

from groundwire_ingest.tree.languages.module_files import ModuleFile


@dataclass(frozen=True, slots=True)
class DotnetProject(ModuleFile):
    """A project: the namespace that those of its folders begin with, and the folders of the projects it refers to."""

    root_namespace: str
    references: frozenset[str] = frozenset()
