"""Names, badges, reasons and facts of responses, in words."""

import re
from collections.abc import Iterable, Mapping

from groundwire.printable_text import printable
from groundwire_client import (
    ParentContext,
    QueryMatch,
    QueryResponse,
    RetrieveMeta,
    SearchNodesResponse,
    SearchPath,
    SkippedNode,
    SkipReason,
    SourceLocation,
    choice,
    cli,
    left_out_note,
)

_REASONS: Mapping[SkipReason.ValueType, str] = {
    SkipReason.SKIP_REASON_OVER_BUDGET: "over the budget: it does not fit into what was left",
    SkipReason.SKIP_REASON_UNAVAILABLE: "unavailable: no such node, hidden from you, or not in the filter",
    SkipReason.SKIP_REASON_RESPONSE_LIMIT: "the response would be larger than 4 MiB",
}
_SEPARATOR = re.compile(r"::|->|[.#/\\]")


def name_of(symbol: str, location: SourceLocation, node_id: str) -> str:
    """The name of a node: its symbol, else the last part of its id, which is its name within its kind."""
    return printable(symbol or node_id.split("::", 3)[-1] or location.path)


def is_web_address(value: str) -> bool:
    """True for an address that a page may link to, whatever server has sent it."""
    return value.startswith(("https://", "http://"))


def short_name(name: str, path: str) -> str:
    """The last part of a qualified name in a file: `Create` of `Shop.Invoice.Create(int)`, of headings the last one.

    The name of the file itself is one part, also behind its folders.
    """
    title, file_name = name.rpartition(" > ")[2], path.rpartition("/")[2]
    if file_name and (title == file_name or title.endswith(f"/{file_name}")):
        return file_name
    if title != name or " " in title:
        return title
    parts = [part for part in _SEPARATOR.split(title.partition("(")[0]) if part]
    return parts[-1] if parts else title


def name_of_match(match: QueryMatch) -> str:
    """The name of a match; a text without a symbol is named by its headings."""
    return name_of(match.symbol or match.section_path, match.location, match.id)


def badges(*, is_test: bool, is_generated: bool) -> tuple[str, ...]:
    """The marks of a node that is not ordinary code."""
    return tuple(word for word, holds in (("test", is_test), ("generated", is_generated)) if holds)


def match_badges(match: QueryMatch) -> tuple[str, ...]:
    """The language of a match, and what sets it apart."""
    neighbour = ("beside a match",) if match.meta.neighbor else ()
    deleted = ("deleted",) if match.meta.deleted else ()
    language = match.language or match.kind
    language_badges = (printable(language),) if language else ()
    return (*language_badges, *badges(is_test=match.is_test, is_generated=match.is_generated), *neighbour, *deleted)


def skip_reason(reason: SkipReason.ValueType) -> str:
    """Why a text was left out."""
    return _REASONS.get(reason, choice(SkipReason, reason))


def omission(node: QueryMatch | ParentContext) -> str:
    """Why the text of a match, or of what contains it, was left out; empty where it was not."""
    return skip_reason(node.omit_reason) if node.text_omitted else ""


def skip_reasons(skipped: Iterable[SkippedNode]) -> dict[str, str]:
    """Why texts were left out, by id."""
    return {node.id: skip_reason(node.reason) for node in skipped}


def query_facts(meta: RetrieveMeta) -> tuple[tuple[str, str], ...]:
    """How a query was answered."""
    return tuple((name, printable(fact)) for name, fact in cli.query_facts(meta))


def query_notices(answer: QueryResponse) -> tuple[str, ...]:
    """The limits that cut a response."""
    meta, without_embeddings = answer.meta, left_out_note(answer)
    return tuple(
        notice
        for notice, holds in (
            ("Approximate: the dense retriever may have missed a candidate.", not meta.exact),
            (without_embeddings, bool(without_embeddings)),
            ("Truncated: parts were left out to keep the response below 4 MiB.", meta.truncated),
            (f"{meta.deleted_matches_blocked} deleted nodes would have matched.", meta.deleted_matches_blocked > 0),
        )
        if holds
    )


def search_facts(response: SearchNodesResponse) -> tuple[tuple[str, str], ...]:
    """How `SearchNodes` searched."""
    debug = response.debug
    facts = (
        ("nodes searched", f"{debug.visible_count:,}" + (" after the filter" if debug.filtered else "")),
        ("dense", f"{choice(SearchPath, debug.path)}, {debug.dense_candidates} candidates" if debug.path else ""),
        ("bm25_code", f"{debug.bm25_candidates} candidates" if debug.bm25_candidates else ""),
        ("rrf_k", str(debug.rrf_k or "")),
        ("query tokens", " ".join(debug.query_tokens)),
    )
    return tuple((name, printable(value)) for name, value in facts if value)


def search_notices(response: SearchNodesResponse) -> tuple[str, ...]:
    """The limits that cut a response."""
    approximate = "" if response.exact else "Approximate: the dense retriever may have missed a hit."
    return tuple(filter(None, (approximate, left_out_note(response))))
