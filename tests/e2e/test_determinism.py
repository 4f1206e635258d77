"""The same source indexed twice and served twice gives the same bytes to the same requests.

The two sides differ in everything that must not matter: hash seed, processes and threads, order of the source's lines,
how much of the embedding cache is warm, and load; and the second may hold its indexes in Milvus. Of a query's answer
the timings are left out.
"""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle

import grpc
import pytest

from groundwire.v1 import evidence_pb2, query_pb2
from groundwire.v1 import retrieval_pb2 as messages
from groundwire.v1.scope_pb2 import AccessContext, IndexScope, NodeFilter
from support.program import Server, write_jsonl
from support.storage import NewStorage, Storage
from support.workers import separate_channel

pytestmark = pytest.mark.slow

METHODS = "/groundwire.v1.RetrievalService/"
QUERY, EVIDENCE = (f"/groundwire.v1.QueryService/{method}" for method in ("Query", "GatherEvidence"))
VERBS, NOUNS = ("create", "total", "delete", "find"), ("Invoice", "Tax", "User", "Shipment", "Order")
RESTART_SECONDS = 300
COMMON = ("--repository", "shop", "--branch", "main", "--version", "v1")


def _records() -> list[dict[str, object]]:
    random_ = random.Random(7)
    names = [f"{noun}.{verb}{number}" for noun in NOUNS for verb in VERBS for number in range(4)]
    nodes: list[dict[str, object]] = [
        {
            "type": "node",
            "kind": "cs",
            "local_id": name,
            "text": f"void {name.split('.')[1]}{noun}() {{ /* {' '.join(random_.choices(VERBS + NOUNS, k=9))} */ }}",
            "path": f"src/{noun}.cs",
            "acl_tags": random_.choice(([], [], ["finance"])),
            "service_name": noun.lower(),
            "corpus_type": random_.choice(("CODE_LOGIC", "CONVO_SLACK")),
            "timestamp": f"2025-0{random_.randrange(1, 6)}-01T00:00:00Z",
            "metadata": {"team": random_.choice("abc"), "size": number},
        }
        for number, name in enumerate(names)
        for noun in [name.split(".")[0]]
    ]
    edges: list[dict[str, object]] = [
        {"type": "edge", "from": f"cs::{a}", "to": f"cs::{b}", "edge_type": random_.choice(("Calls", "Reads"))}
        for a in names
        for b in random_.sample(names, 3)
    ]
    return [*nodes, *edges]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The answers of a server over the one build, which lies in a folder, to one request after another."""
    folder = tmp_path_factory.mktemp("determinism")
    storage, source = Storage(folder / "data"), write_jsonl(folder / "a.jsonl", _records())
    storage.run_ok("index", source, *COMMON, environment={"PYTHONHASHSEED": "1"})
    with storage.server(environment={"PYTHONHASHSEED": "3"}) as server:
        answers = _answers(server, at_a_time=1)
        assert len(set(answers)) > 150
        assert _answers(server, at_a_time=8) == answers
    return answers


@pytest.fixture(scope="module")
def other(new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory) -> Storage:
    """The other build, whose lines are in another order; a third of its texts were embedded by an earlier one."""
    folder = tmp_path_factory.mktemp("determinism")
    storage, records = new_storage(folder / "data"), _records()
    nodes = [record for record in records if record["type"] == "node"]
    part = write_jsonl(folder / "part.jsonl", nodes[::3])
    storage.run_ok("index", part, "--repository", "shop", "--branch", "warm-up")
    shuffled = write_jsonl(folder / "b.jsonl", random.Random(1).sample(records, len(records)))
    storage.run_ok("index", shuffled, *COMMON, environment={"PYTHONHASHSEED": "2", "OMP_NUM_THREADS": "2"})
    return storage


def _requests() -> Iterator[tuple[str, bytes]]:
    ids = [f"shop::main::cs::{record['local_id']}" for record in _records() if record["type"] == "node"]
    random_ = random.Random(11)
    scope = IndexScope(repository="shop", branch="main")
    for number in range(200):
        access = random_.choice((None, AccessContext(acl_tags_any=["finance"])))
        if number % 5 == 4:
            yield QUERY, _query(random_, scope, access).SerializeToString()
            yield EVIDENCE, _evidence(random_, scope, access).SerializeToString()
        elif number % 4 == 0:
            expand = messages.ExpandDependencyTreeRequest(
                scope=scope,
                access=access,
                seed_ids=random_.sample(ids, 3),
                max_depth=random_.randrange(4),
                max_nodes=random_.randrange(1, 60),
                edge_allowlist=random_.choice((["*"], ["Calls"])),
                direction=messages.EdgeDirection.Name(random_.randrange(1, 4)),
            )
            yield f"{METHODS}ExpandDependencyTree", expand.SerializeToString()
            paths = messages.FindPathsRequest(
                scope=scope,
                access=access,
                from_ids=random_.sample(ids, 4),
                to_ids=random_.sample(ids, 4),
                max_hops=random_.randrange(1, 6),
                max_paths=random_.randrange(1, 30),
                max_nodes=random_.choice((5, 60)),
                edge_allowlist=random_.choice((["*"], ["Calls"])),
                direction=messages.EdgeDirection.Name(random_.randrange(1, 4)),
            )
            yield f"{METHODS}FindPaths", paths.SerializeToString()
        elif number % 4 == 1:
            fetch = messages.FetchNodeTextsRequest(
                scope=scope, access=access, seed_ids=random_.sample(ids, 9), budget_tokens=random_.randrange(20, 400)
            )
            yield f"{METHODS}FetchNodeTexts", fetch.SerializeToString()
        else:
            search_type = random_.randrange(1, 4)
            search = messages.SearchNodesRequest(
                scope=scope,
                access=access,
                search_type=messages.SearchType.Name(search_type),
                rerank=messages.Rerank.Name(random_.choice((0, 2)) if search_type == 1 else 0),
                query=" ".join(random_.choices(VERBS + NOUNS, k=3)),
                top_k=random_.randrange(1, 30),
                filter=random_.choice((None, NodeFilter(path_prefixes=["src/In"]))),
                explain=random_.random() < 0.5,
            )
            yield f"{METHODS}SearchNodes", search.SerializeToString()


def _evidence(
    random_: random.Random, scope: IndexScope, access: AccessContext | None
) -> evidence_pb2.GatherEvidenceRequest:
    evidence = evidence_pb2.GatherEvidenceRequest(
        scope=scope,
        access=access,
        question=" ".join(random_.choices(VERBS + NOUNS, k=3)),
        phrasings=random_.choices(VERBS + NOUNS, k=2),
        budget_tokens=random_.randrange(200, 900),
        explain=random_.random() < 0.5,
    )
    evidence.now.FromJsonString("2025-06-01T00:00:00Z")
    return evidence


def _query(random_: random.Random, scope: IndexScope, access: AccessContext | None) -> query_pb2.QueryRequest:
    request = query_pb2.QueryRequest(
        scope=scope,
        access=access,
        query=" ".join(random_.choices(VERBS + NOUNS, k=random_.randrange(1, 4))),
        hybrid=query_pb2.HybridParameters(diversify_strength=random_.choice((0.0, 0.4))),
        top_k=random_.randrange(1, 30),
        fusion=query_pb2.FusionMode.Name(random_.randrange(0, 4)),
        include_neighbors=random_.random() < 0.5,
        expand_graph=random_.random() < 0.5,
    )
    request.now.FromJsonString("2025-06-01T00:00:00Z")
    return request


def _answers(server: Server, at_a_time: int) -> list[bytes]:
    """The answers, asked for over as many connections, which the kernel spreads over the server's workers."""
    with ExitStack() as stack, ThreadPoolExecutor(at_a_time) as pool:
        channels = cycle([stack.enter_context(separate_channel(server.address)) for _ in range(at_a_time)])
        return list(
            pool.map(
                lambda channel_and_request: _answer(channel_and_request[0], *channel_and_request[1]),
                zip(channels, _requests(), strict=False),
            )
        )


