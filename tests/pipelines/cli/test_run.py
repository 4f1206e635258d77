"""`groundwire run`, in this process against a server in this process."""

import json
from pathlib import Path
from typing import Any

import pytest

from groundwire.printable_text import printable
from groundwire.tokens import TokenCounter
from groundwire.v1 import scope_pb2
from support.retrieval_server import WorldServer
from support.run_command import SCOPE, run

WALKS = """
pipeline:
  name: walks
  settings:
    entry_step_id: search
    repository: shop
    branch: main
    top_k: 5
    graph_max_depth: 1
    graph_max_nodes: 50
    graph_edge_allowlist: ["*"]
  steps:
    - {id: search, action: search_nodes, search_type: hybrid, query_from: question, next: walk}
    - id: walk
      action: expand_dependency_tree
      max_depth_from_settings: graph_max_depth
      max_nodes_from_settings: graph_max_nodes
      edge_allowlist_from_settings: graph_edge_allowlist
      next: end
    - {id: end, action: finalize}
"""


def test_prints_evidence_on_one_stream_and_progress_on_the_other(address: str) -> None:
    result = run("evidence", "tax rules", *SCOPE, address=address)
    assert result.exit_code == 0
    assert result.stdout.startswith("src/all.py\n[1] def source_of(")
    assert result.stdout.count("def source_of") == 2
    lines = result.stderr.splitlines()
    assert [line.split()[:2] for line in lines] == [["+", "gather"], ["+", "finalize"]]
    assert "passages 2, from_graph 0" in lines[0]
    assert lines[0].endswith(" s")


def test_trace_shows_the_paths_between_two_ends_and_their_texts(world: WorldServer, address: str) -> None:
    result = run("trace", "from a button to table", *SCOPE, address=address)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:8] == [
        "from a button, by search: shop::main::public::a at src/all.py:1; shop::main::public::button at src/all.py:2",
        "to table: shop::main::public::table",
        "path 1, confidence 0.25",
        "  shop::main::public::a at src/all.py:1",
        "    → Calls 0.5 at src/all.py:7",
        "  shop::main::public::a.part at src/all.py:2",
        "    → Calls 0.5 at src/all.py:7",
        "  shop::main::public::table at src/all.py:3",
    ]
    assert result.stdout.count("def source_of") == 3
    requests: list[Any] = world.requests
    assert [type(request).__name__ for request in requests] == [
        "ResolveNodesRequest",
        "QueryRequest",
        "FindPathsRequest",
        "FetchNodeTextsRequest",
    ]
    assert {request.scope.active_index for request in requests[1:]} == {"version-1"}


def test_the_ends_of_a_trace_may_be_options(world: WorldServer, address: str) -> None:
    assert run("trace", "how?", *SCOPE, "--from", "cart", "--to", "table", address=address).exit_code == 0
    requests: list[Any] = world.requests
    assert list(requests[0].names) == ["cart", "table"]
    refused = run("trace", "how?", *SCOPE, address=address)
    assert refused.exit_code == 1
    assert "path-ends-missing" in refused.stderr


def test_a_session_in_which_nothing_is_saved_is_told(tmp_path: Path, address: str) -> None:
    talk = ("--session", "talk", "--history", tmp_path / "history.sqlite")
    result = run("evidence", "tax", *SCOPE, *talk, address=address)
    assert result.exit_code == 0
    assert "warning: the turn is not saved in the session 'talk': no step persist_turn_and_finalize" in result.stderr
    assert "warning: " not in run("evidence", "tax", *SCOPE, address=address).stderr


def test_json_holds_the_answer_and_its_evidence(address: str) -> None:
    result = run("evidence", "tax", *SCOPE, "--json", address=address)
    printed = json.loads(result.stdout)
    assert (printed["pipeline"], printed["index"]) == ("evidence", "version-1")
    assert printed["answer"] == "\n\n".join(printed["context_blocks"])
    node = {
        "id": "shop::main::public::tax",
        "symbol": "",
        "path": "src/all.py",
        "start_line": 1,
        "end_line": 1,
        "depth": 0,
        "handle": 1,
    }
    shown = {"tokens": 5, "shown": "def source_of('shop::main::public::tax'): ...", "is_whole": True}
    assert printed["evidence"] == [{**node, **shown}]
    assert printed["graph"] == {"nodes": [node], "edges": []}


