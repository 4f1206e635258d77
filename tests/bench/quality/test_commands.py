"""The runner from end to end: the real programs, over the wire, on a corpus that brings its vectors."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.quality.measurement import MODES, UnknownModeError, chosen_modes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
WORDS = ("amber", "birch", "cedar", "delta")
NAMES = [f"read_{first}_{second}" for first in WORDS for second in (*WORDS, "ember")]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench.quality", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty functions; the vectors of queries 0 to 4 point at their functions, those of 5 to 9 at others."""
    folder = tmp_path_factory.mktemp("runner")
    documents, queries = [], []
    for number, name in enumerate(NAMES):
        vector = [float(number == place) + 0.01 for place in range(len(NAMES))]
        text = f"def {name}(): return {name.replace('_', ' ')}"
        documents.append({"id": f"f{number}", "text": text, "symbol": name, "kind": "py", "vector": vector})
        words = name.replace("_", " ")
        if number < 10:
            query_vector = vector if number < 5 else [1.01 - value for value in vector]
            part = ["near"] if number < 5 else ["far"]
            queries.append(
                {"query": f"how to {words}", "relevant": [f"f{number}"], "vector": query_vector, "parts": part}
            )
    for file, lines in (("corpus.jsonl", documents), ("queries.jsonl", queries)):
        (folder / file).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def results(files: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Means by part and mode."""
    done = run("run", files / "corpus.jsonl", files / "queries.jsonl", "--out", files / "out", "--embedder", "none")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "adaptive" in done.stdout
    assert (
        (files / "out" / "queries.md")
        .read_text(encoding="utf-8")
        .startswith("**queries, 20 documents, all: 10 queries**")
    )
    content = json.loads((files / "out" / "queries.json").read_text(encoding="utf-8"))
    return {part["part"]: {name: mode["means"] for name, mode in part["modes"].items()} for part in content["parts"]}


def test_every_mode_but_the_reranked_runs(results: dict[str, dict[str, dict[str, float]]]) -> None:
    assert list(results) == ["all", "far", "near"]
    assert list(results["all"]) == [name for name in MODES if name != "adaptive+rerank"]


@pytest.mark.parametrize("mode", ["dense", "search_semantic"])
def test_dense_modes_go_where_the_vectors_point(mode: str, results: dict[str, dict[str, dict[str, float]]]) -> None:
    assert results["near"][mode]["ndcg_10"] == 1.0
    assert results["far"][mode]["ndcg_10"] == 0.0


@pytest.mark.parametrize("mode", ["bm25_code", "bm25_prose", "search_bm25"])
def test_lexical_modes_find_the_words_wherever_vectors_point(
    mode: str, results: dict[str, dict[str, dict[str, float]]]
) -> None:
    assert results["near"][mode]["hit_3"] == 1.0
    assert results["far"][mode]["hit_3"] == 1.0


def test_look_ups_are_drawn_and_found(files: Path) -> None:
    done = run("look-ups", files / "corpus.jsonl", files / "names", "--count", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    drawn = [json.loads(line) for line in (files / "names" / "names.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(drawn) == 5
    assert {line["query"] for line in drawn} < set(NAMES)
    queries, out = files / "names" / "typos.jsonl", files / "out"
    options = ("--mode", "trigram", "--baseline", "bm25_code", "--measure", "mrr_10", "--embedder", "none")
    done = run("run", files / "corpus.jsonl", queries, "--out", out, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    (part, _) = json.loads((out / "typos.json").read_text(encoding="utf-8"))["parts"]
    assert part["modes"]["trigram"]["means"]["hit_3"] == 1.0


def test_bad_input_ends_with_a_message(files: Path, tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"query": "x", "relevant": ["nowhere"]}\n', encoding="utf-8")
    done = run("run", files / "corpus.jsonl", tmp_path / "queries.jsonl", "--out", tmp_path / "out")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "must name documents of the corpus" in " ".join(done.stdout.split())


def test_the_baseline_is_among_the_chosen_modes() -> None:
    assert list(chosen_modes(["adaptive"], "rrf", "")) == ["rrf", "adaptive"]


def test_reranking_needs_a_reranker() -> None:
    assert "adaptive+rerank" in chosen_modes(None, "rrf", "some-model")
    assert "adaptive+rerank" not in chosen_modes(None, "rrf", "")
    with pytest.raises(UnknownModeError, match="adaptive\\+rerank: must be among"):
        chosen_modes(["adaptive+rerank"], "rrf", "")
    with pytest.raises(UnknownModeError, match="fastest: must be among"):
        chosen_modes(None, "fastest", "")
