"""Checksums of rows, the same for what is written and for what is read back."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from groundwire_index.milvus.schema import CollectionSchema, Field, FieldKind


class RowChecksum:
    """The SHA-256 of rows of one collection, one after the other."""

    def __init__(self, schema: CollectionSchema) -> None:
        self._fields = schema.fields
        self._sha256 = hashlib.sha256()

    def add(self, row: Mapping[str, Any]) -> int:
        """Adds the next row; returns how many bytes it has, about."""
        size = 0
        for field in self._fields:
            content = _bytes_of(field, row[field.name])
            self._sha256.update(len(content).to_bytes(8, "little"))
            self._sha256.update(content)
            size += len(content)
        return size

    def hexdigest(self) -> str:
        """The checksum of all rows so far."""
        return self._sha256.hexdigest()


def _bytes_of(field: Field, value: Any) -> bytes:  # noqa: ANN401 - a value of any field
    match field.kind:
        case FieldKind.INTEGER:
            return int(value).to_bytes(8, "little", signed=True)
        case FieldKind.FLAG:
            return bytes([bool(value)])
        case FieldKind.STRING:
            return str(value).encode()
        case FieldKind.DIGESTS:
            return "\0".join(value).encode()
        case FieldKind.DENSE:
            return np.asarray(value, dtype="<f4").tobytes()
        case FieldKind.SPARSE:
            dimensions = sorted(value)
            values = [value[dimension] for dimension in dimensions]
            return np.asarray(dimensions, dtype="<u4").tobytes() + np.asarray(values, dtype="<f4").tobytes()
