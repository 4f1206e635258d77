"""A repository to index: what one entry of a file of repositories says, or the command line."""

from dataclasses import dataclass
from pathlib import Path

from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_index.scope import Scope
from groundwire_ingest.tree.access_rules import AccessRule


@dataclass(frozen=True, slots=True)
class Repository:
    """A source, the scope of its index, and how it is indexed.

    `embedder` is the name or path of a model, or NO_EMBEDDER. `exclude` and `access` are for source trees only.
    """

    path: Path
    scope: Scope
    embedder: str = DEFAULT_MODEL
    exclude: tuple[str, ...] = ()
    access: tuple[AccessRule, ...] = ()
    skip_dangling_edges: bool = False

    @property
    def name(self) -> str:
        """Repository and branch, for messages."""
        return f"{self.scope.repository} {self.scope.branch}"
