"""The errors between Groundwire and Milvus."""

from groundwire_index.operator_errors import OperatorError


class StorageUnavailableError(OperatorError):
    """Milvus did not do what it was asked: it is away, too slow, overloaded, or it refused."""


class RefusedError(StorageUnavailableError):
    """Milvus answered, and refused with a code of its own."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class CollectionMissingError(OperatorError):
    """There is no such collection: it was dropped, or never made."""


class AliasTakenError(OperatorError):
    """The alias belongs to another collection."""
