"""`search`, `expand`, `paths` and `fetch`: parse, one call, print."""

import functools
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from groundwire.v1.retrieval_pb2 import EdgeDirection, FindPathsResponse, PrioritizationMode, Rerank, SearchType
from groundwire_client import _defaults as defaults
from groundwire_client._client import GroundwireClient
from groundwire_client._helpers import Scopes, choices
from groundwire_client._resolution import Resolution, ids_of, read_at, searched
from groundwire_client.cli._call_options import CallOptions
from groundwire_client.cli._choices import names_of
from groundwire_client.cli._command_signatures import with_options
from groundwire_client.cli._filter_options import FilterOptions
from groundwire_client.cli._rendering import print_expansion, print_paths, print_search

_Nodes = Annotated[
    list[str],
    typer.Argument(
        help="Symbols (TodoItem.Done), places (src/a.cs:42) or ids of nodes; - reads them from standard input, one a "
        "line."
    ),
]
_EdgeTypes = Annotated[
    list[str] | None,
    typer.Option(help="An edge type to follow; repeatable.", show_default=" ".join(defaults.EDGE_TYPES)),
]
_Direction = Annotated[str, typer.Option(help="Which way to follow edges.", **names_of(EdgeDirection))]
_MinConfidence = Annotated[float, typer.Option(help="The least confidence, 0 to 1, of an edge to follow.")]


@with_options(FilterOptions, CallOptions)
def search(
    narrowing: FilterOptions,
    options: CallOptions,
    query: Annotated[str, typer.Argument(help="The text to search for: natural language, code or identifiers.")],
    search_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            help="How to search.",
            show_default="hybrid, or bm25 where the index has no vectors",
            **names_of(SearchType),
        ),
    ] = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", help="The most hits to return.")] = defaults.TOP_K,
    rerank: Annotated[str, typer.Option(help="Reorders a semantic search.", **names_of(Rerank))] = "none",
    rrf_k: Annotated[
        int | None, typer.Option(help="The constant of reciprocal rank fusion.", show_default="60")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show where each hit came from.")] = False,
) -> None:
    """Find the nodes that match a query best."""
    options.answer(
        lambda client, scopes: client.search(
            scopes,
            query,
            search_type=choices(SearchType)[search_type] if search_type else SearchType.SEARCH_TYPE_UNSPECIFIED,
            top_k=top_k,
            filter=narrowing.filter,
            lifecycle=narrowing.lifecycle,
            rrf_k=rrf_k,
            rerank=choices(Rerank)[rerank],
            explain=explain,
        ),
        print_search,
        narrowing.filter,
    )


@with_options(FilterOptions, CallOptions)
def expand(
    narrowing: FilterOptions,
    options: CallOptions,
    nodes: _Nodes,
    depth: Annotated[int, typer.Option(help="The most edges between a seed and a node.")] = defaults.MAX_DEPTH,
    max_nodes: Annotated[int, typer.Option(help="The most nodes to return, seeds included.")] = defaults.MAX_NODES,
    edge_type: _EdgeTypes = None,
    direction: _Direction = "outgoing",
    min_confidence: _MinConfidence = 0.0,
) -> None:
    """Walk the dependency graph from nodes."""
    options.answer(
        lambda client, scopes: client.expand(
            scopes,
            list(_names(nodes)),
            max_depth=depth,
            max_nodes=max_nodes,
            edge_allowlist=edge_type or defaults.EDGE_TYPES,
            direction=choices(EdgeDirection)[direction],
            filter=narrowing.filter,
            lifecycle=narrowing.lifecycle,
            min_confidence=min_confidence,
        ),
        functools.partial(print_expansion, direction=direction),
        narrowing.filter,
        edge_type or (),
    )


