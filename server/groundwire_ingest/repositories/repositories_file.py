"""A repository to index, and a YAML file of several; docs/indexing.md describes it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from groundwire_configuration.yaml_model import StrictModel, read_model
from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope, name_problem
from groundwire_ingest.git_trees import GitOrigin, is_address, is_git_repository
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.repositories.link_templates import AUTO, given_problem, stored_template
from groundwire_ingest.tree.access_rules import AccessRule, AccessRules
from groundwire_ingest.tree.ignore import Exclusions

SUFFIXES = (".yaml", ".yml")
"""Of a file of repositories; no source has one of these names."""

_MAX_CLEARANCE_LEVEL = 2**31 - 1
_EXAMPLE = "docs/indexing.md"


@dataclass(frozen=True, slots=True)
class Repository:
    """A source, the scope of its index, and how it is indexed.

    `embedder` is the name or path of a model, or NO_EMBEDDER. `exclude` and `access` are for source trees only.
    `origin` says where the files of a tree come from, if that is no folder. `link_template` is the first argument of
    `stored_template`. If `git_source` is not empty, the files are those of its commit `ref`, and `path` is not there
    before `with_files` has written them.
    """

    path: Path
    scope: Scope
    embedder: str = DEFAULT_MODEL
    exclude: tuple[str, ...] = ()
    access: tuple[AccessRule, ...] = ()
    skip_dangling_edges: bool = False
    origin: GitOrigin | None = None
    link_template: str = AUTO
    git_source: str = ""
    ref: str = ""

    @property
    def name(self) -> str:
        """Repository and branch, for messages."""
        return f"{self.scope.repository} {self.scope.branch}"

    @property
    def stored_link_template(self) -> str:
        """The template that the index states, "" for none. Raises IngestError."""
        address, commit = ("", "") if self.origin is None else (self.origin.address, self.origin.commit)
        return stored_template(self.link_template, address, commit)


def read_repositories(file: Path) -> tuple[Repository, ...]:
    """The repositories of a file, in its order; relative paths start at the file's folder.

    Raises OSError when it cannot be read, and YamlFileError naming every place, with its line, that is not as
    docs/indexing.md says.
    """
    return tuple(entry.repository_below(file.parent) for entry in read_model(file, _File, _EXAMPLE).repositories)


def _rule(check: Callable[[str], object]) -> Callable[[str], str]:
    """A validator that refuses what `check` refuses or finds a problem with."""

    def checked(value: str) -> str:
        try:
            problem = check(value)
        except IngestError as error:
            problem = str(error)
        if isinstance(problem, str):
            raise ValueError(problem)
        return value

    return checked


_Text = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")]
_Name = Annotated[str, AfterValidator(_rule(name_problem))]
_Excluded = Annotated[str, AfterValidator(_rule(lambda text: Exclusions((text,))))]
_LinkTemplate = Annotated[str, AfterValidator(_rule(given_problem))]
_Protected = Annotated[str, AfterValidator(_rule(lambda text: AccessRules((AccessRule(text, NodeAccess()),))))]


class _Rule(StrictModel):
    path: _Protected
    tenant: _Text = ""
    tags: tuple[_Text, ...] = Field(default=(), strict=False)
    labels: tuple[_Text, ...] = Field(default=(), strict=False)
    clearance_level: Annotated[int, Field(ge=0, le=_MAX_CLEARANCE_LEVEL)] = 0
    allow_no_match: bool = False

    @property
    def demand(self) -> NodeAccess:
        return NodeAccess(self.tenant, self.tags, self.labels, self.clearance_level)

    @model_validator(mode="after")
    def _demands_something(self) -> Self:
        if self.demand == NodeAccess():
            raise ValueError("the rule demands nothing; give tags, labels, clearance_level or tenant, or remove it")
        return self


class _Entry(StrictModel):
    path: _Text
    ref: _Text = ""
    repository: _Name
    branch: _Name
    embedder: _Text = DEFAULT_MODEL
    exclude: tuple[_Excluded, ...] = Field(default=(), strict=False)
    acl: tuple[_Rule, ...] = Field(default=(), strict=False)
    skip_dangling_edges: bool = False
    link_template: _LinkTemplate = AUTO

    def repository_below(self, folder: Path) -> Repository:
        source = self.path if is_address(self.path) else str(folder / self.path)
        return Repository(
            path=Path(source),
            git_source=source if self.ref or is_git_repository(source, self.ref) else "",
            ref=self.ref,
            scope=Scope(self.repository, self.branch),
            embedder=self.embedder,
            exclude=self.exclude,
            access=tuple(AccessRule(rule.path, rule.demand, rule.allow_no_match) for rule in self.acl),
            skip_dangling_edges=self.skip_dangling_edges,
            link_template=self.link_template,
        )


class _File(StrictModel):
    repositories: Annotated[tuple[_Entry, ...], Field(min_length=1, strict=False)]

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        scopes = [(entry.repository, entry.branch) for entry in self.repositories]
        for place, scope in enumerate(scopes):
            if scope in scopes[:place]:
                raise ValueError(f"repository {scope[0]!r} has branch {scope[1]!r} twice; an index has one source")
        return self