def test_json_has_the_graph_of_what_was_found_without_a_text(tmp_path: Path, address: str) -> None:
    (tmp_path / "walks.yaml").write_text(WALKS, encoding="utf-8")
    result = run(tmp_path / "walks.yaml", "tax rules", "--json", address=address)
    printed = json.loads(result.stdout)
    assert (printed["evidence"], printed["context_blocks"]) == ([], [])
    ids = [f"shop::main::public::{name}" for name in ("tax", "rules", "tax.part", "rules.part")]
    assert [(node["id"], node["depth"], node["handle"]) for node in printed["graph"]["nodes"]] == [
        (node_id, depth, None) for node_id, depth in zip(ids, (0, 0, 1, 1), strict=True)
    ]
    assert [(edge["from"], edge["to"]) for edge in printed["graph"]["edges"]] == [(ids[0], ids[2]), (ids[1], ids[3])]
    named = "".join(f"\n- {node_id}" for node_id in ids)
    assert printed["answer"] == f"Nodes found in shop (main): 4. No step fetched their texts:{named}"


@pytest.mark.parametrize("pipeline", ["evidence", "quick_evidence"])
def test_at_300_tokens_as_much_is_shown_as_fits(address: str, pipeline: str) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    result = run(pipeline, words, *SCOPE, "--budget-tokens", "300", address=address)
    answer = result.stdout.removesuffix("\n")
    assert 150 < TokenCounter().count(answer) <= 300
    assert "def source_of" in answer


def test_nothing_found_is_said(address: str) -> None:
    result = run("evidence", "tax", *SCOPE, "--set", "max_context_tokens=5", address=address)
    limit = "max_context_tokens (--budget-tokens), which is 5"
    assert result.stdout == f"Nodes found in shop (main): 1. None of their texts fits {limit}: raise it.\n"


def test_the_budget_of_a_run_is_an_option(address: str) -> None:
    whole = run("evidence", "tax rules law", *SCOPE, address=address).stdout
    result = run("evidence", "tax rules law", *SCOPE, "--budget-tokens", "40", address=address)
    assert 0 < TokenCounter().count(result.stdout.removesuffix("\n")) <= 40 < TokenCounter().count(whole)
    assert run("evidence", "tax", *SCOPE, "--budget-tokens", "0", address=address).exit_code == 2


def test_scope_access_and_version_reach_the_server(world: WorldServer, address: str) -> None:
    access = ("--tenant", "acme", "--acl-tag", "a", "--acl-tag", "b", "--label", "internal", "--clearance", "2")
    given = (*access, "--bind", "cases=7", "--lifecycle", "deleted")
    assert run("evidence", "tax", *SCOPE, "--index", "v1", *given, "--server", address).exit_code == 0
    requests: list[Any] = world.requests
    for request in requests:
        assert (request.scope.repository, request.scope.branch, request.scope.active_index) == ("shop", "main", "v1")
        assert (request.access.tenant_id, list(request.access.acl_tags_any)) == ("acme", ["a", "b"])
        assert (list(request.access.classification_labels_all), request.access.clearance_level) == (["internal"], 2)
        assert (list(request.access.cases.values), request.lifecycle) == (["7"], scope_pb2.LIFECYCLE_DELETED)


def test_without_an_option_of_access_the_grant_of_the_server_holds(world: WorldServer, address: str) -> None:
    assert run("evidence", "tax", *SCOPE, address=address).exit_code == 0
    requests: list[Any] = world.requests
    assert [request.HasField("access") for request in requests] == [False]


def test_visibility_is_the_pipelines_unless_it_is_an_option(world: WorldServer, address: str) -> None:
    everything = ("--set", "lifecycle=all")
    assert run("quick_evidence", "tax", *SCOPE, *everything, address=address).exit_code == 0
    assert run("quick_evidence", "tax", *SCOPE, *everything, "--lifecycle", "active", address=address).exit_code == 0
    requests: list[Any] = world.requests
    assert [request.lifecycle for request in requests] == [scope_pb2.LIFECYCLE_ALL, scope_pb2.LIFECYCLE_ACTIVE]