@with_options(FilterOptions, CallOptions)
def paths(
    narrowing: FilterOptions,
    options: CallOptions,
    starts: Annotated[
        list[str] | None, typer.Option("--from", help="Where paths begin: a symbol, a place or an id; repeatable.")
    ] = None,
    ends: Annotated[list[str] | None, typer.Option("--to", help="Where paths end, likewise; repeatable.")] = None,
    start_words: Annotated[
        list[str] | None,
        typer.Option("--from-search", help="Paths begin at what a search of these words finds best; repeatable."),
    ] = None,
    end_words: Annotated[
        list[str] | None, typer.Option("--to-search", help="Paths end there, likewise; repeatable.")
    ] = None,
    max_hops: Annotated[int, typer.Option(help="The most edges on a path.")] = defaults.MAX_HOPS,
    max_paths: Annotated[int, typer.Option(help="The most paths to print.")] = defaults.MAX_PATHS,
    max_nodes: Annotated[
        int, typer.Option(help="The most nodes to reach between the ends.")
    ] = defaults.MAX_NODES_BETWEEN,
    edge_type: _EdgeTypes = None,
    direction: _Direction = "outgoing",
    min_confidence: _MinConfidence = 0.0,
) -> None:
    """Find the shortest paths of the dependency graph between nodes."""
    resolved: dict[str, list[Resolution]] = {}

    def call(client: GroundwireClient, scopes: Scopes) -> FindPathsResponse:
        scope = scopes
        given = (("--from", starts, start_words), ("--to", ends, end_words))
        for option, names, words in given:
            if not names and not words:
                raise typer.BadParameter("give it, or words to search for", param_hint=f"{option} / {option}-search")
        for option, names, words in given:
            resolved[option] = client.resolve(
                scope, names or (), filter=narrowing.filter, lifecycle=narrowing.lifecycle
            )
            scope = read_at(scope, resolved[option])
            for text in words or ():
                hits = client.search(
                    scope, text, top_k=defaults.END_TOP_K, filter=narrowing.filter, lifecycle=narrowing.lifecycle
                )
                resolved[option].append(searched(text, hits))
                scope = read_at(scope, resolved[option])
        return client.find_paths(
            scope,
            ids_of(resolved["--from"]),
            ids_of(resolved["--to"]),
            max_hops=max_hops,
            max_paths=max_paths,
            max_nodes=max_nodes,
            edge_allowlist=edge_type or defaults.EDGE_TYPES,
            direction=choices(EdgeDirection)[direction],
            filter=narrowing.filter,
            lifecycle=narrowing.lifecycle,
            min_confidence=min_confidence,
        )

    show = functools.partial(print_paths, direction=direction, resolved=resolved)
    options.answer(call, show, narrowing.filter, edge_type or ())


@with_options(FilterOptions, CallOptions)
def fetch(
    narrowing: FilterOptions,
    options: CallOptions,
    nodes: _Nodes,
    budget_tokens: Annotated[
        int | None,
        typer.Option(help="The most tokens in all.", show_default=f"{defaults.BUDGET_TOKENS} without --max-chars"),
    ] = None,
    max_chars: Annotated[int | None, typer.Option(help="The most characters in all, instead of tokens.")] = None,
    mode: Annotated[
        str, typer.Option(help="The order in which texts are packed into the budget.", **names_of(PrioritizationMode))
    ] = "balanced",
) -> None:
    """Print the source texts of nodes, or the lines of files (src/a.cs:10-40), as many as fit the budget."""
    if not options.is_for_programs:
        options.read(
            lambda client, scopes: client.read(
                scopes,
                list(_names(nodes)),
                budget_tokens=budget_tokens,
                max_chars=max_chars,
                filter=narrowing.filter,
                lifecycle=narrowing.lifecycle,
            ),
            narrowing.filter,
        )
        return
    options.answer_programs(
        lambda client, scopes: client.fetch(
            scopes,
            list(_names(nodes)),
            budget_tokens=budget_tokens,
            max_chars=max_chars,
            prioritization_mode=choices(PrioritizationMode)[mode],
            filter=narrowing.filter,
            lifecycle=narrowing.lifecycle,
        ),
        narrowing.filter,
    )


def _names(given: Iterable[str]) -> Iterator[str]:
    for name in given:
        if name == "-":
            yield from (line.rstrip("\r\n") for line in sys.stdin if line.strip())
        else:
            yield name
