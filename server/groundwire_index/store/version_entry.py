"""An index version as its operator lists it. Needs no library, as what lists the versions of a server has none."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """One version. `damage` says what is wrong with it, "" when nothing is; then the other facts are known."""

    repository: str
    branch: str
    version: str
    active: bool
    node_count: int = 0
    edge_count: int = 0
    embedder: str = ""
    dimension: int = 0
    lexical: bool = False
    created: str = ""
    source: str = ""
    damage: str = ""
