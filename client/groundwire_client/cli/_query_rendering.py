"""The answer to a query for people: a list of matches, or a table with a bar for the score of each stage."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC

from google.protobuf.message import Message
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from groundwire.evidence.best_line import best_line_of, cut_in_view
from groundwire.printable_text import printable
from groundwire.v1.query_pb2 import (
    FusionMode,
    QueryClass,
    QueryMatch,
    QueryResponse,
    RetrieveMeta,
    Routing,
    ServiceContext,
)
from groundwire.v1.retrieval_pb2 import Retriever, SkipReason
from groundwire.v1.scope_pb2 import IndexScope, Lifecycle
from groundwire_client._helpers import choice, ids
from groundwire_client._why_first import why_first
from groundwire_client.cli._parts import (
    footer,
    heading,
    indexes,
    line_width,
    origin,
    place,
    scope_label,
    show,
    text_block,
)
from groundwire_client.cli._shown_names import ShownNames, shown_names

_STAGES = {
    "dense": "dense",
    "code": "bm25_code",
    "prose": "bm25_prose",
    "trigram": "trigram",
    "fused": "fused",
    "file": "file",
    "graph": "graph",
    "rerank": "rerank",
    "final": "final",
}
"""The columns of the table, and the field of the scores that each shows."""
_BAR_WIDTH = 6
_INDENT = "  "
_PARTS_OF_A_BLOCK = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def print_query(scope: IndexScope, result: QueryResponse, *, question: str, texts: bool, explain: bool) -> None:
    """The matches and the services that came with them; with `texts` the sources, with `explain` scores and how."""
    ranks = {match.id: match.rank for match in result.matches}
    names = _names(result.matches)
    parts: list[RenderableType]
    if explain:
        parts = [_matches_table(result.matches, ranks, names)]
        if why := why_first(result.matches):
            parts.append(Text(why))
    else:
        parts = [_match(match, ranks, names, question) for match in result.matches]
    if texts:
        parts += [_text(scope, match, ranks) for match in result.matches]
    if result.service_context:
        parts.append(_services_table(result.service_context))
    if explain:
        parts.append(explanation(result.meta))
    match_count = len(ids(result))
    neighbors = len(result.matches) - match_count
    counts = f"matches: {match_count}" + (f"; neighbours: {neighbors}" if neighbors else "")
    remarks = {"approximate": not result.meta.exact, "truncated": result.meta.truncated}
    parts.append(footer(counts, indexes(result), "; ".join(remark for remark, holds in remarks.items() if holds)))
    show(parts)


def _names(matches: Iterable[QueryMatch]) -> ShownNames:
    """The names of matches and of what contains them, which the path of the match shortens in the same way."""
    nodes = [(match.location.path, match.symbol) for match in matches]
    return shown_names(
        [*nodes, *((match.location.path, parent.symbol) for match in matches for parent in match.meta.parents)]
    )


def _match(match: QueryMatch, ranks: Mapping[str, int], names: ShownNames, question: str) -> RenderableType:
    """Rank and name, the place, and the line that matches best."""
    facts = (fact for fact, _ in _belongings(match, ranks, names))
    title = heading(str(match.rank or "·"), _name(match, names), _place(match), facts)
    lines = match.text.splitlines() or [""]
    line = printable(lines[best_line_of(lines, question)].strip()).expandtabs(4)
    shown = cut_in_view(line, question, line_width() - len(_INDENT))
    return Group(title, Text(f"{_INDENT}{shown}", style="dim", no_wrap=True, overflow="ellipsis")) if line else title


def _matches_table(matches: Sequence[QueryMatch], ranks: Mapping[str, int], names: ShownNames) -> Table:
    """A column for each stage that scored a match, its bars scaled to the best score there."""
    columns = {name: [_score(match, field) for match in matches] for name, field in _STAGES.items()}
    scored = {name: scores for name, scores in columns.items() if any(score is not None for score in scores)}
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("#")
    table.add_column("match", overflow="fold")
    for name in scored:
        table.add_column(name, no_wrap=True, min_width=_BAR_WIDTH)
    for row, match in enumerate(matches):
        cells = (_score_cell(scores[row], scores) for scores in scored.values())
        table.add_row(str(match.rank or "·"), _description(match, ranks, names), *cells)
    return table


def _score(match: QueryMatch, field: str) -> float | None:
    """The score of a stage; None where it did not score the match."""
    scored = {stage.name for stage, _ in match.scores.ListFields()}
    plain = match.HasField("scores") and not match.scores.DESCRIPTOR.fields_by_name[field].has_presence
    score: float | None = getattr(match.scores, field) if plain or field in scored else None
    return score


def _score_cell(score: float | None, column: Iterable[float | None]) -> Text:
    """A bar above the number, as side by side seven of them would not fit a terminal."""
    if score is None:
        return Text()
    best = max(other for other in column if other is not None)
    return Text.assemble((_bar(score, best), "green"), f"\n{score:.3g}")


def _bar(score: float, best: float) -> str:
    """The score as a part of the best one; empty unless it is above 0."""
    eighths = round(max(score, 0.0) / best * _BAR_WIDTH * 8) if best > 0 else 0
    return "█" * (eighths // 8) + _PARTS_OF_A_BLOCK[eighths % 8]


def _description(match: QueryMatch, ranks: Mapping[str, int], names: ShownNames) -> Text:
    """The place of the match, its name, and the groups that it belongs to: a line each."""
    lines = [(_place(match), "bold"), (_name(match, names), ""), *_belongings(match, ranks, names)]
    lines += [(line, "dim") for line in _adjustments(match)]
    return Text("\n", overflow="fold").join(Text(printable(line), style=style) for line, style in lines if line)


def _name(match: QueryMatch, names: ShownNames) -> str:
    return names.of(match.location.path, match.symbol) or match.section_path


def _place(match: QueryMatch) -> str:
    """Channel, author and time of what was said; path and lines of anything else."""
    if not match.channel:
        return place(match.location, match.source_uri or match.id)
    time = f"{match.timestamp.ToDatetime(UTC):%Y-%m-%d %H:%M}" if match.HasField("timestamp") else ""
    return " · ".join(filter(None, (f"#{match.channel.removeprefix('#')}", match.author, time)))


def _belongings(match: QueryMatch, ranks: Mapping[str, int], names: ShownNames) -> Iterator[tuple[str, str]]:
    if match.meta.deleted:
        yield "deleted", "red"
    yield scope_label(match.scope), "dim"
    yield origin(is_test=match.is_test, is_generated=match.is_generated), "dim"
    if match.meta.neighbor:
        yield _beside(match, ranks), "dim"
    for parent in match.meta.parents:
        # Of a type around a member, the package is as well known from the path of the member.
        is_around = match.symbol.startswith(f"{parent.symbol}.")
        name = names.of(match.location.path, parent.symbol) if is_around else parent.symbol
        yield f"in {name or place(parent.location, parent.id)}", "dim"


def _beside(neighbor: QueryMatch, ranks: Mapping[str, int]) -> str:
    """The match that a neighbour is next to, by rank."""
    return f"beside {ranks.get(neighbor.meta.neighbor_of, neighbor.meta.neighbor_of)}"


def _adjustments(match: QueryMatch) -> Iterator[str]:
    if not match.HasField("scores"):
        return
    scores = match.scores
    if scores.HasField("freshness"):
        yield f"freshness {scores.freshness:.3g}"
    factors = {
        f"purpose {scores.purpose.replace('_', ' ')}": scores.purpose_factor,
        "fragment" if scores.purpose_factor else "kind": scores.kind_factor / (scores.purpose_factor or 1.0),
        "length": scores.length_factor,
        "within file": scores.within_file_factor,
        "boost": scores.boost,
        "repeat": scores.repeat_factor,
        "older definition": scores.older_definition_factor,
    }
    for name, factor in factors.items():
        if factor not in (0, 1):  # 0 from a server that does not know it
            yield f"{name} {factor:.3g}"
    if scores.older_definitions:
        yield f"current definition; matches of older ones: {scores.older_definitions}"


def _text(scope: IndexScope, match: QueryMatch, ranks: Mapping[str, int]) -> RenderableType:
    role = _beside(match, ranks) if match.meta.neighbor else f"match {match.rank}"
    remark = f"{role} · {match.token_count} tokens" + _omission(match)
    name = match.symbol or match.source_uri or match.id
    return text_block(scope, match.id, match.text, match.location, name, remark)


def _omission(match: QueryMatch) -> str:
    if not match.text_omitted:
        return ""
    is_over_budget = match.omit_reason == SkipReason.SKIP_REASON_OVER_BUDGET
    return f" · text omitted: {'over the budget' if is_over_budget else 'fetch it'}"


def _services_table(services: Iterable[ServiceContext]) -> Table:
    table = Table("service", "calls", "called by", "edges", box=None, pad_edge=False)
    for service in services:
        edges = [f"{edge.from_service} → {edge.to_service}: {edge.edge_type} {edge.count}" for edge in service.edges]
        cells = ("\n".join(names) for names in (service.calls, service.called_by, edges))
        table.add_row(Text(printable(service.service_name), style="bold"), *(Text(printable(cell)) for cell in cells))
    return table


def explanation(meta: RetrieveMeta) -> Table:
    """The form of the query, the retrievers and their weights, the parameters, the counts, the time."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, fact in query_facts(meta):
        table.add_row(Text(name, style="dim"), Text(printable(fact), overflow="fold"))
    return table