def _answer(channel: grpc.Channel, method: str, request: bytes) -> bytes:
    answer: bytes = channel.unary_unary(method)(request, timeout=300)
    if method != QUERY:
        return answer
    response = query_pb2.QueryResponse.FromString(answer)
    response.meta.ClearField("took_ms")
    return response.SerializeToString()


def _await_answers(server: Server) -> None:
    """Returns once the server answers: it needs a moment where what it reads from was started again."""
    method, request = next(_requests())
    end = time.monotonic() + RESTART_SECONDS
    with separate_channel(server.address) as channel:
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
        while call.future(request, timeout=300).code() is grpc.StatusCode.UNAVAILABLE:
            assert time.monotonic() < end
            time.sleep(0.1)


def test_two_builds_in_two_processes_give_the_same_bytes(alone: list[bytes], other: Storage) -> None:
    environment = {"PYTHONHASHSEED": "4", "GROUNDWIRE_WORKER_THREADS": "1", "OMP_NUM_THREADS": "2"}
    with other.server("--workers", "2", environment=environment) as server:
        assert _answers(server, at_a_time=8) == alone


def test_what_is_started_again_gives_the_same_bytes(alone: list[bytes], other: Storage) -> None:
    with other.server() as server:
        _await_answers(server)
        other.restart()
        _await_answers(server)
        assert _answers(server, at_a_time=8) == alone
