"""The authenticator that the settings ask for."""

from pathlib import Path
from typing import cast

from cryptography import x509

from groundwire_configuration.yaml_model import Model, YamlFileError, read_model
from groundwire_server.config import Settings, SettingsError
from groundwire_server.rpc.identity.authenticator import Authenticator, TrustedCallers
from groundwire_server.rpc.identity.certificate_mapping import CertificateMapping
from groundwire_server.rpc.identity.claim_mapping import ClaimMapping
from groundwire_server.rpc.identity.json_web_keys import KeySetError, parse_keys
from groundwire_server.rpc.identity.jwt_callers import TokenCallers
from groundwire_server.rpc.identity.key_sources import KeyFile, KeySource, KeyUrl
from groundwire_server.rpc.identity.mtls_callers import CertifiedCallers
from groundwire_server.rpc.identity.peer_certificates import CheckedPeers, PeerCertificates
from groundwire_server.rpc.identity.revocation_file import PERIOD_SECONDS, RevocationFile
from groundwire_server.rpc.identity.revocation_lists import RevocationListError
from groundwire_server.rpc.identity.token_verifier import TokenRules
from groundwire_server.rpc.serving.transport import read_file


def make_authenticator(settings: Settings, revocation_period_seconds: float = PERIOD_SECONDS) -> Authenticator:
    """Reads the revocation lists again after every period.

    Raises SettingsError when a file that the settings name cannot be used.

    A URL of keys is not read here: a server must be able to start while the issuer cannot be reached.
    """
    authorities = settings.tls_client_ca
    if authorities is None:
        return _callers(settings, PeerCertificates(None))
    certificates = PeerCertificates(_revocations(authorities, settings.tls_client_crl, revocation_period_seconds))
    return CheckedPeers(certificates, _callers(settings, certificates))


def _callers(settings: Settings, certificates: PeerCertificates) -> Authenticator:
    if settings.access_mode == "trusted":
        return TrustedCallers()
    mapping_file = cast("Path", settings.access_mapping)  # which all other modes require
    if settings.access_mode == "mtls":
        return CertifiedCallers(read_mapping(mapping_file, CertificateMapping), certificates)
    mapping = read_mapping(mapping_file, ClaimMapping)
    rules = TokenRules(settings.jwt_issuer, settings.jwt_audiences, settings.jwt_max_lifetime_seconds)
    return TokenCallers(rules, _key_source(settings), mapping)


def read_mapping(path: Path, form: type[Model]) -> Model:
    """The mapping file at `path`. Raises SettingsError naming every problem, one a line."""
    try:
        return read_model(path, form, "docs/identity.md")
    except OSError as error:
        raise SettingsError(f"access_mapping: {path}: {error.strerror}; give a readable YAML file") from None
    except YamlFileError as error:
        raise SettingsError("\n".join(f"access_mapping: {path}: {problem}" for problem in error.problems)) from None


def _revocations(authorities_file: Path, lists_file: Path | None, period_seconds: float) -> RevocationFile | None:
    if lists_file is None:
        return None
    try:
        authorities = x509.load_pem_x509_certificates(read_file("tls_client_ca", authorities_file))
    except ValueError:
        raise SettingsError(
            f"tls_client_ca: {authorities_file}: cannot be read; give the PEM certificates of the CAs"
        ) from None
    try:
        return RevocationFile(lists_file, authorities, period_seconds)
    except RevocationListError as error:
        raise SettingsError(f"tls_client_crl: {lists_file}: {error}") from None


def _key_source(settings: Settings) -> KeySource:
    if "://" in settings.jwt_keys:
        return KeyUrl(settings.jwt_keys)
    source = KeyFile(Path(settings.jwt_keys))
    try:
        parse_keys(source.read())
    except KeySetError as error:
        raise SettingsError(f"jwt_keys: {settings.jwt_keys}: {error}") from None
    return source
