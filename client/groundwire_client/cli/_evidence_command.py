"""`evidence`: a question, its phrasings, one call, and the text for a prompt."""

import functools
import sys
from typing import Annotated

import typer

from groundwire.printable_text import printable
from groundwire.v1.evidence_pb2 import GatherEvidenceResponse
from groundwire.v1.retrieval_pb2 import Retriever
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client import _defaults as defaults
from groundwire_client._helpers import choices
from groundwire_client.cli._call_options import CallOptions
from groundwire_client.cli._choices import names_of
from groundwire_client.cli._command_signatures import with_options
from groundwire_client.cli._filter_options import FilterOptions


@with_options(FilterOptions, CallOptions)
def evidence(
    narrowing: FilterOptions,
    options: CallOptions,
    question: Annotated[str, typer.Argument(help="The question, as people ask it or in the words of code.")],
    phrasing: Annotated[
        list[str] | None,
        typer.Option(
            "--phrasing",
            "-p",
            help="The same question in technical terms, or names that the code is likely to use; repeatable.",
            show_default=False,
        ),
    ] = None,
    phrase: Annotated[
        bool, typer.Option("--phrase", help="Let the server's phrasing service write phrasings; it gets the question.")
    ] = False,
    budget_tokens: Annotated[int, typer.Option(help="The most tokens of what is printed.")] = defaults.BUDGET_TOKENS,
    shown: Annotated[
        list[str] | None,
        typer.Option(help="The id of a node that was shown before; repeatable, in the order of the numbers."),
    ] = None,
    graph_share: Annotated[
        float | None,
        typer.Option(
            help="The share of the budget for what edges join to the best matches.", show_default="the server's"
        ),
    ] = None,
    retriever: Annotated[
        list[str] | None,
        typer.Option(
            help="A retriever to ask; repeatable.", show_default="all that the index has", **names_of(Retriever)
        ),
    ] = None,
    rerank: Annotated[bool, typer.Option("--rerank", help="Let the server rerank the best matches.")] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Show older definitions too, such as those in migration scripts.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say below why each passage is there.")] = False,
) -> None:
    """Answer a question with passages that fit a prompt: what matches it best, and what that leads to."""
    options.answer(
        lambda client, scopes: (
            client.evidence(
                scopes,
                question,
                budget_tokens,
                phrasings=phrasing or (),
                phrase=phrase,
                shown_ids=shown or (),
                graph_share=graph_share,
                retrievers=[choices(Retriever)[name] for name in retriever or ()],
                rerank=rerank,
                history=history,
                explain=explain,
                filter=narrowing.filter,
                lifecycle=narrowing.lifecycle,
            ).response
        ),
        functools.partial(print_evidence, phrase=phrase, explain=explain),
        narrowing.filter,
    )


def print_evidence(_: IndexScope, response: GatherEvidenceResponse, *, phrase: bool, explain: bool) -> None:
    """The text for a prompt, as it is but for signs that control a terminal, and why each passage is there.

    With `phrase` the phrasings come first, each on a line that begins with "asked as: ". Of weak evidence the words of
    the index near the question come last, to ask again with.
    """
    lines = [f"asked as: {phrasing}" for phrasing in response.phrasings] if phrase else []
    lines += response.rendered.splitlines() or ["nothing matches"]
    if response.weak.near_words:
        lines += ["", f"Words of the index near the question: {', '.join(response.weak.near_words)}"]
    if explain:
        lines += [
            "",
            *(f"[{passage.number}] {passage.citation}: {passage.explanation}" for passage in response.passages),
        ]
        lines.append(f"{response.used_tokens:,} tokens")
    for line in lines:
        sys.stdout.write(f"{printable(line)}\n")
