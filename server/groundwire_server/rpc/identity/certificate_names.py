r"""The names that a certificate was signed for, from the parsed certificate.

gRPC gives names too, but as strings that end at a NUL: `spiffe://mesh/a\0.evil` would be taken for `spiffe://mesh/a`.
"""

import re
from dataclasses import dataclass

from cryptography import x509

from groundwire_server.rpc.identity.authenticator import refused
from groundwire_server.rpc.identity.revocation_lists import UNREADABLE

_NO_PART_OF_A_NAME = re.compile(r"[^\x20-\x7e]")


@dataclass(frozen=True, slots=True)
class CertificateNames:
    """The alternative names that a certificate was signed for; DNS names in lower case."""

    uris: tuple[str, ...] = ()
    dns_names: tuple[str, ...] = ()


def names_of(pem: bytes) -> CertificateNames:
    """The names of a certificate in PEM. Raises UnauthenticatedError when it or its names cannot be read."""
    try:
        names = _alternative_names(x509.load_pem_x509_certificate(pem))
    except UNREADABLE:
        raise refused("certificate", "the certificate's names cannot be read; connect with another one") from None
    return checked_names(names)


def checked_names(names: CertificateNames) -> CertificateNames:
    """The names; at most one may be a URI, as SPIFFE requires (X.509-SVID §2). Raises UnauthenticatedError."""
    if len(names.uris) > 1:
        raise refused("certificate", "the certificate has more than one URI as its name; SPIFFE allows one")
    if any(_NO_PART_OF_A_NAME.search(name) for name in (*names.uris, *names.dns_names)):
        raise refused("certificate", "a name of the certificate has a character other than printable ASCII")
    return names


def _alternative_names(certificate: x509.Certificate) -> CertificateNames:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return CertificateNames()
    return CertificateNames(
        uris=tuple(names.get_values_for_type(x509.UniformResourceIdentifier)),
        dns_names=tuple(name.lower() for name in names.get_values_for_type(x509.DNSName)),
    )