def query_facts(meta: RetrieveMeta) -> list[tuple[str, str]]:
    """How a query was answered: names and values."""
    return [(name, fact) for name, facts in _facts(meta) if (fact := "; ".join(filter(None, facts)))]


def _facts(meta: RetrieveMeta) -> Iterator[tuple[str, list[str]]]:
    lifecycle = f"{choice(Lifecycle, meta.lifecycle_effective)} nodes"
    yield "query", [choice(QueryClass, meta.query_class), f"fusion {choice(FusionMode, meta.fusion)}", lifecycle]
    yield (
        "retrievers",
        [
            f"{choice(Retriever, use.retriever)}: weight {use.weight:.3g}, candidates {use.candidates}"
            for use in meta.retrievers
        ],
    )
    yield "parameters", _parameters(meta)
    yield (
        "ranking",
        _given(meta.ranking, [field.name for field in meta.ranking.DESCRIPTOR.fields if not field.is_repeated]),
    )
    purposes = meta.ranking.purpose_factors
    yield "purposes", [f"{lowered.purpose.replace('_', ' ')} {lowered.factor:g}" for lowered in purposes]
    yield (
        "candidates",
        [
            f"vector {meta.vector_candidates}",
            f"lexical {meta.lexical_candidates}",
            f"fused {meta.fused_candidates}",
            f"deleted blocked {meta.deleted_matches_blocked}" if meta.deleted_matches_blocked else "",
        ],
    )
    yield "freshness", _freshness(meta)
    yield "texts", [f"{meta.used_tokens} tokens"]
    yield "boosts", list(meta.boosts)
    yield "routing", _routing(meta.routing)
    yield "time", [f"{meta.took_ms:.1f} ms of processor time"]


