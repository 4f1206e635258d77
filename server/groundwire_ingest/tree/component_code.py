"""The pass over the code in files of markup, once all files that it imports are known."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from groundwire_ingest.frameworks.registry import form_of
from groundwire_ingest.tree.code_of_other_files.component import Component, ComponentCode, unread_code
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.file_facts import FileFacts
from groundwire_ingest.tree.folders import folder_of, folders_above
from groundwire_ingest.tree.languages.csharp.projects import DotnetProject
from groundwire_ingest.tree.single_file import read_code
from groundwire_ingest.workers import GivenUp, Workers


def read_components(
    files: Sequence[FileFacts], may_read: Callable[[str], Callable[[str], bool]], workers: Workers
) -> Iterator[ComponentCode]:
    """The code of each of a tree's components, by path; those without a line that a node holds have none.

    `may_read` says of a file which others its nodes may follow from.
    """
    projects = ((file.path, file.module_file) for file in files)
    root_namespaces = {
        folder_of(path): project.root_namespace for path, project in projects if isinstance(project, DotnetProject)
    }
    components = (file.component for file in files if file.component is not None)
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
    texts = [file_of(item) for item in held]
    analyses = workers.map(read_code, (text for text in texts if text is not None), _length)
    for component, text in zip(held, texts, strict=True):
        analysis = next(analyses) if text is not None else None
        if analysis is None or isinstance(analysis, GivenUp):
            yield unread_code(component, "" if analysis is None else analysis.why)
        else:
            yield form_of(component.path).code(component, analysis)


def _length(file: SourceFile) -> int:
    return len(file.text)
