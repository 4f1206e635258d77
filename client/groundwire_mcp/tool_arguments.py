"""The arguments of the tools, as models are shown them. None names access: what is not listed here is refused."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from groundwire_client.cli import BUDGET_TOKENS

ASK_BUDGET_TOKENS = 1_500
"""What `ask` returns unless told: with more, agents read three times as much for a twelfth more places."""
MAX_BUDGET_TOKENS = 20_000
"""The largest budget of a call: agents cut longer results off, or refuse them."""
MAX_QUERY_CHARS = 8_192
MAX_PHRASINGS = 8
MAX_ID_CHARS = 2_048
ALL = "all"
"""All repositories that the caller sees."""


def _lower_case(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


_IN_ANY_CASE = BeforeValidator(_lower_case)
"""For values of an enum: models write them in capitals too."""
_Node: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)]
_Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
_Nodes: TypeAlias = Annotated[list[_Node], Field(min_length=1, max_length=20)]
_Repositories: TypeAlias = Annotated[
    str,
    Field(
        max_length=402,
        description="`REPOSITORY::BRANCH` of list_repositories, or `all`. Leave it out where there is only one.",
    ),
]
_Query: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)]
_Phrasings: TypeAlias = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=2_000)]], Field(max_length=MAX_PHRASINGS)
]
_PathPrefixes: TypeAlias = Annotated[
    list[_Name], Field(max_length=20, description="Only files whose path begins with one of these, such as `src/api/`.")
]
_Languages: TypeAlias = Annotated[
    list[_Name], Field(max_length=20, description="Only these languages: lower-case, such as `python`, `csharp`.")
]
_Tests: TypeAlias = Annotated[
    Literal["include", "exclude", "only"],
    _IN_ANY_CASE,
    Field(description="Whether to include tests, which are code that tests other code."),
]
_Direction: TypeAlias = Annotated[
    Literal["outgoing", "incoming", "both"],
    _IN_ANY_CASE,
    Field(
        description="`outgoing`: what the nodes depend on, such as callees and base types. `incoming`: what depends on "
        "them, such as callers."
    ),
]
_EdgeTypes: TypeAlias = Annotated[
    list[_Name],
    Field(
        max_length=64,
        description="Follow these types of edges only, such as `Calls`, `Inherits`, as results name them. Empty: all.",
    ),
]
_MinConfidence: TypeAlias = Annotated[
    float, Field(ge=0, le=1, description="Follow no edge that is less certain; 1: only what the source states.")
]
_BudgetTokens: TypeAlias = Annotated[
    int, Field(ge=1, le=MAX_BUDGET_TOKENS, description="The most tokens of all texts together (o200k_base).")
]


class Arguments(BaseModel):
    """Arguments of a tool; any other name is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ListRepositories(Arguments):
    """None."""


class SearchCode(Arguments):
    """Arguments of `search_code`."""

    query: Annotated[_Query, Field(description="Words, identifiers, a path, or a question.")]
    phrasings: Annotated[_Phrasings, Field(description="As for ask.")] = []
    repository: _Repositories = ""
    search_type: Annotated[
        Literal["auto", "hybrid", "bm25", "semantic"],
        _IN_ANY_CASE,
        Field(
            description="`auto`: `hybrid`, or what the index has data for. `hybrid`: by meaning and by words. `bm25`: "
            "by words and identifiers alone. `semantic`: by meaning alone."
        ),
    ] = "auto"
    top_k: Annotated[int, Field(ge=1, le=50, description="The most hits.")] = 10
    path_prefixes: _PathPrefixes = []
    languages: _Languages = []
    tests: _Tests = "include"


class GrepCode(Arguments):
    """Arguments of `grep_code`."""

    pattern: Annotated[str, Field(min_length=1, max_length=1_000, description="What to look for in each line.")]
    repository: _Repositories = ""
    regex: Annotated[bool, Field(description="The pattern is a regular expression.")] = False
    ignore_case: Annotated[bool, Field(description="Letters match in either case.")] = False
    path_prefixes: _PathPrefixes = []
    languages: _Languages = []
    tests: _Tests = "include"
    max_matches: Annotated[int, Field(ge=1, le=200, description="The most lines.")] = 50
    context_lines: Annotated[int, Field(ge=0, le=5, description="Lines before and after each match.")] = 0


class Ask(Arguments):
    """Arguments of `ask`."""

    query: Annotated[_Query, Field(description="The question, in words or with identifiers; one topic a call.")]
    phrasings: Annotated[
        _Phrasings,
        Field(
            description="The question in the words of code: a line of technical terms, a line of likely identifiers."
        ),
    ] = []
    shown: Annotated[
        list[_Node], Field(max_length=200, description="Places that you have read: they are named, not shown again.")
    ] = []
    repository: _Repositories = ""
    budget_tokens: Annotated[
        int, Field(ge=200, le=MAX_BUDGET_TOKENS, description="The most tokens of the answer (o200k_base).")
    ] = ASK_BUDGET_TOKENS
    path_prefixes: _PathPrefixes = []
    languages: _Languages = []
    tests: _Tests = "include"


class ReadCode(Arguments):
    """Arguments of `read_code`."""

    nodes: Annotated[
        _Nodes,
        Field(
            description="Places (`src/a.cs:3-9`, `src/a.cs:5`), symbols (`TodoItem.Done`) or ids; most important first."
        ),
    ]
    repository: _Repositories = ""
    budget_tokens: _BudgetTokens = BUDGET_TOKENS


class ExpandGraph(Arguments):
    """Arguments of `expand_graph`."""

    nodes: Annotated[_Nodes, Field(description="Where to start: places, symbols or ids, as for read_code.")]
    repository: _Repositories = ""
    direction: _Direction = "both"
    max_depth: Annotated[int, Field(ge=1, le=6, description="The most edges between a start and a node.")] = 1
    max_nodes: Annotated[int, Field(ge=1, le=200, description="The most nodes, starts included.")] = 30
    edge_types: _EdgeTypes = []
    min_confidence: _MinConfidence = 0.0


class FindPaths(Arguments):
    """Arguments of `find_paths`."""

    from_nodes: Annotated[
        list[_Node], Field(max_length=20, description="Where paths begin: places, symbols or ids, as for read_code.")
    ] = []
    to_nodes: Annotated[list[_Node], Field(max_length=20, description="Where paths end, likewise.")] = []
    from_query: Annotated[
        str, Field(max_length=MAX_QUERY_CHARS, description="Words to search for, if the start has no known name.")
    ] = ""
    to_query: Annotated[str, Field(max_length=MAX_QUERY_CHARS, description="The same for the end.")] = ""
    repository: _Repositories = ""
    direction: _Direction = "outgoing"
    max_hops: Annotated[int, Field(ge=1, le=12, description="The most edges of a path.")] = 6
    max_paths: Annotated[int, Field(ge=1, le=20, description="The most paths, shortest first.")] = 3
    edge_types: _EdgeTypes = []
    min_confidence: _MinConfidence = 0.0
