"""Where the commands find indexes: in a data folder or in Milvus, by options that they share with the settings."""

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from groundwire_index.commands.options import DEFAULT_DATA, EXIT_USAGE, Data, fail
from groundwire_index.milvus.address import SECONDS, MilvusAddress, check_ca, check_uri, token_in

Value = TypeVar("Value", str, Path)

TOKEN_VARIABLE = "GROUNDWIRE_MILVUS_TOKEN"


class Backend(Enum):
    """What holds indexes."""

    EMBEDDED = "embedded"
    MILVUS = "milvus"


@dataclass(frozen=True, slots=True)
class Storage:
    """A data folder, and the Milvus that holds the indexes; without one they lie in the folder."""

    data: Path
    milvus: MilvusAddress | None


def with_storage(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command, in place of its argument `storage`, the options that say where indexes are."""
    signature = inspect.signature(command, eval_str=True)
    options = inspect.signature(_storage, eval_str=True).parameters
    own = [parameter for name, parameter in signature.parameters.items() if name != "storage"]

    @functools.wraps(command)
    def run(**values: object) -> None:
        storage = _storage(**{name: values.pop(name) for name in options})  # type: ignore[arg-type]
        command(**values, storage=storage)

    run.__signature__ = signature.replace(parameters=[*own, *options.values()])  # type: ignore[attr-defined]
    return run


def _storage(
    *,
    data: Data = DEFAULT_DATA,
    backend: Annotated[
        Backend,
        typer.Option(envvar="GROUNDWIRE_BACKEND", help="The storage of indexes: the data folder, or Milvus."),
    ] = Backend.EMBEDDED,
    milvus_uri: Annotated[
        str,
        typer.Option(envvar="GROUNDWIRE_MILVUS_URI", help="Where Milvus is: http://HOST:PORT or https://HOST:PORT."),
    ] = "",
    milvus_database: Annotated[
        str, typer.Option(envvar="GROUNDWIRE_MILVUS_DATABASE", help="The database of Milvus that holds the indexes.")
    ] = "default",
    milvus_token_file: Annotated[
        Path | None,
        typer.Option(
            envvar="GROUNDWIRE_MILVUS_TOKEN_FILE",
            help=f"File of `user:password` or an API key; or set the variable {TOKEN_VARIABLE}.",
        ),
    ] = None,
    milvus_ca: Annotated[
        Path | None, typer.Option(envvar="GROUNDWIRE_MILVUS_CA", help="PEM file of the CAs that https trusts.")
    ] = None,
    milvus_seconds: Annotated[
        float,
        typer.Option(envvar="GROUNDWIRE_MILVUS_SECONDS", min=0.001, help="How long one request that reads may take."),
    ] = SECONDS,
) -> Storage:
    if backend is Backend.EMBEDDED:
        return Storage(data, None)
    if not milvus_uri:
        fail("--milvus-uri must be given with --backend milvus", EXIT_USAGE)
    token = os.environ.get(TOKEN_VARIABLE, "")
    if token and milvus_token_file is not None:
        fail(f"{TOKEN_VARIABLE} must not be set together with --milvus-token-file", EXIT_USAGE)
    address = MilvusAddress(
        uri=_checked("--milvus-uri", check_uri, milvus_uri),
        database=milvus_database,
        token=token if milvus_token_file is None else _checked("--milvus-token-file", token_in, milvus_token_file),
        ca=None if milvus_ca is None else _checked("--milvus-ca", partial(check_ca, milvus_uri), milvus_ca),
        seconds=milvus_seconds,
    )
    return Storage(data, address)


def _checked(option: str, rule: Callable[[Value], str], value: Value) -> str:
    try:
        return rule(value)
    except ValueError as error:
        fail(f"{option} {error}", EXIT_USAGE)


STORAGE_OPTIONS = tuple(inspect.signature(_storage).parameters)
"""The names of the options that say where indexes are."""
