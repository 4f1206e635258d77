"""All settings together."""

from collections.abc import Mapping
from typing import Self

from pydantic import model_validator

from groundwire_server.config.access import AccessSettings
from groundwire_server.config.listening import CallSettings, ListeningSettings
from groundwire_server.config.retrieval import QuerySettings, RetrievalSettings
from groundwire_server.config.storage import StorageSettings
from groundwire_server.config.telemetry import TelemetrySettings


# Pydantic takes the fields of the last base first: so they are in the order of docs/settings.md.
class Settings(
    TelemetrySettings,
    CallSettings,
    QuerySettings,
    RetrievalSettings,
    AccessSettings,
    ListeningSettings,
    StorageSettings,
):
    """Everything that an operator may change. Making one reads no environment and no file; `load_settings` does."""

    @model_validator(mode="after")
    def _check_identity(self) -> Self:
        """Each access mode has all that it needs, and no setting is given that only another mode uses."""
        needs: Mapping[str, tuple[str, ...]] = {
            "trusted": (),
            "jwt": ("access_mapping", "jwt_keys", "jwt_issuer", "jwt_audiences"),
            "mtls": ("access_mapping", "tls_client_ca"),
        }
        for setting in needs[self.access_mode]:
            if not getattr(self, setting):
                raise ValueError(f"{setting}: must be given in the access mode {self.access_mode}")
        for setting in ("access_mapping", "jwt_keys", "jwt_issuer", "jwt_audiences"):
            value = getattr(self, setting)
            if value and setting not in needs[self.access_mode]:
                raise ValueError(
                    f"{setting}: {value}: has no use in the access mode {self.access_mode}; set access_mode"
                )
        return self

    @model_validator(mode="after")
    def _check_audit_of_workers(self) -> Self:
        if self.audit != "off" and self.workers > 1 and self.audit_file is None:
            raise ValueError(
                "audit_file: must be given with several workers; their records could mix on standard output"
            )
        return self
