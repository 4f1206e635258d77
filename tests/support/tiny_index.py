"""An index of a few short texts for BM25, written in this process."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from groundwire_index.nodes.node import Location, Node, NodeAccess, content_hash
from groundwire_index.scope import Scope, canonical_id
from groundwire_index.store.store import IndexStore
from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT, tokenize
from support.index_writing import IndexContent, Lexicon, Tokens, write_index


def publish_tiny_index(data: Path, scope: Scope, nodes: Mapping[str, NodeAccess]) -> None:
    """Publishes and activates a version of nodes `invoice of NAME`, by name; each is a case of its own, by its name."""
    content = IndexContent(
        scope=scope,
        created=datetime(2026, 1, 1, tzinfo=UTC),
        source="test",
        token_counter="words",
        token_counter_fingerprint="words",
        nodes=[_node(scope, name, access) for name, access in sorted(nodes.items())],
        edges=[],
        vectors=None,
        lexicon=Lexicon(code=Tokens(TOKENIZER_FINGERPRINT, [tokenize(_text(name)) for name in sorted(nodes)])),
    )
    data.mkdir(exist_ok=True)
    store = IndexStore(data)
    with store.build(scope) as directory:
        write_index(directory, content)
    store.activate(scope)


def _node(scope: Scope, name: str, access: NodeAccess) -> Node:
    text = _text(name)
    return Node(
        id=canonical_id(scope, "cs", name),
        kind="cs",
        local_id=name,
        text=text,
        token_count=len(text.split()),
        location=Location(f"{name}.cs", 1, 1, content_hash(text)),
        case_id=name,
        access=access,
    )


def _text(name: str) -> str:
    return f"invoice of {name}"
