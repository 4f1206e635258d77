"""The texts packed into a budget, and the texts skipped."""

from collections.abc import Iterator, Mapping

from groundwire_client import FetchNodeTextsResponse, QueryResponse
from groundwire_explore import describing
from groundwire_explore.results import Budget, Packed


def packed_matches(answer: QueryResponse, total: int) -> Budget:
    """The texts of a query: of the matches first, then of what contains them. A repeated text counts once."""
    texts: dict[str, Packed] = {}
    for node, text in _texts(answer):
        texts.setdefault(node, text)
    return _budget(total, answer.meta.used_tokens, texts)


def packed_hits(fetched: FetchNodeTextsResponse, names: Mapping[str, tuple[int, str]], total: int) -> Budget:
    """The texts of a search's hits, in their order."""
    texts = {text.id: _hit(names[text.id], text.token_count, "") for text in fetched.texts}
    texts |= {node: _hit(names[node], 0, reason) for node, reason in describing.skip_reasons(fetched.skipped).items()}
    return _budget(total, fetched.used_tokens, texts)


def _hit(named: tuple[int, str], tokens: int, reason: str) -> Packed:
    rank, name = named
    return Packed(name, f"match {rank}", tokens, reason)


def _budget(total: int, used: int, texts: Mapping[str, Packed]) -> Budget:
    packed = tuple(text for text in texts.values() if not text.reason)
    return Budget(total, used, packed, tuple(text for text in texts.values() if text.reason))


def _texts(answer: QueryResponse) -> Iterator[tuple[str, Packed]]:
    for match in answer.matches:
        reason = describing.skip_reason(match.omit_reason) if match.text_omitted else ""
        yield match.id, Packed(describing.name_of_match(match), f"match {match.rank}", match.token_count, reason)
    for match in answer.matches:
        for parent in match.meta.parents:
            reason = describing.skip_reason(parent.omit_reason) if parent.text_omitted else ""
            name = describing.name_of(parent.symbol, parent.location, parent.id)
            yield parent.id, Packed(name, f"contains match {match.rank}", parent.token_count, reason)
