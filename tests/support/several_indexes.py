"""Some indexes, and one that holds the nodes of all of them."""

import random

from google.protobuf.message import Message

from groundwire.v1.scope_pb2 import IndexScope
from support.jsonl import edge, node

PARTS = ("team-a", "team-b", "team-c")
WHOLE = IndexScope(repository="whole", branch="main")
ALL_PARTS = [IndexScope(repository=name, branch="main") for name in PARTS]
WORDS = ["invoice", "tax", "refund", "ledger", "getUserById", "the", "Billing", "rate"]
AUDITOR = "auditor"


def records_of(part: str, seed: int) -> list[dict[str, object]]:
    """Nodes with everything that ranking reads. Local ids and documents begin with the part: so ids have one order."""
    rng = random.Random(seed)
    nodes = [
        node(
            f"{part}/{number:02}",
            " ".join(rng.choices(WORDS, weights=range(1, 9), k=rng.randint(1, 40))),
            [rng.choice((-1.0, 0.0, 0.5, 1.0)) for _ in range(3)] + [1.0],
            path=f"{part}/{rng.choice('xyz')}.cs",
            start_line=number + 1,
            end_line=number + 1,
            symbol=rng.choice(["Billing.Invoice", "Tax", "getUserById", f"Own{number}"]),
            repo_name="any",
            document_id=f"{part}/{rng.choice('xyz')}",
            chunk_index=number,
            corpus_type=rng.choice(["CODE_LOGIC", "DOC_README", "CONVO_SLACK"]),
            service_name=rng.choice(["", "web", "billing"]),
            is_test=rng.random() < 0.2,
            is_generated=rng.random() < 0.1,
            deleted=rng.random() < 0.15,
            acl_tags=["finance"] if rng.random() < 0.3 else [],
            **({"timestamp": "2025-05-01T00:00:00Z"} if rng.random() < 0.3 else {}),
        )
        for number in range(rng.randint(5, 25))
    ]
    keys = [f"cs::{record['local_id']}" for record in nodes]
    edges = {(rng.choice(keys), rng.choice(keys), rng.choice(["Calls", "Contains"])) for _ in range(30)}
    return nodes + [edge(*ends, confidence=rng.choice([0.5, 0.9, 1.0])) for ends in sorted(edges) if ends[0] < ends[1]]


def as_of_whole(response: Message) -> str:
    """A response that names the parts, or a node of one, as one of the whole."""
    text = str(response)
    for name in PARTS:
        text = text.replace(f'"{name}::main::', '"whole::main::')
    return text
