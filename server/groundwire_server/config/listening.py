"""Where calls are answered, how connections are encrypted, and by how many processes."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from groundwire_server.config.group import SettingsGroup
from groundwire_server.config.values import Address, OptionalAddress


class ListeningSettings(SettingsGroup):
    """Addresses, TLS and workers."""

    listen: Address = "127.0.0.1:50051"
    """Where calls are answered, HOST:PORT; port 0 takes a free one."""
    health_listen: OptionalAddress = ""
    """Another address, for health only, without TLS; empty for none."""
    tls_certificate: Path | None = None
    """PEM file of the server's certificate chain; without it calls are not encrypted."""
    tls_key: Path | None = None
    """PEM file of the certificate's key, without a passphrase."""
    tls_client_ca: Path | None = None
    """PEM file of the CAs whose client certificates are demanded; without it no client certificate is."""
    tls_client_crl: Path | None = None
    """PEM or DER file of revocation lists that those CAs have signed; without it no revocation is noticed."""

    workers: Annotated[int, Field(ge=1, le=256)] = 1
    """How many processes answer calls at the same address; more than one needs Linux."""

    @model_validator(mode="after")
    def _check_tls(self) -> Self:
        for setting, path, partner, partner_path in (
            ("tls_certificate", self.tls_certificate, "tls_key", self.tls_key),
            ("tls_key", self.tls_key, "tls_certificate", self.tls_certificate),
            ("tls_client_ca", self.tls_client_ca, "tls_certificate", self.tls_certificate),
            ("tls_client_crl", self.tls_client_crl, "tls_client_ca", self.tls_client_ca),
        ):
            if path is not None and partner_path is None:
                raise ValueError(f"{setting}: {path}: must be given together with {partner}")
        return self
