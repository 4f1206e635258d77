"""Which nodes a question is about: those in force, those withdrawn, or both."""

from enum import Enum


class Lifecycle(Enum):
    """Nodes that the source has deleted are left out unless a caller who may asks for them."""

    ACTIVE = "active"
    ALL = "all"
    DELETED = "deleted"