def _parameters(meta: RetrieveMeta) -> list[str]:
    limits = ("alpha", "min_sim", "vec_limit", "lex_limit", "trgm_limit")
    others = ("max_candidates_effective", "diversify_strength", "rrf_k")
    given = _given(meta, [*limits, *others])
    return [f"top_k {meta.top_k_effective}", *(parameter.replace("_effective", "") for parameter in given)]


def _freshness(meta: RetrieveMeta) -> list[str]:
    if not meta.HasField("freshness_weight"):
        return []
    return [
        f"weight {meta.freshness_weight:g}",
        f"half-life {meta.freshness_half_life_days:g} days",
        f"from {meta.now.ToDatetime(UTC).isoformat(timespec='seconds')}",
    ]


def _given(message: Message, names: Iterable[str]) -> list[str]:
    """Those that had a part in the answer."""
    return [f"{name} {getattr(message, name):.12g}" for name in names if message.HasField(name)]


def _routing(routing: Routing) -> list[str]:
    named = {
        "profile": routing.profile,
        "embedder": routing.embedder,
        "vector space": routing.vector_space_id,
        "process": routing.process,
        "doc_class": routing.doc_class,
        "workflow_id": routing.workflow_id,
        "collections": ", ".join(routing.collection_ids),
    }
    return [f"{name} {value}" for name, value in named.items() if value]
