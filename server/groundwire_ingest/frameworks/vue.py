"""Components of Vue, Svelte and Astro: their scripts as TypeScript or JavaScript."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from groundwire_ingest.frameworks.framework import ComponentForm, Framework
from groundwire_ingest.tree.as_code.component import (
    Component,
    ComponentCode,
    VirtualText,
    component_code,
    references_of,
    unread_code,
)
from groundwire_ingest.tree.facts import CodeAnalysis, Reference
from groundwire_ingest.tree.model import SourceFile


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
    """The declarations of the scripts, with the components that the elements name."""
    if analysis.facts is None:
        return unread_code(component)
    tags = tuple(_tag_references(component))
    facts = replace(analysis.facts, references=(*analysis.facts.references, *tags))
    return component_code(component, analysis.file.nodes, analysis.file.edges, facts)


def _tag_references(component: Component) -> Iterator[Reference]:
    """The names in the elements of a component: other components, and members of its own in attributes."""
    for tag in component.facts.tags:
        key = component.key_at(tag.line)
        # `CartMenu` of `cart-menu`.
        name = "".join(part[:1].upper() + part[1:] for part in tag.name.split("-"))
        yield Reference(key, 0, name, tag.line, "value")
        yield from references_of(tag.attributes, key, 0)


VUE = Framework(
    languages="typescript javascript", components=ComponentForm(".vue .svelte .astro", script_file, script_code)
)
