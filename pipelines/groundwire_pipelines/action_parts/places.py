"""How places of nodes are written in one line, so that no name can imitate another line."""

from groundwire.evidence.layout import in_one_line
from groundwire_client import ServiceContext
from groundwire_pipelines.evidence_nodes import EvidenceNode

_LONGEST_PATH = 240


def place(path: str, first: int, last: int) -> str:
    """Path and lines, such as `src/a.py:3-9`, as far as they are known."""
    shown = in_one_line(path, _LONGEST_PATH)
    return f"{shown}:{first}{f'-{last}' if last > first else ''}" if shown and first else shown


def where(node: EvidenceNode) -> str:
    """A node's path and lines, after its scope if several were asked; empty without a path."""
    scope, known = in_one_line(node.scope, _LONGEST_PATH), place(node.path, node.start_line, node.end_line)
    return f"{scope} {known}".lstrip() if known else ""


def full_place(node: EvidenceNode) -> str:
    """A node's path, lines and symbol, in one line; else its id."""
    known = where(node)
    return " ".join(filter(None, (line_start(known), in_one_line(node.symbol)))) if known else line_start(node.id)


def line_start(name: str) -> str:
    """A path, id or symbol at the start of a line: quoted if it looks like a row of evidence."""
    line = in_one_line(name, _LONGEST_PATH)
    return f'"{line}"' if line.startswith(("[", "`", "~", "-", "…")) else line


def service_line(service: ServiceContext) -> str:
    """A service, with the services that it calls after ` → ` and those that call it after ` ← `."""
    calls, callers = (", ".join(map(in_one_line, names)) for names in (service.calls, service.called_by))
    arrows = f"{f' → {calls}' if calls else ''}{f' ← {callers}' if callers else ''}"
    return f"service {in_one_line(service.service_name)}{arrows}"
