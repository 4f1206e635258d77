"""Components of Vue, Svelte and Astro: their scripts as TypeScript or JavaScript."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from groundwire_ingest.frameworks.framework import ComponentForm, Framework
from groundwire_ingest.tree.code_facts import CodeAnalysis, Reference
from groundwire_ingest.tree.code_of_other_files.component import (
    Component,
    ComponentCode,
    VirtualText,
    component_code,
    tag_references,
    unread_code,
)
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.markup.expressions import names_in
from groundwire_ingest.tree.files.markup.templates import read_component


def script_file(
    component: Component, _shared: Sequence[Component], _root_namespaces: Mapping[str, str]
) -> SourceFile | None:
    """A module of all scripts of the component; None if it has none."""
    scripts = [part for part in component.facts.code if part.kind == "script"]
    text = VirtualText()
    for part in scripts:
        text.put(part.line, part.text)
    language = "typescript" if any(part.language == "typescript" for part in scripts) else "javascript"
    return SourceFile(component.path, text.text, language) if scripts else None


def script_code(component: Component, analysis: CodeAnalysis) -> ComponentCode:
    """The declarations of the scripts, with the components and the values that the markup names."""
    if analysis.facts is None:
        return unread_code(component)
    tags = tag_references(component, 0, "value", _component_name)
    facts = replace(analysis.facts, references=(*analysis.facts.references, *tags, *_markup_references(component)))
    return component_code(component, analysis.file.nodes, analysis.file.edges, facts)


def _markup_references(component: Component) -> Iterator[Reference]:
    """What the expressions in the markup name: handlers of events, bound values, functions that they call."""
    for part in component.facts.expressions:
        for name in names_in(part.text):
            yield Reference(component.key_at(part.line), 0, name, part.line, "value")


def _component_name(tag: str) -> str:
    """`CartMenu` of `cart-menu`."""
    return "".join(part[:1].upper() + part[1:] for part in tag.split("-"))


VUE = Framework(
    languages="typescript javascript",
    components=ComponentForm("vue svelte astro", ".vue .svelte .astro", read_component, script_file, script_code),
)
