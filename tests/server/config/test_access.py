"""How callers are identified."""

import pytest

from groundwire_server.config import SettingsError, load_settings

JWT = {
    "access_mode": "jwt",
    "access_mapping": "a.yaml",
    "jwt_keys": "k.json",
    "jwt_issuer": "https://issuer.example",
    "jwt_audiences": "groundwire",
}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"reflection": "maybe"}, "reflection: 'maybe': must be true or false"),
        ({"access_mode": "jws"}, "access_mode: 'jws': must be 'trusted', 'jwt' or 'mtls'"),
        ({"access_mode": "jwt"}, "access_mapping: must be given in the access mode jwt"),
        ({"access_mode": "mtls", "access_mapping": "a.yaml"}, "tls_client_ca: must be given in the access mode mtls"),
        ({**JWT, "jwt_keys": ""}, "jwt_keys: must be given in the access mode jwt"),
        ({**JWT, "jwt_issuer": ""}, "jwt_issuer: must be given in the access mode jwt"),
        ({**JWT, "jwt_audiences": "none"}, "jwt_audiences: must be given in the access mode jwt"),
        (
            {"access_mapping": "a.yaml"},
            "access_mapping: a.yaml: has no use in the access mode trusted; set access_mode",
        ),
        ({"jwt_keys": "k.json"}, "jwt_keys: k.json: has no use in the access mode trusted; set access_mode"),
        ({"jwt_max_lifetime_seconds": 59}, "jwt_max_lifetime_seconds: 59: must be greater than or equal to 60"),
        (
            {"jwt_max_lifetime_seconds": 31_536_001},
            "jwt_max_lifetime_seconds: 31536001: must be less than or equal to 31536000",
        ),
    ],
)
def test_a_broken_rule_is_one_line(flags: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(None, **flags)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "keys",
    ["k.json", "https://issuer.example/keys", "http://localhost:8080/keys", "http://127.0.0.1/k", "http://[::1]/k"],
)
def test_keys_are_a_path_or_a_url_that_nobody_else_can_answer(keys: str) -> None:
    settings = load_settings(None, **{**JWT, "jwt_keys": keys, "jwt_audiences": "a, b"})
    assert (settings.jwt_keys, settings.jwt_audiences) == (keys, ("a", "b"))
