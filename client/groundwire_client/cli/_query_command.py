"""`query`: a question, one call, a table."""

import functools
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Annotated

import typer

from groundwire.v1.query_pb2 import FusionMode, HybridParameters
from groundwire.v1.retrieval_pb2 import Retriever
from groundwire_client._helpers import choices
from groundwire_client.cli._call_options import CallOptions
from groundwire_client.cli._choices import in_panel, names_of
from groundwire_client.cli._command_signatures import with_options
from groundwire_client.cli._filter_options import FilterOptions
from groundwire_client.cli._query_rendering import print_query

_tuning, _around, _routing = in_panel("Ranking"), in_panel("What stands around"), in_panel("Routing")
_DEEP = "3 times --top-k, at least 150"


@dataclass(frozen=True, slots=True)
class HybridOptions:
    """The hybrid parameters as typer parses them."""

    top_k: Annotated[
        int | None,
        typer.Option("--top-k", "-k", help="The most matches to return.", show_default="5, or the server's setting"),
    ] = None
    alpha: Annotated[
        float | None,
        _tuning(help="The dense retriever's weight in a weighted fusion.", show_default="0.7, or the server's setting"),
    ] = None
    min_sim: Annotated[
        float | None,
        _tuning(
            help="The least similarity of a dense candidate.",
            show_default="0.15, or the server's setting; none with a filter",
        ),
    ] = None
    vec_limit: Annotated[int | None, _tuning(help="The most dense candidates.", show_default=_DEEP)] = None
    lex_limit: Annotated[
        int | None, _tuning(help="The most candidates of each other retriever.", show_default=_DEEP)
    ] = None
    trgm_limit: Annotated[
        float | None, _tuning(help="The least similarity of a trigram candidate.", show_default="0.3")
    ] = None
    max_candidates: Annotated[int | None, _tuning(help="The most candidates after the fusion.", show_default="all")] = (
        None
    )
    diversify_strength: Annotated[
        float | None,
        _tuning(
            "--diversify",
            help="How much matches that are similar to better ones are lowered.",
            show_default="0, or the server's setting",
        ),
    ] = None


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no time in ISO 8601, such as 2025-01-31T12:00:00Z") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@with_options(HybridOptions, FilterOptions, CallOptions)
def query(
    hybrid: HybridOptions,
    narrowing: FilterOptions,
    options: CallOptions,
    question: Annotated[str, typer.Argument(help="The text to search for: natural language, code, names or paths.")],
    fusion: Annotated[
        str | None,
        _tuning(
            help="How the retrievers' lists become one.",
            show_default="weighted with --alpha, else the server's choice",
            **names_of(FusionMode),
        ),
    ] = None,
    retriever: Annotated[
        list[str] | None,
        _tuning(help="A retriever to ask; repeatable.", show_default="all that the index has", **names_of(Retriever)),
    ] = None,
    process: Annotated[str, _routing(help="The process that asks, for the server's routing.", show_default=False)] = "",
    doc_class: Annotated[
        str, _routing(help="The class of documents of the question, for the server's routing.", show_default=False)
    ] = "",
    workflow_id: Annotated[
        str, _routing(help="The workflow that asks, for the server's routing.", show_default=False)
    ] = "",
    rerank: Annotated[bool, typer.Option("--rerank", help="Let the server rerank the best candidates.")] = False,
    parents: Annotated[bool, _around("--parents/--no-parents", help="Show what contains each match.")] = True,
    neighbors: Annotated[bool, _around("--neighbors", help="Show the chunks before and after each match.")] = False,
    graph: Annotated[bool, _around("--graph", help="Show the services around the matches.")] = False,
    texts: Annotated[bool, typer.Option("--texts", help="Print the texts as well.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show how the answer was made.")] = False,
    history: Annotated[
        bool, _tuning("--history", help="Let older definitions, such as those in migrations, follow the current one.")
    ] = False,
    budget_tokens: Annotated[
        int | None, typer.Option(help="The most tokens of texts in all.", show_default="all that fit into the response")
    ] = None,
    rrf_k: Annotated[int | None, _tuning(help="The constant of a fusion by rank.", show_default="60")] = None,
    half_life: Annotated[
        float | None,
        _tuning(
            help="The age in days at which a conversation's freshness is one half; 0 for no freshness.",
            show_default="90",
        ),
    ] = None,
    freshness: Annotated[
        float | None, _tuning(help="The share of freshness in a conversation's score.", show_default="0.1")
    ] = None,
    now: Annotated[
        datetime | None,
        _tuning(
            parser=_moment,
            metavar="ISO 8601",
            help="The time of the question; UTC unless it has an offset.",
            show_default="the server's clock",
        ),
    ] = None,
) -> None:
    """Answer a question with the texts that match it best."""
    options.answer(
        lambda client, scopes: client.query(
            scopes,
            question,
            hybrid=HybridParameters(**asdict(hybrid)),
            filter=narrowing.filter,
            lifecycle=narrowing.lifecycle,
            process=process,
            doc_class=doc_class,
            workflow_id=workflow_id,
            retrievers=[choices(Retriever)[name] for name in retriever or ()],
            fusion=choices(FusionMode)[fusion] if fusion else FusionMode.FUSION_MODE_UNSPECIFIED,
            rrf_k=rrf_k,
            rerank=rerank,
            history=history,
            freshness_half_life_days=half_life,
            freshness_weight=freshness,
            now=now,
            include_parents=parents,
            include_neighbors=neighbors,
            expand_graph=graph,
            budget_tokens=budget_tokens,
        ),
        functools.partial(print_query, question=question, texts=texts, explain=explain),
        narrowing.filter,
    )
