"""What templates of Angular name: the components, directives and pipes of the tree, and members of their component."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from groundwire_index.repository_edges.nearest import nearest
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.code_facts import CodeFacts, Reference
from groundwire_ingest.tree.file_facts import FileFacts
from groundwire_ingest.tree.files.facts_about_code import TemplateNames

SELECTED_CONFIDENCE = 0.9
"""The class is the only one with the selector, or the nearest one."""
ONE_OF_SEVERAL_CONFIDENCE = 0.5
MAX_ALIKE = 3
"""A selector of more classes than this, all equally near, leads to none of them in particular."""


@dataclass(frozen=True, slots=True)
class _Template:
    """A file with a template: the node at each of its lines, and the names in it."""

    path: str
    keys: Sequence[str]
    names: TemplateNames

    def key_at(self, line: int) -> str:
        """The node of a line, else the first one."""
        return self.keys[line - 1] or next(filter(None, self.keys), "")


def _templates(files: Iterable[FileFacts]) -> Iterator[_Template]:
    for file in files:
        if isinstance(file.of_format, TemplateNames):
            yield _Template(file.path, file.keys, file.of_format)


def with_members_named(files: Sequence[FileFacts], code: Sequence[CodeFacts]) -> Iterator[CodeFacts]:
    """The facts of code with what the templates of its components name of these."""
    templates = {template.path: template for template in _templates(files)}
    for facts in code:
        views = [view for view in facts.template_views if view.template in templates]
        references = [
            Reference(templates[view.template].key_at(line), view.scope, f"this.{name}", line, "value")
            for view in views
            for name, line in templates[view.template].names.members
        ]
        yield replace(facts, references=(*facts.references, *references)) if references else facts


def selector_edges(files: Sequence[FileFacts], code: Sequence[CodeFacts]) -> Iterator[SourceEdge]:
    """References edges from templates, in files of their own or in code, to the classes whose selectors they use."""
    classes: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    with_views = [facts for facts in code if facts.template_views]
    for facts in with_views:
        for view in facts.template_views:
            for selector in view.selectors:
                classes[selector].append((facts.path, facts.definitions[view.scope].key))
    chosen = {selector: sorted(set(listed)) for selector, listed in classes.items()}
    for template in _templates(files) if chosen else ():
        for selector, line in template.names.selectors:
            yield from _edges(chosen, template.path, template.key_at(line), selector, line)
    for facts in with_views:
        for view in facts.template_views:
            for selector, line in view.used_selectors:
                yield from _edges(chosen, facts.path, facts.definitions[view.scope].key, selector, line)


def _edges(
    classes: Mapping[str, Sequence[tuple[str, str]]], path: str, from_key: str, selector: str, line: int
) -> Iterator[SourceEdge]:
    meant = nearest(path, classes[selector], itemgetter(0)) if selector in classes else ()
    confidence = SELECTED_CONFIDENCE if len(meant) == 1 else ONE_OF_SEVERAL_CONFIDENCE
    for _, key in meant if len(meant) <= MAX_ALIKE else ():
        yield SourceEdge(from_key, key, "References", f"{path}:{line}", confidence, line)
