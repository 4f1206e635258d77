"""The mapping files that docs/identity.md shows are such files."""

import re
from pathlib import Path

import yaml

from groundwire_server.rpc.identity.certificate_mapping import CertificateMapping
from groundwire_server.rpc.identity.claim_mapping import ClaimMapping

DOCUMENT = Path(__file__).parents[4] / "docs" / "identity.md"


def test_the_documented_mappings_are_accepted() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    claims, certificates = (yaml.safe_load(block) for block in blocks)
    assert set(ClaimMapping.model_validate(claims).model_dump(exclude_unset=True)) == set(ClaimMapping.model_fields)
    caller, *others = CertificateMapping.model_validate(certificates).callers
    assert set(caller.model_fields_set) == set(type(caller).model_fields)
    assert len(others) == 2
