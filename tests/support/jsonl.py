"""Lines of JSONL sources that state their access; a node is public unless it says otherwise."""

from collections.abc import Sequence

PUBLIC: dict[str, object] = {"acl_tags": [], "classification_labels": [], "clearance_level": None, "tenant_id": ""}


def node(
    local_id: str, text: str, vector: Sequence[float] | None, kind: str = "cs", **fields: object
) -> dict[str, object]:
    """A node; without a vector when it is None."""
    record: dict[str, object] = {"type": "node", "kind": kind, "local_id": local_id, "text": text, **PUBLIC}
    return {**record, **({"vector": vector} if vector else {}), **fields}


def edge(from_key: str, to_key: str, edge_type: str, **fields: object) -> dict[str, object]:
    """An edge between two keys, `<kind>::<local id>`."""
    return {"type": "edge", "from": from_key, "to": to_key, "edge_type": edge_type, **fields}
