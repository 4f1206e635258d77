"""What lists are taken, and whom they are about."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding

from groundwire_server.rpc.identity.revocation_lists import RevocationListError, RevocationLists, RevocationStatus
from support.certificates import Authority, Certificate

HERE, ELSEWHERE = (x509.UniformResourceIdentifier(f"http://pki.example/{name}.crl") for name in ("here", "elsewhere"))


def point(
    full_name: Sequence[x509.GeneralName] | None = None,
    *,
    users: bool = False,
    authorities: bool = False,
    indirect: bool = False,
    attributes: bool = False,
    reasons: frozenset[x509.ReasonFlags] | None = None,
) -> tuple[x509.ExtensionType, bool]:
    return x509.IssuingDistributionPoint(full_name, None, users, authorities, reasons, indirect, attributes), True


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.create(tmp_path)


def parse(authority: Authority, *lists: bytes, of: Sequence[Authority] = ()) -> RevocationLists:
    return RevocationLists.parse(b"".join(lists), [each.certificate for each in (authority, *of)], datetime.now(UTC))


def standing(lists: RevocationLists, certificate: Certificate, *intermediates: Authority) -> str:
    """`good`, `revoked` or `unknown`."""
    status: RevocationStatus = lists.status(certificate.content, [each.certificate for each in intermediates])
    if status.revoked:
        return "revoked"
    return "good" if status.until > datetime.now(UTC) else "unknown"


def test_issuer_and_serial_number_together_tell_a_certificate(authority: Authority, tmp_path: Path) -> None:
    other = Authority.create(tmp_path / "other", "other")
    mine, theirs = authority.issue("mine"), other.issue("theirs")
    swapped = parse(
        authority, authority.revocation_list(theirs.content), other.revocation_list(mine.content), of=[other]
    )
    assert [standing(swapped, each) for each in (mine, theirs)] == ["good", "good"]
    right = parse(authority, authority.revocation_list(mine.content), other.revocation_list(theirs.content), of=[other])
    assert [standing(right, each) for each in (mine, theirs)] == ["revoked", "revoked"]
    half = parse(authority, authority.revocation_list(), of=[other])
    assert [standing(half, each) for each in (mine, theirs)] == ["good", "unknown"]


def test_an_authority_with_a_new_key_has_two_lists_and_either_revokes(authority: Authority, tmp_path: Path) -> None:
    renewed = Authority.create(tmp_path / "renewed")
    first, second = authority.issue("first"), renewed.issue("second")
    lists = parse(
        authority, authority.revocation_list(first.content), renewed.revocation_list(second.content), of=[renewed]
    )
    assert [standing(lists, each) for each in (first, second)] == ["revoked", "revoked"]
    overdue = parse(
        authority, authority.revocation_list(valid_until=-timedelta(seconds=9)), renewed.revocation_list(), of=[renewed]
    )
    assert standing(overdue, second) == "unknown"


def test_whom_a_revoked_authority_has_signed_is_revoked_too(authority: Authority) -> None:
    below, kept = authority.subordinate("below"), authority.subordinate("kept")
    taken, other = below.issue("taken"), kept.issue("other")
    lists = parse(
        authority,
        authority.revocation_list(below.certificate),
        below.revocation_list(),
        kept.revocation_list(),
        of=[below, kept],
    )
    assert [standing(lists, taken), standing(lists, taken, below)] == ["revoked", "revoked"]
    assert [standing(lists, other), standing(lists, other, kept, below)] == ["good", "good"]


def test_an_authority_that_only_came_along_is_judged_as_well(authority: Authority) -> None:
    below = authority.subordinate("below")
    direct = authority.issue("direct")
    lists = parse(authority, authority.revocation_list(below.certificate))
    assert standing(lists, direct, below) == "good"
    assert standing(lists, below.issue("taken"), below) == "unknown"


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (point([HERE]), "good"),
        (point([ELSEWHERE]), "unknown"),
        (point([ELSEWHERE, HERE]), "good"),
        (point(users=True), "good"),
        (point(authorities=True), "unknown"),
    ],
)
def test_a_list_about_some_certificates_says_nothing_of_others(
    authority: Authority, scope: tuple[x509.ExtensionType, bool], expected: str
) -> None:
    points = x509.CRLDistributionPoints([x509.DistributionPoint([HERE], None, None, None)])
    certificate = authority.issue("caller", extensions=[points])
    assert standing(parse(authority, authority.revocation_list(extensions=[scope])), certificate) == expected


OTHER_OID = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\x05\x00")
REFUSED: Mapping[str, tuple[Sequence[tuple[x509.ExtensionType, bool]], str]] = {
    "changes alone": ([(x509.DeltaCRLIndicator(1), True)], "has only changes"),
    "of others": ([point(indirect=True)], "is indirect"),
    "of attributes": ([point(attributes=True)], "is indirect"),
    "some reasons": ([point(reasons=frozenset([x509.ReasonFlags.key_compromise]))], "or not for all reasons"),
    "unknown": ([(OTHER_OID, True)], r"has the critical extension 1\.3\.6\.1\.4\.1\.99999\.1, which is not known"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_list_that_says_less_or_more_than_is_understood_is_not_taken(authority: Authority, case: str) -> None:
    extensions, problem = REFUSED[case]
    with pytest.raises(RevocationListError, match=problem):
        parse(authority, authority.revocation_list(), authority.revocation_list(extensions=extensions))


def test_what_is_not_critical_is_passed_over(authority: Authority) -> None:
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (OTHER_OID, False),
        (x509.CRLNumber(7), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), False),
    ]
    assert parse(authority, authority.revocation_list(extensions=extensions)).overdue(datetime.now(UTC)) == []


def test_a_list_counts_from_its_beginning_and_one_past_its_end_is_told(authority: Authority) -> None:
    with pytest.raises(RevocationListError, match="is not valid yet"):
        parse(authority, authority.revocation_list(valid_from=timedelta(hours=1)))
    ended = parse(authority, authority.revocation_list(valid_until=-timedelta(seconds=9)))
    (line,) = ended.overdue(datetime.now(UTC))
    assert line.startswith("the list of CN=authority is out of date since 20")
    assert standing(ended, authority.issue("caller")) == "unknown"


@pytest.mark.parametrize("may_sign", [True, False])
def test_only_an_authority_that_may_sign_lists_does(authority: Authority, may_sign: bool) -> None:
    usage = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=may_sign,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(authority.certificate.subject)
        .issuer_name(authority.certificate.subject)
        .public_key(authority.key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.now(UTC))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(usage, critical=True)
        .sign(authority.key, hashes.SHA256())
    )
    if may_sign:
        assert RevocationLists.parse(authority.revocation_list(), [certificate], datetime.now(UTC))
    else:
        with pytest.raises(RevocationListError, match="may sign lists"):
            RevocationLists.parse(authority.revocation_list(), [certificate], datetime.now(UTC))


@pytest.mark.filterwarnings("ignore:Attribute's length:UserWarning")
@pytest.mark.parametrize("flipped", [1, 255])
def test_a_changed_list_is_not_taken_whatever_was_changed(authority: Authority, flipped: int) -> None:
    content = authority.revocation_list(
        authority.issue("caller").content, extensions=[point([HERE])], encoding=Encoding.DER
    )
    signed = x509.load_der_x509_crl(content).tbs_certlist_bytes
    begin = content.index(signed)
    for place, byte in enumerate(content[: begin + len(signed)]):
        with pytest.raises(RevocationListError):
            parse(authority, content[:place] + bytes([byte ^ flipped]) + content[place + 1 :])


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-30],
        lambda content: content + content[: len(content) // 2],
        lambda content: content.replace(b"M", b"!", 1),
        lambda content: content[28:-26],
        lambda content: b"",
    ],
    ids=["torn", "second torn", "no base 64", "without its frame", "empty"],
)
def test_a_file_that_is_not_whole_is_not_taken(authority: Authority, change: Callable[[bytes], bytes]) -> None:
    with pytest.raises(RevocationListError):
        parse(authority, change(authority.revocation_list()))
