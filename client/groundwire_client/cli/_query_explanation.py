"""How the answer to a query was made, for people."""

from collections.abc import Iterable, Iterator
from datetime import UTC

from google.protobuf.message import Message
from rich.table import Table
from rich.text import Text

from groundwire.v1.query_pb2 import FusionMode, QueryClass, RetrieveMeta, Routing
from groundwire.v1.retrieval_pb2 import Retriever
from groundwire.v1.scope_pb2 import Lifecycle
from groundwire_client._helpers import choice
from groundwire_client.cli._text import printable


def explanation(meta: RetrieveMeta) -> Table:
    """The form of the query, the retrievers and their weights, the parameters, the counts, the time."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, facts in _facts(meta):
        told = "; ".join(filter(None, facts))
        if told:
            table.add_row(Text(name, style="dim"), Text(printable(told), overflow="fold"))
    return table


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
    yield "ranking", _given(meta.ranking, [field.name for field in meta.ranking.DESCRIPTOR.fields])
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
    return [f"top_k {meta.top_k_effective}", *(one.replace("_effective", "") for one in given)]


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
