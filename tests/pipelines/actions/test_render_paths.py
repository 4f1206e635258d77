from dataclasses import replace

from groundwire_client import DependencyEdge, DependencyPath, Location
from groundwire_pipelines.actions.render_paths import ACTION
from support.retrieval import FakeRetrieval, WordCounter, connected, make_runtime, make_state, run_action, text


def test_each_hop_stands_with_its_file_line_type_and_confidence() -> None:
    against = DependencyPath(("a", "c"), (DependencyEdge("c", "a", "FK", 0.9),), 0.9)
    state = make_state(paths=[*connected("ab").paths, against], node_texts=[text("a"), text("b")])
    outcome = run_action(ACTION, {}, state, make_runtime(FakeRetrieval()))
    block, *following = state.context_blocks
    assert block.splitlines() == [
        "path 1, confidence 0.5",
        "  Symbol.a at src/a.py:1-3",
        "    → Calls 0.5 at src/a.py:7",
        "  Symbol.b at src/b.py:1-3",
        "path 2, confidence 0.9",
        "  Symbol.a at src/a.py:1-3",
        "    ← FK 0.9",
        "  c",
    ]
    assert following == [
        "src/a.py\n[1] 1-3 Symbol.a\nsrc/b.py\n[2] 1-3 Symbol.b",
        "```[1]\nsource\n```",
        "```[2]\nsource\n```",
    ]
    assert outcome.detail == {"paths": 2, "path_tokens": len(block.split()), "texts": 2}


def test_a_node_is_told_by_what_is_known_of_it() -> None:
    bare = replace(text("b"), symbol="", location=Location("", 0, 0, ""))
    state = make_state(paths=list(connected("ab").paths), node_texts=[bare])
    run_action(ACTION, {}, state, make_runtime(FakeRetrieval()))
    assert state.context_blocks[0].splitlines()[1:] == [
        "  a",
        "    → Calls 0.5 at line 7 of a",
        "  b at an unknown place",
    ]


def test_that_there_is_no_path_is_said() -> None:
    state = make_state(node_texts=[text("a")])
    run_action(ACTION, {}, state, make_runtime(FakeRetrieval()))
    assert state.context_blocks[0].startswith("no path was found between the two ends")


def test_nothing_is_said_of_nothing() -> None:
    state = make_state()
    run_action(ACTION, {}, state, make_runtime(FakeRetrieval()))
    assert state.context_blocks == []


def test_paths_and_texts_fit_the_budget_together() -> None:
    state = make_state(paths=list(connected("ab", "ac", "ad").paths), node_texts=[text("a"), text("b"), text("c")])
    run_action(ACTION, {}, state, make_runtime(FakeRetrieval(), max_context_tokens=40))
    assert state.context_blocks[0].splitlines()[0] == "path 1, confidence 0.5"
    assert "path 2" not in state.context_blocks[0]
    assert state.shown
    assert WordCounter().count("\n\n".join(state.context_blocks)) <= 40