def test_settings_of_a_run_are_json_or_text(world: WorldServer, address: str) -> None:
    settings = ("--set", "graph_share=0.5", "--set", "repository=books", "--set", 'phrasings=["VatService.Rate"]')
    assert run("evidence", "tax rules", "-b", "main", *settings, address=address).exit_code == 0
    requests: list[Any] = world.requests
    assert (requests[0].graph_share, requests[0].scope.repository) == (0.5, "books")
    assert list(requests[0].phrasings) == ["VatService.Rate"]


@pytest.mark.parametrize("value", ["[" * 100_000, "1" * 5_000])
def test_a_setting_that_json_cannot_be_read_from_is_a_text(value: str, address: str) -> None:
    result = run("evidence", "tax", *SCOPE, "--set", f"top_k={value}", address=address)
    assert (result.exit_code, "error: " in result.stderr, result.exception.__class__) == (1, True, SystemExit)


def test_finds_pipelines_in_folders_of_the_user(tmp_path: Path, address: str) -> None:
    text = "pipeline:\n  name: mine\n  extends: evidence\n  settings: {repository: books, branch: trunk}\n"
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    result = run("mine", "tax", "--folder", tmp_path, address=address)
    assert "def source_of('books::trunk::public::tax')" in result.stdout


@pytest.mark.parametrize("texts", [False, True])
def test_trace_is_a_file_of_events(tmp_path: Path, address: str, texts: bool) -> None:
    file = tmp_path / "trace.jsonl"
    flags = ["--trace-texts"] if texts else []
    run("evidence", "tax", *SCOPE, "--trace", file, *flags, address=address)
    written = file.read_text(encoding="utf-8")
    events = [json.loads(line)["event"] for line in written.splitlines()]
    assert events == ["run_started", *["step_started", "step_ended"] * 2, "run_ended"]
    assert ("def source_of" in written) == texts


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("evidence", "tax", "-r", "absent", "-b", "main"), 1, "error: server-not-found: step 'gather': no index of"),
        (("evidenc", "tax", *SCOPE), 1, "evidenc"),
        (("evidence", "tax", *SCOPE, "--set", "topk=3"), 1, "error: <run>:"),
        (("evidence", "tax", *SCOPE, "--set", f"top_k={'9' * 5_000}"), 1, "error: <run>:1: settings.top_k: must be"),
        (("evidence", "tax", *SCOPE, "--set", f"top_k={'[' * 100_000}"), 1, "error: <run>:1: settings.top_k: must be"),
        (("evidence", "tax", *SCOPE, "--set", f"x={'[' * 500}{']' * 500}"), 1, "settings.x: is nested deeper than 32"),
        (("evidence", "tax", *SCOPE, "--filter", f"x={'[' * 500}{']' * 500}"), 2, "--filter"),
        (("evidence", "tax", *SCOPE, "--set", "top_k"), 2, "'top_k' is no KEY=VALUE"),
        (("evidence", "tax", *SCOPE, "--trace", "/nowhere/trace.jsonl"), 1, "error: the trace /nowhere/trace.jsonl"),
        (("evidence", "tax", *SCOPE, "--tls-key", __file__), 2, "client_certificate and client_key belong together"),
        (("evidence", "  ", *SCOPE), 1, "error: query-empty: step 'gather':"),
    ],
)
def test_failures_are_one_line_that_says_what_to_do(
    address: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = run(*arguments, address=address)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_a_terminal_is_not_steered_by_sources() -> None:
    assert printable("\u202ea") == "\ufffda"
    assert printable("a\tb\r\n\x1b]0;title\x07\x9b1m\x7f") == "a\tb\n␛]0;title␇\ufffd1m␡"


def test_a_token_needs_tls_or_a_word_beyond_this_machine(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("aa.bb.cc")
    elsewhere = ("evidence", "tax", *SCOPE, "--token-file", token, "--set", "deadline_seconds=0.05")
    refused = run(*elsewhere, address="192.0.2.1:1")
    assert refused.exit_code == 2
    assert "--plaintext-token" in refused.stderr
    assert run(*elsewhere, "--plaintext-token", address="192.0.2.1:1").exit_code == 1
