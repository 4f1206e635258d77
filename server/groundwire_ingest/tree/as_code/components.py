"""The code in components and views, in the form that their framework gives it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from groundwire_ingest.frameworks.registry import form_of
from groundwire_ingest.tree.as_code.component import Component, ComponentCode, unread_code
from groundwire_ingest.tree.facts import CodeAnalysis
from groundwire_ingest.tree.folders import folders_above
from groundwire_ingest.tree.model import SourceFile
from groundwire_ingest.workers import GivenUp

CodeReading: TypeAlias = Callable[[Iterable[SourceFile]], Iterator[CodeAnalysis | GivenUp]]
"""Analyses files of code, in their order."""


class ComponentReader:
    """Reads the code of a tree's components once all of them are known.

    `root_namespaces` has the root namespace of each folder that holds a .NET project. `may_read` says of a file which
    others its nodes may follow from.
    """

    def __init__(
        self,
        components: Iterable[Component],
        root_namespaces: Mapping[str, str],
        may_read: Callable[[str], Callable[[str], bool]],
    ) -> None:
        self._components = sorted(components, key=lambda item: item.path)
        self._root_namespaces = root_namespaces
        self._may_read = may_read
        self._shared: defaultdict[str, list[Component]] = defaultdict(list)
        for component in self._components:
            folder, _, name = component.path.rpartition("/")
            if name in form_of(component.path).shared:
                self._shared[folder].append(component)

    def read(self, read_code: CodeReading) -> Iterator[ComponentCode]:
        """The code of each component, by path; those without a line that a node holds have none."""
        components = [item for item in self._components if any(item.keys)]
        files = [
            form_of(item.path).file(item, self._shared_above(item.path), self._root_namespaces) for item in components
        ]
        analyses = read_code(file for file in files if file is not None)
        for component, file in zip(components, files, strict=True):
            analysis = next(analyses) if file is not None else None
            if analysis is None or isinstance(analysis, GivenUp):
                yield unread_code(component, "" if analysis is None else analysis.why)
            else:
                yield form_of(component.path).code(component, analysis)

    def _shared_above(self, path: str) -> list[Component]:
        """The components in the folders above whose directives hold for a file, the outermost first."""
        may_read = self._may_read(path)
        folders = reversed(list(folders_above(path)))
        return [item for folder in folders for item in self._shared.get(folder, ()) if may_read(item.path)]
