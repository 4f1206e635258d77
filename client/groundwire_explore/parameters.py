"""The state of a page, which its URL holds: what was asked, where, and how.

A parameter that is empty counts as absent, because forms send every field. Unknown parameters are ignored.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from groundwire_client import (
    EdgeDirection,
    FusionMode,
    IndexScope,
    NodeFilter,
    Retriever,
    Scopes,
    SearchType,
    choices,
    is_pattern,
)
from groundwire_client.cli import BUDGET_TOKENS, scope_named

if TYPE_CHECKING:  # generic to type checkers alone
    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper as EnumTypeWrapper  # pyright: ignore[reportPrivateUsage]

QUERY_MODE = "query"
MODES = (QUERY_MODE, *choices(SearchType))
"""`Query` with all its stages, then the search types of `SearchNodes`."""

_LARGEST_TOP_K = 50
_Value = TypeVar("_Value", bound=int)
_Model = TypeVar("_Model", bound=BaseModel)
_Only = Literal["", "only", "none"]


def _one_of(names: Iterable[str]) -> AfterValidator:
    known = tuple(names)

    def check(name: str) -> str:
        if name.lower() not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return name.lower()

    return AfterValidator(check)


def _named(enum: "EnumTypeWrapper[_Value]") -> AfterValidator:
    return _one_of(choices(enum))


class Place(BaseModel):
    """Which index is read.

    Attributes:
        scope: `repository::branch` for the active version, `repository::branch::version` for that one; empty for the
            first active index that the caller may see.
    """

    model_config = ConfigDict(frozen=True)

    scope: Annotated[str, Field(max_length=1_000)] = ""


class Narrowing(BaseModel):
    """What may be found.

    Attributes:
        path: A prefix of the path.
        language: A language, such as `csharp`.
        tests: Tests alone, or none.
        generated: Generated code alone, or none.
    """

    model_config = ConfigDict(frozen=True)

    path: Annotated[str, Field(max_length=1_024)] = ""
    language: Annotated[str, Field(max_length=1_024)] = ""
    tests: _Only = ""
    generated: _Only = ""

    @property
    def filter(self) -> NodeFilter:
        """The filter of the search."""
        narrowed = NodeFilter(
            path_prefixes=[self.path] if self.path else [], languages=[self.language] if self.language else []
        )
        if self.tests:
            narrowed.is_test = self.tests == "only"
        if self.generated:
            narrowed.is_generated = self.generated == "only"
        return narrowed


class Search(Narrowing):
    """How nodes are searched for.

    Attributes:
        mode: One of `MODES`.
        k: The most matches.
        budget: The most tokens of texts.
        retriever: The retrievers to use; none for all that the index has. Only for the mode `query`, as the next two.
        fusion: How the retrievers' lists become one; empty for the server's choice.
        rerank: True if the server's reranker orders the best candidates.
    """

    mode: Annotated[str, _one_of(MODES)] = QUERY_MODE
    k: Annotated[int, Field(ge=1, le=_LARGEST_TOP_K)] = 10
    budget: Annotated[int, Field(ge=1, le=10_000_000)] = BUDGET_TOKENS
    retriever: tuple[Annotated[str, _named(Retriever)], ...] = ()
    fusion: Annotated[str, _one_of(["", *choices(FusionMode)])] = ""
    rerank: bool = False

    @property
    def is_refined(self) -> bool:
        """True if anything but the mode and the index differs from the defaults, so that a page shows those fields."""
        return self.model_dump(exclude={"mode", "scope"}) != Search().model_dump(exclude={"mode"})


class Gathering(Narrowing):
    """How evidence is gathered.

    Attributes:
        phrasings: The question in other words, a phrasing a line.
        phrase: True if the server's phrasing service writes phrasings.
        budget: The most tokens of the evidence.
    """

    phrasings: Annotated[str, Field(max_length=8_192)] = ""
    phrase: bool = False
    budget: Annotated[int, Field(ge=200, le=100_000)] = BUDGET_TOKENS

    @property
    def phrasing_lines(self) -> tuple[str, ...]:
        """The phrasings."""
        return tuple(line.strip() for line in self.phrasings.splitlines() if line.strip())

    @property
    def is_refined(self) -> bool:
        """True if anything but the phrasings differs from the defaults."""
        return self.model_dump(exclude={"phrasings"}) != Gathering().model_dump(exclude={"phrasings"})


class ExactSearch(Narrowing):
    """How lines are searched for.

    Attributes:
        regex: True if the pattern is a regular expression.
        ignore_case: True if letters match in either case.
        whole_words: True if a match begins and ends with a word.
        lines: The most lines to show.
    """

    regex: bool = False
    ignore_case: bool = False
    whole_words: bool = False
    lines: Annotated[int, Field(ge=1, le=1_000)] = 100

    @property
    def is_refined(self) -> bool:
        """True if anything but how the pattern is read differs from the defaults."""
        always_shown = {"regex", "ignore_case", "whole_words"}
        return self.model_dump(exclude=always_shown) != ExactSearch().model_dump(exclude=always_shown)


class Side(Search):
    """One of two searches.

    Attributes:
        scope: Its index, as in `Place`; empty for that of the page.
    """

    scope: Annotated[str, Field(max_length=1_000)] = ""


class Question(Place):
    """What is asked.

    Attributes:
        q: The query.
        also: Other indexes to ask as well, as in `scope`; a name that ends in `*` is a pattern.
    """

    also: tuple[Annotated[str, Field(max_length=1_000)], ...] = ()
    q: Annotated[str, Field(max_length=100_000)] = ""


class FolderPlace(Place):
    """A folder of an index.

    Attributes:
        folder: Its path with a slash at its end; empty for the whole index.
    """

    folder: Annotated[str, Field(max_length=1_024)] = ""


class Versions(FolderPlace):
    """Two versions of an index; `scope` is the new one.

    Attributes:
        old: The old version, as in `scope`; empty for the one that was built before the new one.
    """

    old: Annotated[str, Field(max_length=1_000)] = ""


class Neighbourhood(Place):
    """A node, and how much of the graph around it is drawn.

    Attributes:
        id: The node's canonical id.
        depth: The most edges to a node.
        direction: The direction in which edges are followed.
        confidence: The least confidence of an edge.
        edge: The edge type to follow; empty for all.
    """

    id: Annotated[str, Field(min_length=1, max_length=2_048)]
    depth: Annotated[int, Field(ge=1, le=4)] = 1
    direction: Annotated[str, _named(EdgeDirection)] = "both"
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.0
    edge: Annotated[str, Field(max_length=256)] = ""

    @property
    def is_refined(self) -> bool:
        """True if anything but the node differs from the defaults."""
        return self != Neighbourhood(scope=self.scope, id=self.id)


def read(model: type[_Model], pairs: Iterable[tuple[str, str]], prefix: str = "") -> _Model:
    """A model from the parameters whose names begin with a prefix.

    Of a repeated parameter the last counts, unless it is a list.

    Raises:
        pydantic.ValidationError: A value breaks the rule of its parameter.
    """
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        if value and name.startswith(prefix):
            given.setdefault(name.removeprefix(prefix), []).append(value)
    return model.model_validate(
        {name: values if name in ("retriever", "also") else values[-1] for name, values in given.items()}
    )


def index_scope(name: str) -> IndexScope:
    """The scope that a value of `Place.scope` names.

    Raises:
        ValueError: It names no repository and branch.
    """
    scope = scope_named(name)
    if scope is None:
        raise ValueError(f"scope: {name!r} must be repository::branch or repository::branch::version: choose an index")
    return scope


def one_or_several(scopes: Sequence[IndexScope]) -> Scopes:
    """The scopes as a call of the client takes them: one alone by itself, several and a pattern as a list."""
    return scopes[0] if len(scopes) == 1 and not is_pattern(scopes[0]) else scopes
