"""A request for texts arrives as it was asked, the texts as they were found."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import retrieval_pb2, scope_pb2
from groundwire_index.nodes.node import Location
from groundwire_server.domain.search.search import Filter
from groundwire_server.domain.texts.texts import (
    FetchedText,
    FetchRequest,
    FetchResult,
    PrioritizationMode,
    RequestedText,
    SkippedNode,
    SkipReason,
    StoredText,
)
from groundwire_server.rpc.conversions.texts import decode_fetch, encode_fetch
from support.conversions import ACCESS, counts, int32, name_tuples, names, over_the_wire, scope_message, scopes


@given(
    st.builds(
        FetchRequest,
        scope=scopes,
        access=st.just(ACCESS),
        seed_ids=name_tuples,
        nodes=st.lists(st.builds(RequestedText, names, int32, names), max_size=3).map(tuple),
        budget_tokens=st.none(),
        max_chars=st.none(),
        mode=st.sampled_from(PrioritizationMode),
        filter=st.builds(Filter, languages=name_tuples, is_generated=st.none() | st.booleans()),
    ),
    st.sampled_from(["budget_tokens", "max_chars"]),
    st.none() | int32,
)
def test_a_request_for_texts_arrives_as_it_was_asked(request: FetchRequest, budget: str, amount: int | None) -> None:
    message = retrieval_pb2.FetchNodeTextsRequest(
        scope=scope_message(request.scope),
        seed_ids=request.seed_ids,
        nodes=[
            retrieval_pb2.ReachedNode(id=node.id, depth=node.depth, parent_id=node.parent_id) for node in request.nodes
        ],
        prioritization_mode=retrieval_pb2.PrioritizationMode.Value(f"PRIORITIZATION_MODE_{request.mode.name}"),
        filter=scope_pb2.NodeFilter(languages=request.filter.languages, is_generated=request.filter.is_generated),
    )
    if amount is not None:
        setattr(message, budget, amount)
    decoded = decode_fetch(over_the_wire(message), ACCESS)
    assert decoded.budget_tokens == (amount if budget == "budget_tokens" else None)
    assert decoded.max_chars == (amount if budget == "max_chars" else None)
    assert replace(decoded, budget_tokens=None, max_chars=None) == request


@given(
    st.builds(
        FetchResult,
        texts=st.lists(
            st.builds(
                FetchedText,
                requested=st.builds(RequestedText, names, counts, names, st.booleans()),
                stored=st.builds(
                    StoredText,
                    names,
                    counts,
                    st.builds(Location, names, counts, counts, names),
                    names,
                    st.booleans(),
                    st.booleans(),
                ),
            ),
            max_size=3,
        ).map(tuple),
        skipped=st.lists(st.builds(SkippedNode, names, st.sampled_from(SkipReason)), max_size=3).map(tuple),
        used_tokens=st.integers(0, 2**63 - 1),
        used_chars=st.integers(0, 2**63 - 1),
        index=names,
    )
)
def test_texts_arrive_as_they_were_found(result: FetchResult) -> None:
    message = over_the_wire(encode_fetch(result))
    texts = tuple(
        FetchedText(
            RequestedText(text.id, text.depth, text.parent_id, text.is_seed),
            StoredText(
                text.text,
                text.token_count,
                Location(
                    text.location.path, text.location.start_line, text.location.end_line, text.location.content_hash
                ),
                text.symbol,
                text.is_test,
                text.is_generated,
            ),
        )
        for text in message.texts
    )
    skipped = tuple(
        SkippedNode(node.id, SkipReason[retrieval_pb2.SkipReason.Name(node.reason).removeprefix("SKIP_REASON_")])
        for node in message.skipped
    )
    assert FetchResult(texts, skipped, message.used_tokens, message.used_chars, message.index) == result
