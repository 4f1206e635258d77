"""Hosts in environment variables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.tree.services.addresses import HOLE, MAX_VALUE_CHARACTERS, addresses, with_defaults
from groundwire_ingest.tree.services.statements import Variable
from support.growth import check_linear


def _hosts(value: str, name: str = "X") -> list[tuple[str, float]]:
    return [(address.host, address.confidence) for address in addresses(Variable(name, value))]


@pytest.mark.parametrize(
    "value",
    [
        "http://auth:8080/x?y=http://other",
        "http://auth",
        "https://auth/",
        "auth:50051",
        "auth:50051/v1",
        '"auth:50051"',
        "amqp://guest:p@ss@auth:5672/%2f",
        "guest:guest@auth",
        "postgresql+asyncpg://u@auth/db",
        "jdbc:postgresql://auth:5432/db",
        "dns:///auth:50051",
        "u:p@tcp(auth:3306)/db",
        "Server=auth;Database=orders;User Id=sa;Password=x=y",
        "Data Source=tcp:auth,1433;Encrypt=False",
        "host=auth port=5432 user=u",
        "${AUTH_URL:-http://auth:8080}",
        "${AUTH-auth}:${PORT}",
        "${A:-${B:-auth:80}}",
        "http://auth:$(PORT)",
        '{"auth": "http://auth:1/x"}',
        "auth.:80",
    ],
)
def test_addresses_have_one_host(value: str) -> None:
    assert _hosts(value) == [("auth", 0.9)]


def test_lists_have_several() -> None:
    assert _hosts("kafka-0.kafka:9092, kafka-1.kafka:9092") == [("kafka-0.kafka", 0.9), ("kafka-1.kafka", 0.9)]
    assert _hosts("mongodb://u:p@a:1,b:2/db") == [("a", 0.9), ("b", 0.9)]
    assert _hosts("a,b; c", "SEED_HOSTS") == [("a", 0.7), ("b", 0.7), ("c", 0.7)]


NO_ADDRESSES = (
    *("auth", "8080:auth", "auth:", "auth:x", "/auth:8080", "-auth:1", "unix:///auth", "${AUTH}:80", "$AUTH:80"),
    *("http://[::1]:80", "$${AUTH:-auth}:x", "auth:123456", "see auth", "x@auth", "auth/x", "", "=", "://", "@"),
)


@pytest.mark.parametrize("value", NO_ADDRESSES)
def test_other_values_have_none(value: str) -> None:
    assert _hosts(value) == []


ADDRESS_NAMES = (
    *("AUTH_ADDR", "AUTH_ADDRESS", "authHost", "PGHOST", "Auth__BaseUrl", "AUTH_URI", "auth.endpoint", "AUTH_SERVICE"),
    *("KAFKA_BOOTSTRAP_SERVERS", "DB_DSN", "BROKERS", "TARGET", "ADDRESSES", "ConnectionStrings__Auth"),
)


@pytest.mark.parametrize("name", ADDRESS_NAMES)
def test_a_bare_word_counts_where_the_variable_says_that_it_is_an_address(name: str) -> None:
    assert _hosts(" auth ", name) == [("auth", 0.7)]


@pytest.mark.parametrize("name", ["NAME", "AUTH", "SECURITY", "CURLY", "HOSTED", "SERVERLESS_MODE", ""])
def test_a_bare_word_does_not_count_elsewhere(name: str) -> None:
    assert _hosts("auth", name) == []


def test_words_of_a_sentence_are_no_hosts() -> None:
    assert _hosts("welcome to auth", "SERVER_MESSAGE") == []


def test_names_of_images_are_no_addresses() -> None:
    assert _hosts("redis:7", "REDIS_IMAGE") == []
    assert _hosts("images:80", "IMAGE_SERVICE_ADDR") == [("images", 0.9)]


def test_a_value_that_is_too_long_is_not_read() -> None:
    address = "http://auth "
    assert _hosts(address.ljust(MAX_VALUE_CHARACTERS, "x")) == [("auth", 0.9)]
    assert _hosts(address.ljust(MAX_VALUE_CHARACTERS + 1, "x")) == []


def test_variables_take_their_defaults() -> None:
    assert with_defaults("${A:-x}-${B-y}-${C}-${D:?no}-${E:+z}-$F-$(G)") == f"x-y-{HOLE}-{HOLE}-{HOLE}-{HOLE}-{HOLE}"
    assert with_defaults("$${A:-x} ${A:-${B:-${C:-x}}}") == "${A:-x} x"
    assert with_defaults("${A:-}") == HOLE


_pieces = st.sampled_from(["${", "}", ":-", "$(", "$", "://", "@", ":", "80", ",", "a", ".", "-", " ", "host=", HOLE])


@given(st.lists(_pieces, max_size=40).map("".join))
def test_hosts_are_host_names_whatever_the_value(value: str) -> None:
    for host, _ in _hosts(value, "HOST"):
        assert host.isascii()
        assert host.strip(".-") == host != ""


@pytest.mark.parametrize("piece", ["${", "${a:-", "$(", "a.", "://", "a@", "host=", "${a", "A"])
def test_the_time_of_hostile_values_grows_with_their_length(piece: str) -> None:
    check_linear(
        lambda length: _hosts((piece * length)[:length], "HOST" + "_A" * (length // 4)), MAX_VALUE_CHARACTERS // 8
    )
