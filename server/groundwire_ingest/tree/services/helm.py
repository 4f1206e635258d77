"""Helm templates: what can be read of a manifest before its directives are carried out."""

import re
from dataclasses import replace

from groundwire_ingest.tree.services.addresses import HOLE
from groundwire_ingest.tree.services.manifests import manifest_statements
from groundwire_ingest.tree.services.statements import KubernetesService, Statement
from groundwire_ingest.tree.services.yaml_values import YamlValue, yaml_values
from groundwire_ingest.tree.yaml_tree import YamlError, yaml_documents

_DIRECTIVE = re.compile(r"\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*\}\}")
_HOLES_ALONE = re.compile(rf"^[ \t\r]*(?:{HOLE}[ \t\r]*)+$", re.MULTILINE)


def template_statements(text: str, symbol: str) -> tuple[Statement, ...]:
    """What one document of a template states plainly.

    Lines of nothing but directives are left out, and no name or value that holds a directive counts. `symbol` is
    `Kind/name` as far as they can be read line by line: all there is when the rest is no YAML. A selector may lack
    the labels that a directive brings, so it links nothing.
    """
    kind, _, name = symbol.partition("/")
    return tuple(
        replace(statement, selector=frozenset()) if isinstance(statement, KubernetesService) else statement
        for statement in manifest_statements(_readable(text) or {"kind": kind, "metadata": {"name": name}})
    )


def _readable(text: str) -> YamlValue:
    """The document with a HOLE for each directive; "" when that is no YAML."""
    without_directives = _DIRECTIVE.sub(lambda match: HOLE + "\n" * match[0].count("\n"), text)
    try:
        documents = yaml_documents(_HOLES_ALONE.sub("", without_directives))
        return yaml_values(documents[:1])[0] if documents else ""
    except YamlError:
        return ""
