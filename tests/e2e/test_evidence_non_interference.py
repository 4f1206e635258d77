"""What a caller may not see changes nothing in the evidence: neither what is shown, nor how much of it, nor the edges.

One server answers over a whole index and over one that never held the hidden nodes.
"""

import random
from collections.abc import Iterable, Iterator

import pytest

from groundwire.tokens import TokenCounter
from groundwire_client import AccessContext
from groundwire_index.scope import Scope
from groundwire_ingest.jsonl.jsonl import JsonlSource
from groundwire_pipelines import Pipeline, PipelineResult
from support.program import Server, write_jsonl
from support.storage import NewStorage

WORDS = "invoice tax total order customer payment refund deploy".split()
EDGE_TYPES = ("Calls", "Contains", "RedefinedBy")
BUDGET = 600
SEEDS = range(4)


def records(seed: int) -> list[dict[str, object]]:
    """Forty functions in ten files; a third of them belong to a tenant, and those match best and call the most."""
    draw = random.Random(seed)
    nodes: list[dict[str, object]] = []
    for number in range(40):
        hidden = number % 3 == 0
        words = [draw.choice(WORDS) for _ in range(draw.choice((4, 20, 150)))] + ["invoice"] * (9 if hidden else 1)
        nodes.append(
            {
                "type": "node",
                "kind": "py",
                "local_id": f"n{number:02}",
                "text": f"def n{number}():\n" + "\n".join(f"    {word}()" for word in words),
                "symbol": f"n{number}",
                "path": f"src/f{number % 10}.py",
                "start_line": number + 1,
                "end_line": number + 1 + len(words),
                "tenant_id": "acme" if hidden else "",
            }
        )
    edges: list[dict[str, object]] = [
        {"type": "edge", "from": f"py::n{a:02}", "to": f"py::n{b:02}", "edge_type": draw.choice(EDGE_TYPES)}
        for a in range(40)
        for b in draw.sample(range(40), 12 if a % 3 == 0 else 2)
        if a != b
    ]
    return [*nodes, *edges]


def visible(all_records: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """The records without the tenant's nodes and their edges."""
    kept = [record for record in all_records if record.get("tenant_id", "") == ""]
    known = {f"py::{record['local_id']}" for record in kept if record["type"] == "node"}
    return [record for record in kept if record["type"] == "node" or {record["from"], record["to"]} <= known]


@pytest.fixture(scope="module")
def server(new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over the whole and the trimmed index of each seed, each a branch."""
    folder = tmp_path_factory.mktemp("evidence")
    storage = new_storage(folder / "data")
    for seed in SEEDS:
        for branch, lines in ((f"whole{seed}", records(seed)), (f"trimmed{seed}", visible(records(seed)))):
            source = write_jsonl(folder / f"{branch}.jsonl", lines)
            storage.build(JsonlSource(source), Scope("shop", branch, "v1"))
    with storage.server("--embedder", "none") as server:
        yield server


@pytest.mark.parametrize("name", ["evidence", "quick_evidence"])
def test_hidden_nodes_change_nothing_in_the_evidence(name: str, server: Server) -> None:
    from_graph: list[bool] = []
    pipeline = Pipeline.load(name, max_context_tokens=BUDGET)

    def ask(branch: str, access: AccessContext) -> PipelineResult:
        question = "How is the invoice of a customer made?"
        return pipeline.run(question, server=server.address, repository="shop", branch=branch, access=access)

    for seed in SEEDS:
        whole, trimmed = ask(f"whole{seed}", AccessContext()), ask(f"trimmed{seed}", AccessContext())
        assert whole.answer == trimmed.answer
        assert 0.5 * BUDGET < TokenCounter().count(whole.answer) <= BUDGET
        assert ask(f"whole{seed}", AccessContext(tenant_id="acme")).answer != whole.answer
        from_graph.append(any(shown.node.depth for shown in whole.evidence))
    assert any(from_graph) == (name == "evidence")
