"""The operator's mapping file of the access mode `mtls`: it maps client certificates to grants."""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from groundwire_configuration.yaml_model import StrictModel
from groundwire_server.domain.access.access import BOUNDS, Bounds
from groundwire_server.domain.access.grants import Caller, Grant, Scopes
from groundwire_server.domain.access.name_sets import ANY, Names
from groundwire_server.rpc.identity.certificate_names import CertificateNames
from groundwire_server.rpc.identity.claim_mapping import Level, Name, ScopePattern

_URI = re.compile(r"[a-z][a-z0-9+.-]*://[^/*]+(?:/[^*]*\*?)?")
_DNS = re.compile(r"(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


def _check_uri(uri: str) -> str:
    if not _URI.fullmatch(uri):
        raise ValueError("must be scheme://authority/path; `*` is allowed only at the end of the path")
    return uri


def _check_dns(name: str) -> str:
    if not _DNS.fullmatch(name.lower()):
        raise ValueError("must be a DNS name; `*.` is allowed before it")
    return name.lower()


class CertificatePattern(StrictModel):
    """A URI whose end may be a wildcard, or a DNS name whose first label may be one.

    A wildcard never covers the part of a name that says which authority issued it.
    """

    uri: Annotated[str, AfterValidator(_check_uri)] | None = None
    dns: Annotated[str, AfterValidator(_check_dns)] | None = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.uri is None) == (self.dns is None):
            raise ValueError("must have either `uri` or `dns`")
        return self

    def match(self, names: CertificateNames) -> str | None:
        """The first of the names that matches; None when none does."""
        if self.uri is not None:
            uris = Names.parse([self.uri])
            return next((uri for uri in names.uris if uri in uris), None)
        return next((name for name in names.dns_names if name == self.dns or self._covers(name)), None)

    def _covers(self, name: str) -> bool:
        first, dot, parent = name.partition(".")
        return bool(first and dot) and f"{ANY}.{parent}" == self.dns


class _Caller(StrictModel):
    """The callers whose certificates match a pattern, and what they are granted.

    A bound, such as `collections`, binds if it is present, even without a value.
    """

    certificate: CertificatePattern
    tenants: list[Name] = Field(default_factory=list)
    acl_tags: list[Name] = Field(default_factory=list)
    classification_labels: list[Name] = Field(default_factory=list)
    clearance_level: Level = 0
    collections: list[Name] = Field(default_factory=list)
    cases: list[Name] = Field(default_factory=list)
    documents: list[Name] = Field(default_factory=list)
    workflows: list[Name] = Field(default_factory=list)
    document_versions: list[Name] = Field(default_factory=list)
    scopes: Annotated[list[ScopePattern], Field(min_length=1)]
    administration: list[ScopePattern] = Field(default_factory=list)

    @property
    def grant(self) -> Grant:
        return Grant(
            tenants=Names.parse(self.tenants),
            acl_tags=Names.parse(self.acl_tags),
            classification_labels=Names.parse(self.classification_labels),
            clearance_level=self.clearance_level,
            scopes=Scopes.parse(self.scopes),
            administration=Scopes.parse(self.administration),
            bounds=Bounds(
                **{name: Names.parse(getattr(self, name)) for name in BOUNDS if name in self.model_fields_set}
            ),
        )


class CertificateMapping(StrictModel):
    """The file. The first caller whose pattern matches applies."""

    callers: Annotated[list[_Caller], Field(min_length=1)]
    trusted_proxies: list[CertificatePattern] = Field(default_factory=list)

    def caller(self, names: CertificateNames) -> Caller | None:
        """The first caller that matches, known by the name that matches; None when none does."""
        for caller in self.callers:
            name = caller.certificate.match(names)
            if name is not None:
                return Caller(name, caller.grant)
        return None

    def is_proxy(self, names: CertificateNames) -> bool:
        """True if the certificate belongs to a trusted proxy."""
        return any(pattern.match(names) is not None for pattern in self.trusted_proxies)
