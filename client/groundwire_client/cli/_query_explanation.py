"""How the answer to a query was made, for people."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from groundwire_client._enums import FusionMode, Source, Visibility
from groundwire_client._query_types import RetrieveMeta, Routing
from groundwire_client.cli._text import printable


def explanation(meta: RetrieveMeta) -> Table:
    """What the query looks like, which sources were asked with what weight, the parameters, the counts, the time."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, facts in _facts(meta):
        told = "; ".join(filter(None, facts))
        if told:
            table.add_row(Text(name, style="dim"), Text(printable(told), overflow="fold"))
    return table


def _facts(meta: RetrieveMeta) -> Iterator[tuple[str, list[str]]]:
    visibility = f"{_named(meta.visibility_effective)} nodes"
    yield "query", [str(meta.query_class), f"fusion {_named(meta.fusion)}", visibility]
    uses = meta.sources
    yield "sources", [f"{_named(use.source)}: weight {use.weight:.3g}, candidates {use.candidates}" for use in uses]
    yield "parameters", _parameters(meta)
    yield "ranking", _given(asdict(meta.ranking))
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


def _named(choice: FusionMode | Source | Visibility | None) -> str:
    """The name of a choice, or a word for one that only a newer server knows."""
    return str(choice or "unknown")


def _parameters(meta: RetrieveMeta) -> list[str]:
    return _given(
        {
            "top_k": meta.top_k_effective,
            "alpha": meta.alpha,
            "min_sim": meta.min_sim,
            "vec_limit": meta.vec_limit,
            "lex_limit": meta.lex_limit,
            "trgm_limit": meta.trgm_limit,
            "max_candidates": meta.max_candidates_effective,
            "diversify_strength": meta.diversify_strength,
            "rrf_k": meta.rrf_k,
        }
    )


def _freshness(meta: RetrieveMeta) -> list[str]:
    if meta.freshness_weight is None or meta.freshness_half_life_days is None:
        return []
    return [
        f"weight {meta.freshness_weight:g}",
        f"half-life {meta.freshness_half_life_days:g} days",
        f"from {meta.now.isoformat(timespec='seconds')}",
    ]


def _given(values: Mapping[str, float | None]) -> list[str]:
    """Those that had a part in the answer."""
    return [f"{name} {value:.12g}" for name, value in values.items() if value is not None]


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
