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


def read_components(
    components: Iterable[Component],
    root_namespaces: Mapping[str, str],
    may_read: Callable[[str], Callable[[str], bool]],
    read_code: CodeReading,
) -> Iterator[ComponentCode]:
    """The code of each of a tree's components, by path; those without a line that a node holds have none.

    `root_namespaces` has the root namespace of each folder that holds a .NET project. `may_read` says of a file which
    others its nodes may follow from.
    """
    by_path = sorted(components, key=lambda item: item.path)
    shared: defaultdict[str, list[Component]] = defaultdict(list)
    for component in by_path:
        folder, _, name = component.path.rpartition("/")
        if name in form_of(component.path).shared:
            shared[folder].append(component)

    def file_of(component: Component) -> SourceFile | None:
        may_follow = may_read(component.path)
        folders = reversed(list(folders_above(component.path)))
        above = [item for folder in folders for item in shared.get(folder, ()) if may_follow(item.path)]
        return form_of(component.path).file(component, above, root_namespaces)

    held = [item for item in by_path if any(item.keys)]
    files = [file_of(item) for item in held]
    analyses = read_code(file for file in files if file is not None)
    for component, file in zip(held, files, strict=True):
        analysis = next(analyses) if file is not None else None
        if analysis is None or isinstance(analysis, GivenUp):
            yield unread_code(component, "" if analysis is None else analysis.why)
        else:
            yield form_of(component.path).code(component, analysis)
