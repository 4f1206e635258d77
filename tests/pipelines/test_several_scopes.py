"""Pipelines over several repositories, against a real server: they find what one index of all nodes would."""

import asyncio
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire.tokens import TokenCounter
from groundwire_client import AccessContext, AsyncGroundwireClient, IndexScope
from groundwire_pipelines import Pipeline, PipelineResult, RunOptions, StepError
from groundwire_pipelines.actions.expand_dependency_tree import ACTION as EXPAND
from groundwire_pipelines.actions.search_nodes import ACTION as SEARCH
from support.jsonl import edge, node
from support.program import Server, run_ok, write_jsonl
from support.retrieval import FakeRetrieval, make_runtime, make_state, run_action, search_response, walked
from support.run_command import run

PARTS = ("team-a", "team-b")
NO_SETTINGS: Mapping[str, float] = {}
WORDS = ["invoice", "tax", "refund", "ledger", "the", "Billing", "rate", "payment"]
PINNED = "team-a::main::v1, team-b::main::v1"
LICENSE = "Permission is granted to print every invoice.\n"


def records_of(part: str, seed: int) -> list[dict[str, object]]:
    """Nodes and edges; local ids and paths begin with the part, so that they have one order in the index of all."""
    rng = random.Random(seed)
    numbers = range(40)
    nodes = [
        node(
            f"{part}/{number:02}",
            f"def step_{number}():\n    return {' + '.join(rng.choices(WORDS, k=rng.randint(2, 30)))}\n",
            None,
            path=f"{part}/{rng.choice('xyz')}.py",
            start_line=number * 2 + 1,
            end_line=number * 2 + 2,
            symbol=f"{part.removeprefix('team-')}.step_{number}",
        )
        for number in numbers
    ]
    keys = [f"cs::{node['local_id']}" for node in nodes]
    ends = {(rng.choice(keys), rng.choice(keys)) for _ in range(70)}
    edges = [edge(*pair, "Calls", confidence=rng.choice([0.5, 1.0])) for pair in sorted(ends) if pair[0] != pair[1]]
    return [*nodes, *edges]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The parts, the whole of them, two with a file of one path, and one that only some callers see."""
    folder = tmp_path_factory.mktemp("several")
    parts = {name: records_of(name, seed) for seed, name in enumerate(PARTS)}
    licences = [node("LICENSE", LICENSE, None, kind="md", path="LICENSE", start_line=1, end_line=1)]
    sources = {
        **parts,
        "whole": [record for records in parts.values() for record in records],
        "team-vault": [node("vault", "invoice " * 9, None, path="vault.py", acl_tags=["vault"])],
        "one": licences,
        "other": [{**licences[0], "text": f"{LICENSE}No invoice is free.\n", "end_line": 2}],
    }
    for name, records in sources.items():
        source = write_jsonl(folder / f"{name}.jsonl", records)
        where = ("--repository", name, "--branch", "main", "--version", "v1")
        run_ok("index", source, *where, "--embedder", "none", "--data", folder / "data")
    with Server(folder / "data", "--embedder", "none") as server:
        yield server


def scopes(*names: str) -> list[IndexScope]:
    return [IndexScope(repository=name, branch="main") for name in names]


def run_over(
    server: Server,
    question: str,
    names: Sequence[str],
    pipeline: str = "evidence",
    tags: Sequence[str] = (),
    settings: Mapping[str, float] = NO_SETTINGS,
) -> PipelineResult:
    options = RunOptions(access=AccessContext(acl_tags_any=tags), repository=names[0], branch="main")
    if len(names) > 1 or names[0].endswith("*"):
        options["scopes"] = scopes(*names)
    return Pipeline.load(pipeline, (), **settings).run(question, server=server.address, **options)


def answer_of(result: PipelineResult) -> str:
    """All that a run found, without what names the indexes."""
    state = result.state
    text = "\n".join(
        map(
            str,
            (
                state.retrieval_seed_nodes, state.graph_seed_nodes, state.search_report,
                [(node.id, node.depth, node.parent_id) for node in state.graph_expanded_nodes], state.graph_debug,
                [(node.id, node.depth, node.is_seed, node.text) for node in state.node_texts],
                sorted((edge.from_id, edge.to_id, edge.edge_type) for edge in result.graph.edges),
                [(node.id, node.depth, node.path) for node in result.graph.nodes], sorted(
                    (node.id, str(node.reason)) for node in state.skipped_texts), state.paths,
                *result.context_blocks,
            ),
        )
    )  # fmt: skip
    for part in PARTS:
        text = text.replace(f"{part}::main {part}/", f"{part}/").replace(f"{part}::main::", "whole::main::")
    return text


QUESTIONS = ("invoice tax", "Billing rate of the ledger", "refund payment", "step_7 step_12")


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("settings", [{}, {"graph_share": 0.0}, {"graph_share": 0.9}], ids=str)
def test_evidence_of_the_parts_is_that_of_the_whole(server: Server, question: str, settings: dict[str, float]) -> None:
    """With room for everything: names of repositories take tokens too."""
    limits = {"max_context_tokens": 100_000, **settings}
    several, whole = (run_over(server, question, names, settings=limits) for names in (PARTS, ["whole"]))
    assert answer_of(several) == answer_of(whole)
    assert {source.node.id.split("::")[0] for source in several.evidence} == {*PARTS}


def test_texts_of_all_repositories_share_one_budget(server: Server) -> None:
    several = run_over(server, QUESTIONS[0], PARTS, settings={"max_context_tokens": 400})
    assert {source.node.scope for source in several.evidence} == {"team-a::main", "team-b::main"}
    assert 200 < TokenCounter().count(several.answer) <= 400


@pytest.mark.parametrize("pipeline", ["quick_evidence", "evidence"])
def test_rows_name_the_repository_and_files_of_one_path_are_two(server: Server, pipeline: str) -> None:
    result = run_over(server, "print an invoice", ["one", "other"], pipeline)
    lines = result.answer.split("\n")
    assert {line for line in lines if line.endswith("LICENSE")} == {"one::main LICENSE", "other::main LICENSE"}
    assert {node.scope for node in result.graph.nodes} == {"one::main", "other::main"}


def test_a_hidden_repository_changes_nothing(server: Server) -> None:
    """A pattern means what the caller may see: the answer is that over the others alone."""
    for pipeline in ("evidence", "quick_evidence"):
        hidden, named = (run_over(server, "invoice", names, pipeline) for names in (["team-*"], PARTS))
        assert (hidden.context_blocks, hidden.index) == (named.context_blocks, PINNED)
        assert answer_of(hidden) == answer_of(named)
    assert "team-vault" in run_over(server, "invoice", ["team-*"], tags=["vault"]).index


def test_a_hidden_repository_is_refused_as_an_absent_one(server: Server) -> None:
    for name in ("team-vault", "absent"):
        with pytest.raises(StepError) as raised:
            run_over(server, "invoice", ["team-a", name])
        assert (raised.value.rule, raised.value.step_id) == ("server-scope-not-found", "gather")


def test_paths_connect_nodes_of_one_repository(server: Server) -> None:
    question = "from a.step_3 to a.step_9"
    both, alone = (run_over(server, question, names, "trace") for names in (PARTS, ["team-a"]))
    assert both.state.paths == alone.state.paths
    assert both.state.paths
    assert "team-a::main team-a/" in both.context_blocks[0]
    assert not run_over(server, "from a.step_3 to b.step_9", PARTS, "trace").state.paths


def test_paths_of_two_repositories_are_those_of_the_whole(server: Server) -> None:
    question = "from step_3 to step_9"
    several, whole = (run_over(server, question, names, "trace") for names in (PARTS, ["whole"]))
    assert {path.node_ids[0].split("::")[0] for path in several.state.paths} == {*PARTS}
    assert answer_of(several).partition("[")[0] == answer_of(whole).partition("[")[0]
    assert str(several.state.paths).replace("team-a::", "whole::").replace("team-b::", "whole::") == str(
        whole.state.paths
    )


def test_the_command_asks_several_and_records_their_versions(server: Server, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    where = ("-r", "team-a", "-r", "team-b", "-b", "main")
    done = run("evidence", "invoice tax", *where, "--trace", trace, "--json", address=server.address)
    assert done.exit_code == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["index"] == PINNED
    assert {node["scope"] for node in printed["graph"]["nodes"]} == {"team-a::main", "team-b::main"}
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    assert (events[0]["inputs"]["repository"], events[0]["inputs"]["branch"]) == ("team-a, team-b", "main")
    assert {event["index"] for event in events if event["event"] != "run_started" and "index" in event} == {PINNED}
    by_pattern = run("evidence", "invoice tax", "-r", "team-*", "-b", "main", "--json", address=server.address)
    assert json.loads(by_pattern.stdout)["context_blocks"] == printed["context_blocks"]


def test_a_setting_may_be_a_pattern(server: Server) -> None:
    pipeline = Pipeline.load("evidence", repository="team-*", branch="main")
    assert pipeline.run("invoice", server=server.address).index == PINNED
    done = run("evidence", "invoice", "--set", "repository=team-*", "-b", "main", "--json", address=server.address)
    assert json.loads(done.stdout)["index"] == PINNED


def test_the_environment_names_what_neither_options_nor_the_pipeline_do(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDWIRE_REPOSITORY", "absent")
    monkeypatch.setenv("GROUNDWIRE_BRANCH", "main")
    by_setting = run("evidence", "invoice", "--set", "repository=team-*", "--json", address=server.address)
    assert json.loads(by_setting.stdout)["index"] == PINNED
    assert run("evidence", "invoice", "-r", "team-*", "--json", address=server.address).exit_code == 0
    of_environment = run("evidence", "invoice", address=server.address)
    assert of_environment.exit_code == 1
    assert "scope-not-found" in of_environment.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("-r", "a", "-r", "b", "-r", "c", "-b", "x", "-b", "y"), 2, "one for all repositories, or one for each"),
        (("-r", "a", "-r", "b", "-b", "main", "--index", "v1"), 2, "only one repository and branch"),
        (("-r", "team-a", "-r", "team-a", "-b", "main"), 1, "server-fields-conflict"),
        (("-r", "absent*", "-b", "main"), 1, "server-scope-not-found"),
    ],
)
def test_wrong_scopes_are_named(server: Server, options: tuple[str, ...], code: int, message: str) -> None:
    done = run("evidence", "invoice", *options, address=server.address, COLUMNS="500")
    assert (done.exit_code, message in done.stderr) == (code, True), done.stderr


def pinned(*names: str) -> list[IndexScope]:
    return [IndexScope(repository=name, branch="main", active_index="v1") for name in names]


def test_later_calls_read_the_versions_that_answered_first() -> None:
    answers = [search_response("a::main::cs::x", "b::main::cs::y", index="") for _ in range(2)]
    for answer, versions in zip(answers, (pinned("a", "b"), pinned("a", "c")), strict=True):
        answer.scopes.extend(versions)
    walk = walked([(f"{name}::main::cs::{node_id}", 0, "") for name, node_id in ("ax", "by")], index="")
    walk.scopes.extend(pinned("a", "b"))
    retrieval = FakeRetrieval(searches=[*answers], expansions=[walk])
    state, runtime = make_state(scopes=scopes("*")), make_runtime(retrieval)
    searching = {"search_type": "bm25", "query_from": "question"}
    run_action(SEARCH, searching, state, runtime)
    run_action(EXPAND, {"max_depth": 1, "max_nodes": 9, "edge_allowlist": ["*"]}, state, runtime)
    assert [call.scope for call in retrieval.calls] == [scopes("*"), pinned("a", "b")]
    assert state.graph_seed_nodes == ["a::main::cs::x", "b::main::cs::y"]
    with pytest.raises(StepError, match="pinned to index 'a::main::v1, b::main::v1'") as raised:
        run_action(SEARCH, searching, state, runtime)
    assert raised.value.rule == "index-changed"


def test_a_node_of_another_repository_is_refused(server: Server) -> None:
    async def expanded() -> None:
        async with AsyncGroundwireClient(server.address) as client:
            state = make_state(scopes=pinned(*PARTS), retrieval_seed_nodes=["one::main::md::LICENSE"])
            runtime = replace(make_runtime(FakeRetrieval()), retrieval=client)
            settings = EXPAND.settings.model_validate({"max_depth": 1, "max_nodes": 9, "edge_allowlist": ("*",)})
            await EXPAND.run(settings, state, runtime)

    with pytest.raises(StepError, match="'one::main::md::LICENSE' names no node") as raised:
        asyncio.run(expanded())
    assert raised.value.rule == "request-unsendable"
