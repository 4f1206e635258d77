"""`groundwire serve`: answer calls until a signal to stop."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from groundwire_cli.options import EXIT_USAGE, fail, reporting_failures
from groundwire_cli.storage_options import with_storage_flags

# None throughout: a flag that was not given leaves the setting to the environment, the file or its default.


@with_storage_flags
def serve(
    data: Annotated[Path | None, typer.Option(help="The folder that holds the indexes.")] = None,
    listen: Annotated[str | None, typer.Option(help="HOST:PORT to answer calls at; port 0 takes a free one.")] = None,
    health_listen: Annotated[str | None, typer.Option(help="A second HOST:PORT, which answers only health.")] = None,
    metrics_listen: Annotated[str | None, typer.Option(help="HOST:PORT that shows metrics to Prometheus.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that answer calls at the same address.")] = None,
    config: Annotated[
        Path | None, typer.Option(help="YAML file of settings; flags and GROUNDWIRE_* variables override it.")
    ] = None,
    embedder: Annotated[
        list[str] | None, typer.Option(help="Model to embed queries with, by name or path; repeatable; none for none.")
    ] = None,
    reranker: Annotated[
        str | None, typer.Option(help="The reranker: a cross-encoder by name or path, or the URL of a service.")
    ] = None,
    tls_certificate: Annotated[Path | None, typer.Option(help="PEM certificate chain; without it, plaintext.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM key of the certificate.")] = None,
    tls_client_ca: Annotated[Path | None, typer.Option(help="PEM CAs; demands client certificates.")] = None,
    allow_admin: Annotated[
        bool | None,
        typer.Option("--allow-admin/--no-allow-admin", help="Allow callers to activate and delete indexes."),
    ] = None,
    log_format: Annotated[str | None, typer.Option(help="json or console.")] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.")] = None,
    *,
    storage: Mapping[str, object],
) -> None:
    """Answer calls over the indexes of a data folder. SIGTERM drains: running calls end, new ones go elsewhere."""
    with reporting_failures():
        from groundwire_server.config import SettingsError, load_settings
        from groundwire_server.rpc.supervision.supervisor import supervise
    try:
        settings = load_settings(
            config,
            data=data,
            **storage,
            listen=listen,
            health_listen=health_listen,
            metrics_listen=metrics_listen,
            workers=workers,
            embedders=",".join(embedder) if embedder else None,
            reranker=reranker,
            tls_certificate=tls_certificate,
            tls_key=tls_key,
            tls_client_ca=tls_client_ca,
            allow_admin=allow_admin,
            log_format=log_format,
            log_level=log_level,
        )
    except SettingsError as error:
        fail(str(error), EXIT_USAGE)
    if settings.workers > 1:
        raise typer.Exit(supervise(settings))
    # Not at the top: the supervisor of workers does without gRPC.
    from groundwire_server.rpc.serving.serve import serve as serve_alone

    raise typer.Exit(serve_alone(settings))
