"""What can go wrong between Groundwire and Milvus."""

from groundwire_index.errors import OperatorError


class StorageUnavailableError(OperatorError):
    """Milvus did not do what it was asked: it is away, too slow, overloaded, or it refused."""


class CollectionMissingError(OperatorError):
    """There is no such collection: it was dropped, or never made."""


class AliasTakenError(OperatorError):
    """The alias belongs to another collection."""
