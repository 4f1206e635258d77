"""The client of Milvus, pymilvus, kept within bounds. Nothing else imports it.

It is loaded on first use, because that takes a second and 75 MB. Two effects of loading it are undone: it reads a
`.env` file into the environment, and it logs every failed request with its traceback.
"""

import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

import grpc
import numpy as np

from groundwire_milvus.address import MilvusAddress
from groundwire_milvus.schema import DIGEST_LENGTH, CollectionSchema, Field, FieldKind
from groundwire_milvus.storage_errors import RefusedError, StorageUnavailableError

Client: TypeAlias = Any
"""The client of pymilvus, and what it makes: they have no types."""
_MOST_MESSAGE = 300
_MOST_PAUSE_MS = 1_000
"""Between two attempts to connect anew."""
_ADVICE = {
    "http": [("Socket closed", "milvus_uri must begin with https:// if Milvus expects TLS: ")],
    "https": [
        ("CERTIFICATE_VERIFY_FAILED", "milvus_ca must hold the authority that signed the certificate of Milvus: "),
        ("Hostname Verification", "the certificate of Milvus must name the host of milvus_uri: "),
        ("WRONG_VERSION_NUMBER", "milvus_uri must begin with http:// where Milvus does not expect TLS: "),
    ],
}
"""The advice, by scheme and by gRPC's text about a failed connection."""
_importing = threading.Lock()


def connect(address: MilvusAddress) -> Client:
    """A new connection."""
    trusted = {} if address.ca is None else {"server_pem_path": address.ca}
    # Of its own, because pymilvus takes any connection to the same host and port for the same, encrypted or not.
    client = _pymilvus().MilvusClient(
        uri=address.uri,
        token=address.token,
        db_name=address.database,
        timeout=address.seconds,
        dedicated=True,
        grpc_options={
            # milvus-lite ends a connection that is pinged for a minute and a half while nothing is asked, and the next
            # request fails with it.
            "grpc.keepalive_permit_without_calls": False,
            "grpc.min_reconnect_backoff_ms": round(address.seconds * 1_000),  # what an attempt to connect may take
            "grpc.max_reconnect_backoff_ms": _MOST_PAUSE_MS,
        },
        **trusted,
    )
    # pymilvus would connect anew under a lock of the process, so that requests on a lost connection would wait for one
    # another's time limits. gRPC connects anew by itself.
    client._handler._on_rpc_error = _give_up
    return client


def _give_up(error: Exception) -> bool:
    """Ends a request that failed, and has no refusal tried again."""
    if isinstance(error, grpc.RpcError):
        raise error
    return False


@contextmanager
def mapped_errors(address: MilvusAddress) -> Iterator[None]:
    """Turns what pymilvus raises into StorageUnavailableError, or RefusedError of that kind."""
    refused = _pymilvus().MilvusException
    try:
        yield
    except refused as error:
        if isinstance(error.__cause__, grpc.Call):  # the first request of a connection failed
            raise _unanswered(address, error.__cause__) from error
        # The code of an answer is a number, that of a lost connection one of gRPC's.
        if not isinstance(error.code, int):
            raise StorageUnavailableError(f"Milvus did not answer: {_on_one_line(error.message)}") from error
        raise RefusedError(f"Milvus: {_on_one_line(error.message)} (code {error.code})", int(error.code)) from error
    except grpc.RpcError as error:
        if isinstance(error, grpc.Call):
            raise _unanswered(address, error) from error
        raise StorageUnavailableError(f"Milvus did not answer: {error}") from error


def _unanswered(address: MilvusAddress, call: grpc.Call) -> StorageUnavailableError:
    """The error for a call that ended without an answer: what is wrong, and the setting that corrects it."""
    if call.code() is grpc.StatusCode.UNAUTHENTICATED:
        # Not in the words of who refuses: it was sent the token, and might repeat it.
        return StorageUnavailableError(
            f"Milvus at {address.uri} does not know this user: milvus_token_file or milvus_token must be "
            "user:password, or an API key, that Milvus accepts now"
        )
    if call.code() is grpc.StatusCode.PERMISSION_DENIED:
        return StorageUnavailableError(
            f"Milvus at {address.uri} denies this to the user of milvus_token_file or milvus_token, who must be "
            f"allowed to create, read and drop collections and aliases of the database {address.database!r}"
        )
    answer = f"{call.code().name} {_on_one_line(call.details())}"
    advice = next((rule for words, rule in _ADVICE[urlsplit(address.uri).scheme] if words in answer), "")
    return StorageUnavailableError(f"Milvus at {address.uri} did not answer: {advice}{answer}")


