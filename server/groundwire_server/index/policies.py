"""Policy classes: the distinct access demands of an index, so that visibility is judged per class (design §4)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from groundwire_server.domain.access import AccessContext, NodeAccess, may_see
from groundwire_server.index.errors import IndexDamagedError

POLICIES_FILE = "policies.json"
_ADAPTER: TypeAdapter[tuple[NodeAccess, ...]] = TypeAdapter(tuple[NodeAccess, ...])


def intern(demands: Sequence[NodeAccess]) -> tuple[tuple[NodeAccess, ...], NDArray[np.int32]]:
    """The distinct demands, sorted, and each node's position among them."""
    classes = sorted(set(demands), key=_order)
    positions = {demand: position for position, demand in enumerate(classes)}
    return tuple(classes), np.asarray([positions[demand] for demand in demands], dtype=np.int32)


def write_policies(directory: Path, classes: tuple[NodeAccess, ...]) -> None:
    """Writes the policy classes into an index directory."""
    (directory / POLICIES_FILE).write_bytes(_ADAPTER.dump_json(classes, indent=1) + b"\n")


def read_policies(directory: Path) -> tuple[NodeAccess, ...]:
    """Reads the policy classes of an index or of what is left of a deleted one. Raises IndexDamagedError."""
    try:
        return _ADAPTER.validate_json((directory / POLICIES_FILE).read_bytes())
    except (OSError, ValidationError) as error:
        raise IndexDamagedError(f"{POLICIES_FILE}: {error}") from error


def visible_classes(classes: Sequence[NodeAccess], caller: AccessContext) -> NDArray[np.bool_]:
    """For each class, whether the caller may see its nodes."""
    return np.fromiter((may_see(demand, caller) for demand in classes), dtype=np.bool_, count=len(classes))


def _order(demand: NodeAccess) -> tuple[str, tuple[str, ...], tuple[str, ...], int]:
    return demand.tenant_id, demand.acl_tags, demand.classification_labels, demand.clearance_level
