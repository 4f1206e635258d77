"""What `query` prints, for people and for programs."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from google.protobuf.json_format import Parse

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_client import IndexScope
from groundwire_client.cli._query_rendering import print_query

if TYPE_CHECKING:
    from client.cli.conftest import Run
    from client.conftest import FakeServer

SEED = "shop::main::cs::Shop.Invoice.[Create]"
TABLE = "shop::main::sql::dbo.Invoice|TABLE"
pytestmark = pytest.mark.usefixtures("query_answer")


def lines(run: Run, *flags: str) -> list[str]:
    output = run("query", "vat", *flags)
    assert output.code == 0
    return [line.rstrip() for line in output.stdout.splitlines()]


def test_a_match_is_its_name_its_place_and_its_best_line(run: Run) -> None:
    assert lines(run)[:10] == [
        "1 Invoice.Create · in Invoice",
        "  src/Invoice.cs:10-11",
        "  int [bold]x␛[31m;",
        "",
        "2 thread · deleted",
        "  #incident · Ann · 2025-01-02 03:04",
        "  invoices are down",
        "",
        "· Tables > Invoice · beside 1",
        f"  {TABLE}",
    ]


def test_ids_are_printed_alone(run: Run) -> None:
    assert lines(run, "--ids") == [SEED, "shop::main::slack::1"]


def test_an_explained_row_holds_place_name_and_a_bar_for_each_stage(run: Run) -> None:
    head, bars, numbers, parent = lines(run, "--explain")[:4]
    assert head.split() == ["#", "match", "dense", "code", "trigram", "fused", "final"]
    assert bars.split() == ["1", "src/Invoice.cs:10-11", *["██████"] * 5]
    assert numbers.split() == ["Invoice.Create", "0.5", "12.5", "0.25", "0.8", "0.8"]
    assert parent.split() == ["in", "Invoice"]


def test_it_is_said_in_words_why_the_first_match_is_first(run: Run) -> None:
    printed = lines(run, "--explain")
    assert "1 is first: best by meaning and by words of code and by parts of names." in printed
    assert not any("is first" in line for line in lines(run))


def test_bars_are_parts_of_the_best_of_their_column(run: Run) -> None:
    _, _, _, _, bars, numbers, _freshness, *_ = printed = lines(run, "--explain")
    assert bars.split() == ["2", "#incident", "·", "Ann", "·", "2025-01-02", "03:04", "███", "██▎", "███"]
    assert numbers.split() == ["thread", "-0.25", "6.25", "0.3", "0.4"]
    assert "  deleted" in printed


def test_a_neighbour_has_a_place_and_no_scores(run: Run) -> None:
    printed = lines(run, "--explain")
    place = printed.index(f"· {TABLE}")
    assert printed[place + 1 : place + 3] == ["  Tables > Invoice", "  beside 1"]
    assert lines(run)[-1] == "matches: 2; neighbours: 1; index: v1"


def test_stages_without_a_score_have_no_column(server: FakeServer, run: Run) -> None:
    scores = query_pb2.StageScores(
        bm25_prose=2, fused=0.016393, rerank=0.125, kind_factor=1, repeat_factor=1, boost=1, final=0.125
    )
    match = query_pb2.QueryMatch(id=SEED, rank=1, source_uri="https://wiki/vat", scores=scores)
    server.answer(query_pb2.QueryResponse(matches=[match], index="v1"))
    head, bars, numbers = lines(run, "--explain")[:3]
    assert head.split() == ["#", "match", "prose", "fused", "rerank", "final"]
    assert bars.split()[:2] == ["1", "https://wiki/vat"]
    assert numbers.split() == ["2", "0.0164", "0.125", "0.125"]


def test_definitions_of_one_object_say_which_is_current(server: FakeServer, run: Run) -> None:
    current = query_pb2.StageScores(fused=0.5, older_definitions=2, best_older_definition=0.75, final=0.75)
    older = query_pb2.StageScores(fused=0.75, older_definition_factor=0.5, final=0.375)
    matches = [
        query_pb2.QueryMatch(id=TABLE, rank=1, scores=current),
        query_pb2.QueryMatch(id=f"{TABLE}~2", rank=2, scores=older),
    ]
    server.answer(query_pb2.QueryResponse(matches=matches, index="v1"))
    printed = "\n".join(lines(run, "--explain"))
    current_line = "current definition; matches of older ones: 2"
    assert printed.count(current_line) == printed.count("older definition 0.5") == 1
    assert printed.index(current_line) < printed.index("older definition 0.5")


def test_the_purpose_of_a_text_and_its_factor_are_named(server: FakeServer, run: Run) -> None:
    scores = query_pb2.StageScores(fused=0.5, kind_factor=0.425, purpose="change_log", purpose_factor=0.5, final=0.2)
    match = query_pb2.QueryMatch(id=SEED, rank=1, scores=scores)
    lowered = [query_pb2.PurposeFactor(purpose="change_log", factor=0.5)]
    meta = query_pb2.RetrieveMeta(ranking=query_pb2.RankingParameters(graph_weight=0.3, purpose_factors=lowered))
    server.answer(query_pb2.QueryResponse(matches=[match], meta=meta, index="v1"))
    printed = "\n".join(lines(run, "--explain"))
    assert "purpose change log 0.5" in printed
    assert "fragment 0.85" in printed
    assert any(line.split() == ["purposes", "change", "log", "0.5"] for line in printed.splitlines())


def test_all_scores_may_be_zero(server: FakeServer, run: Run) -> None:
    match = query_pb2.QueryMatch(
        id=SEED, rank=1, scores=query_pb2.StageScores(dense=-0.5, kind_factor=1, repeat_factor=1, boost=1)
    )
    server.answer(query_pb2.QueryResponse(matches=[match]))
    assert "█" not in "".join(lines(run, "--explain"))


def test_services_are_a_table_of_their_own(server: FakeServer, run: Run) -> None:
    printed = lines(run)
    assert "service  calls  called by  edges" in printed
    assert "shop     tax    web        shop → tax: CallsService 3" in printed
    server.answer(query_pb2.QueryResponse(index="v1"))
    assert not any("called by" in line for line in lines(run))


def test_texts_are_printed_when_asked_for(run: Run) -> None:
    assert not any("int y;" in line for line in lines(run))
    printed = "\n".join(lines(run, "--texts"))
    assert "src/Invoice.cs:10-11 · match 1 · 9 tokens" in printed
    assert "10 int [bold]x␛[31m;" in printed
    assert f"{TABLE} · beside 1 · 2 tokens" in printed
    assert SEED in printed


def test_an_omitted_text_is_told(server: FakeServer, run: Run) -> None:
    match = query_pb2.QueryMatch(id=SEED, rank=1, token_count=9, text_omitted=True)
    server.answer(query_pb2.QueryResponse(matches=[match]))
    assert any("match 1 · 9 tokens · text omitted: fetch it" in line for line in lines(run, "--texts"))
    match.omit_reason = retrieval_pb2.SKIP_REASON_OVER_BUDGET
    server.answer(query_pb2.QueryResponse(matches=[match]))
    assert any("match 1 · 9 tokens · text omitted: over the budget" in line for line in lines(run, "--texts"))


@pytest.mark.parametrize(
    ("meta", "remark"),
    [
        (query_pb2.RetrieveMeta(exact=True), ""),
        (query_pb2.RetrieveMeta(), "; approximate"),
        (query_pb2.RetrieveMeta(exact=True, truncated=True), "; truncated"),
        (query_pb2.RetrieveMeta(truncated=True), "; approximate; truncated"),
    ],
)
def test_what_an_answer_lacks_stands_below_it(
    server: FakeServer, run: Run, meta: query_pb2.RetrieveMeta, remark: str
) -> None:
    server.answer(query_pb2.QueryResponse(index="v1", meta=meta))
    assert lines(run)[-1] == f"matches: 0; index: v1{remark}"


def test_an_explained_query_tells_how_it_was_answered(run: Run) -> None:
    plain, printed = lines(run), lines(run, "--explain")
    for line in (
        "query       mixed; fusion weighted; all nodes",
        "retrievers  dense: weight 0.7, candidates 100; bm25_code: weight 0.3, candidates 12",
        "parameters  top_k 2; alpha 0.7; min_sim 0.15; vec_limit 100; lex_limit 90; trgm_limit 0.3; "
        "max_candidates 100; diversify_strength 0.5",
        "candidates  vector 100; lexical 12; fused 105; deleted blocked 4",
        "freshness   weight 0.1; half-life 90 days; from 2025-01-03T00:00:00+00:00",
        "boosts      incident",
        "routing     profile support; embedder minilm; collections k1, k2",
        "time        12.3 ms of processor time",
        "  freshness 0.5",
        "  boost 1.3",
    ):
        assert line in printed
        assert line not in plain
    assert sum("boost 1" in line for line in printed) == 1


def test_an_explanation_leaves_out_what_does_not_apply(server: FakeServer, run: Run) -> None:
    server.answer(query_pb2.QueryResponse(meta=query_pb2.RetrieveMeta(fusion=query_pb2.FUSION_MODE_RRF, rrf_k=60)))
    printed = lines(run, "--explain")
    assert "query       unknown; fusion rrf; unknown nodes" in printed
    assert any(line.endswith("rrf_k 60") for line in printed)
    assert not any(line.startswith(("boosts", "routing", "sources")) for line in printed)
    assert not any("deleted blocked" in line for line in printed)
    assert "parameters  top_k 0; rrf_k 60" in printed
    assert not any(line.startswith(("freshness", "ranking")) for line in printed)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_eighty_columns_are_enough(monkeypatch: pytest.MonkeyPatch, query_answer: query_pb2.QueryResponse) -> None:
    for match in query_answer.matches[:2]:
        match.scores.bm25_prose, match.scores.rerank = 0.016393, 0.987654
    query_answer.matches[0].location.path = "src/" + "Billing/" * 12 + "Invoice.cs"
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    print_query(IndexScope(repository="shop", branch="main"), query_answer, question="vat", texts=False, explain=True)
    printed = terminal.getvalue().splitlines()
    assert max(map(len, printed)) <= 80
    assert printed[0].split() == ["#", "match", "dense", "code", "prose", "trigram", "fused", "rerank", "final"]
    assert printed[1].split()[2:] == ["██████"] * 7
    assert "".join(line[2:31].strip() for line in printed[1:7]).startswith("src/Billing/Billing/")


def test_json_is_the_response_as_protobuf_writes_it(run: Run, query_answer: query_pb2.QueryResponse) -> None:
    printed = run("query", "vat", "--json").stdout
    assert Parse(printed, query_pb2.QueryResponse()) == query_answer
    fields = json.loads(printed)
    assert fields["matches"][1]["timestamp"] == "2025-01-02T03:04:05Z"
    assert (fields["matches"][0]["rank"], fields["meta"]["fusion"]) == (1, "FUSION_MODE_WEIGHTED")
    assert "rerank" not in fields["matches"][0]["scores"]


@pytest.mark.parametrize("flags", [(), ("--explain", "--texts", "--graph")])
def test_a_pipe_gets_no_escape_sequences(server: FakeServer, run: Run, flags: tuple[str, ...]) -> None:
    evil = "a\x1b[31mb"
    match = query_pb2.QueryMatch(id=evil, rank=1, text=evil, symbol=evil, channel=evil, author=evil, source_uri=evil)
    match.meta.parents.add(symbol=evil)
    service = query_pb2.ServiceContext(service_name=evil, calls=[evil], called_by=[evil])
    service.edges.add(from_service=evil, to_service=evil, edge_type=evil)
    meta = query_pb2.RetrieveMeta(boosts=[evil], routing=query_pb2.Routing(profile=evil, embedder=evil))
    server.answer(query_pb2.QueryResponse(matches=[match], service_context=[service], meta=meta, index=evil))
    assert "\x1b" not in run("query", "vat", *flags).stdout