@cache
def _pymilvus() -> Client:
    with _importing:
        before = {name: os.environ.get(name) for name in ("PYTHON_DOTENV_DISABLED", "MILVUS_URI")}
        os.environ["PYTHON_DOTENV_DISABLED"] = "1"
        # It would end with an error where this is no address.
        os.environ.pop("MILVUS_URI", None)
        try:
            import pymilvus
            from pymilvus.client.utils import SciPyHelper

            # Where scipy is installed, it is loaded by the first sparse search; two threads at a time break that.
            SciPyHelper.is_scipy_sparse(None)
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
        for name in ("pymilvus", "pymilvus.milvus_client", "pymilvus.bulk_writer"):
            logger = logging.getLogger(name)
            logger.handlers.clear()
            # All errors that it logs are raised as well.
            logger.setLevel(logging.CRITICAL + 1)
        return pymilvus


def _on_one_line(message: object) -> str:
    return " ".join(str(message).split())[:_MOST_MESSAGE]


def milvus_schema(schema: CollectionSchema) -> Client:
    """A schema in the form of pymilvus."""
    made = _pymilvus().MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    for field in schema.fields:
        made.add_field(field.name, is_primary=field is schema.primary, **_type_of(field))
    return made


def _type_of(field: Field) -> dict[str, object]:
    kinds = _pymilvus().DataType
    match field.kind:
        case FieldKind.INTEGER:
            return {"datatype": kinds.INT64}
        case FieldKind.FLAG:
            return {"datatype": kinds.BOOL}
        case FieldKind.STRING:
            return {"datatype": kinds.VARCHAR, "max_length": field.size}
        case FieldKind.DIGESTS:
            element = {"element_type": kinds.VARCHAR, "max_length": DIGEST_LENGTH}
            return {"datatype": kinds.ARRAY, **element, "max_capacity": field.size}
        case FieldKind.DENSE:
            return {"datatype": kinds.FLOAT_VECTOR, "dim": field.size}
        case FieldKind.SPARSE:
            return {"datatype": kinds.SPARSE_FLOAT_VECTOR}


def insert_columns(
    client: Client, schema: CollectionSchema, collection: str, rows: Sequence[Mapping[str, object]], seconds: float
) -> None:
    """Inserts rows, whose sparse vectors are packed.

    To make the message, pymilvus would look at each character of a text, or at each entry of a sparse vector.
    """
    from pymilvus.grpc_gen.milvus_pb2 import InsertRequest

    request = InsertRequest(
        collection_name=collection, num_rows=len(rows), fields_data=[_column(field, rows) for field in schema.fields]
    )
    made = {"insert_param": request, "schema": {"fields": ()}}
    client._handler.batch_insert(collection, [], timeout=seconds, context=client._generate_call_context(), **made)


def _column(field: Field, rows: Sequence[Mapping[str, Any]]) -> Client:
    from pymilvus.grpc_gen import schema_pb2 as messages

    values = [row[field.name] for row in rows]
    kind: Client = int(cast("int", _type_of(field)["datatype"]))
    column = messages.FieldData(field_name=field.name, type=kind)
    match field.kind:
        case FieldKind.INTEGER:
            column.scalars.long_data.data.extend(values)
        case FieldKind.FLAG:
            column.scalars.bool_data.data.extend(values)
        case FieldKind.STRING:
            column.scalars.string_data.data.extend(values)
        case FieldKind.DIGESTS:
            column.scalars.array_data.element_type = messages.DataType.VarChar
            made = (messages.ScalarField(string_data=messages.StringArray(data=value)) for value in values)
            column.scalars.array_data.data.extend(made)
        case FieldKind.DENSE:
            column.vectors.dim = field.size
            column.vectors.float_vector.data.extend(np.concatenate(values).tolist())
        case FieldKind.SPARSE:
            column.vectors.sparse_float_vector.contents.extend(values)
            column.vectors.sparse_float_vector.dim = int(np.frombuffer(b"".join(values), "<u4")[::2].max()) + 1
    return column


def milvus_indexes(schema: CollectionSchema) -> Client:
    """The indexes of a collection; no entry of a sparse vector is dropped."""
    indexes = _pymilvus().MilvusClient.prepare_index_params()
    for field in schema.fields:
        if field.kind is FieldKind.DENSE:
            indexes.add_index(field.name, index_type=field.index.type, metric_type="IP", params=field.index.of_build)
        elif field.kind is FieldKind.SPARSE:
            params = {"inverted_index_algo": "DAAT_MAXSCORE"}
            indexes.add_index(field.name, index_type="SPARSE_INVERTED_INDEX", metric_type="IP", params=params)
    return indexes
