"""Envoy's configuration is valid, and agrees with the contract, the servers and the client."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf import descriptor_pb2

from deploy.descriptors import PROTOSET, write_descriptors
from groundwire.v1 import errors_pb2, index_pb2, query_pb2, retrieval_pb2
from groundwire_client._channel import CHANNEL_OPTIONS
from groundwire_server.config import load_settings
from groundwire_server.rpc.serving.server import SERVICES
from groundwire_server.rpc.serving.transport import MIN_CLIENT_PING_INTERVAL_MS
from support.envoy import DEPLOYED, validate, write_configuration
from support.kubernetes import DEPLOY, manifests, of_kind, pod_templates
from support.mesh import ENVOY_NAME, SERVER_NAME, Identities

pytestmark = pytest.mark.slow

FRAME_HEADER_BYTES = 5
CONFIGURATION: dict[str, Any] = yaml.safe_load((DEPLOYED / "envoy.yaml").read_text(encoding="utf-8"))
(CALLERS, OPERATIONS) = CONFIGURATION["static_resources"]["listeners"]
(CLUSTER, ADMIN) = CONFIGURATION["static_resources"]["clusters"]
MANAGER = CALLERS["filter_chains"][0]["filters"][0]["typed_config"]
ROUTES = {route["name"]: route for route in MANAGER["route_config"]["virtual_hosts"][0]["routes"]}
FILTERS = {each["name"].rpartition(".")[2]: each["typed_config"] for each in MANAGER["http_filters"]}
SETTINGS = load_settings(DEPLOY / "compose" / "groundwire.yaml")
METHODS = {
    f"/{service.full_name}/{method.name}"
    for file in (retrieval_pb2, query_pb2, index_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The configuration for this machine."""
    identities = Identities(tmp_path / "certificates")
    return write_configuration(tmp_path / "envoy", identities.envoy, ["127.0.0.1:50051"])


def test_envoy_finds_it_valid_and_has_nothing_to_remark(written: Path) -> None:
    verdict = validate(written)
    assert verdict.returncode == 0, verdict.stderr
    assert verdict.stdout == f"configuration '{written}' OK\n"
    assert verdict.stderr == ""


def test_envoy_finds_a_misspelt_field(written: Path) -> None:
    written.write_text(written.read_text(encoding="utf-8").replace("lb_policy:", "lb_polizy:"), encoding="utf-8")
    assert validate(written).returncode != 0


def test_the_descriptors_are_those_of_the_protos(tmp_path: Path) -> None:
    write_descriptors(tmp_path / "now")
    assert (tmp_path / "now").read_bytes() == PROTOSET.read_bytes(), "run `make stubs`"


def test_the_descriptors_know_every_error_detail() -> None:
    files = descriptor_pb2.FileDescriptorSet.FromString(PROTOSET.read_bytes()).file
    messages = {f"{file.package}.{message.name}" for file in files for message in file.message_type}
    assert {"google.rpc.ErrorInfo", "google.rpc.BadRequest", "google.rpc.RetryInfo"} <= messages
    enums = {f"{file.package}.{enum.name}" for file in files for enum in file.enum_type}
    assert errors_pb2.ErrorReason.DESCRIPTOR.full_name in enums


def test_every_service_of_the_contract_is_transcoded() -> None:
    assert set(FILTERS["grpc_json_transcoder"]["services"]) == {service.full_name for service in SERVICES}


def test_health_is_asked_of_a_service_that_has_it() -> None:
    (check,) = CLUSTER["health_checks"]
    assert check["grpc_health_check"]["service_name"] in {service.full_name for service in SERVICES}


def _repeated_by_the_client() -> Iterator[str]:
    (policy,) = json.loads(str(dict(CHANNEL_OPTIONS)["grpc.service_config"]))["methodConfig"]
    for name in policy["name"]:
        prefix = f"/{name['service']}/{name.get('method', '')}"
        yield from (method for method in METHODS if method == prefix or (prefix.endswith("/") and prefix in method))


def test_envoy_repeats_what_the_python_client_repeats() -> None:
    never = re.compile(ROUTES["changes"]["match"]["safe_regex"]["regex"])
    changes = {method for method in METHODS if never.fullmatch(method)}
    assert changes == METHODS - set(_repeated_by_the_client())
    calls = re.compile(ROUTES["calls"]["match"]["safe_regex"]["regex"])
    assert all(map(calls.fullmatch, METHODS))
    assert list(ROUTES).index("changes") < list(ROUTES).index("calls")
    assert "unavailable" not in ROUTES["changes"]["route"]["retry_policy"]["retry_on"]


def test_bounds_follow_those_of_the_servers() -> None:
    deadline = f"{SETTINGS.max_deadline_seconds:g}s"
    for name in ("changes", "calls", "health"):
        bounds = ROUTES[name]["route"]["max_stream_duration"]
        assert bounds == {"max_stream_duration": deadline, "grpc_timeout_header_max": deadline}
    assert float(MANAGER["stream_idle_timeout"].rstrip("s")) > SETTINGS.max_deadline_seconds
    assert ROUTES["calls"]["request_body_buffer_limit"] == SETTINGS.max_receive_bytes + FRAME_HEADER_BYTES
    assert FILTERS["grpc_json_transcoder"]["max_request_body_size"] == SETTINGS.max_receive_bytes


def test_each_connection_shows_its_certificate_and_the_servers_see_it() -> None:
    tls = CALLERS["filter_chains"][0]["transport_socket"]["typed_config"]
    assert tls["require_client_certificate"]
    assert tls["disable_stateless_session_resumption"]
    assert tls["disable_stateful_session_resumption"]
    assert MANAGER["forward_client_cert_details"] == "SANITIZE_SET"
    assert MANAGER["set_current_client_cert_details"] == {"cert": True, "uri": True, "dns": True}


def test_servers_notice_a_drain_before_they_stop() -> None:
    (check,) = CLUSTER["health_checks"]
    notice = float(check["interval"].rstrip("s")) + float(check["interval_jitter"].rstrip("s"))
    assert notice + float(check["timeout"].rstrip("s")) < SETTINGS.drain_pause_seconds


def test_servers_admit_the_pings() -> None:
    protocol = CLUSTER["typed_extension_protocol_options"]["envoy.extensions.upstreams.http.v3.HttpProtocolOptions"]
    ping = protocol["explicit_http_config"]["http2_protocol_options"]["connection_keepalive"]
    assert float(ping["interval"].rstrip("s")) * 1_000 >= MIN_CLIENT_PING_INTERVAL_MS


def test_nothing_but_readiness_and_metrics_leaves_the_admin_interface() -> None:
    admin = CONFIGURATION["admin"]["address"]["socket_address"]
    assert admin["address"] == "127.0.0.1"
    (locality,) = ADMIN["load_assignment"]["endpoints"]
    assert [each["endpoint"]["address"]["socket_address"] for each in locality["lb_endpoints"]] == [admin]
    (hosts,) = OPERATIONS["filter_chains"][0]["filters"][0]["typed_config"]["route_config"]["virtual_hosts"]
    assert [route["match"] for route in hosts["routes"]] == [{"path": "/ready"}, {"path": "/stats/prometheus"}]


def test_addresses_are_those_of_the_manifests() -> None:
    built = manifests("kubernetes/with-envoy")
    (container,) = pod_templates(built)["groundwire-envoy"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {
        listener["name"]: listener["address"]["socket_address"]["port_value"] for listener in (CALLERS, OPERATIONS)
    }
    (locality,) = CLUSTER["load_assignment"]["endpoints"]
    (endpoint,) = locality["lb_endpoints"]
    upstream = endpoint["endpoint"]["address"]["socket_address"]
    service = of_kind(built, "Service")["groundwire-headless"]
    namespace = service["metadata"]["namespace"]
    assert upstream["address"] == f"groundwire-headless.{namespace}.svc.cluster.local"
    assert [upstream["port_value"]] == [port["port"] for port in service["spec"]["ports"]]
    assert CLUSTER["transport_socket"]["typed_config"]["sni"] == f"groundwire.{namespace}.svc" == SERVER_NAME
    assert f"groundwire-envoy.{namespace}.svc" == ENVOY_NAME


def test_the_heap_fits_the_container() -> None:
    (container,) = pod_templates(manifests("kubernetes/with-envoy"))["groundwire-envoy"]["spec"]["containers"]
    heap = CONFIGURATION["overload_manager"]["resource_monitors"][0]["typed_config"]["max_heap_size_bytes"]
    assert container["resources"]["limits"]["memory"] == f"{heap * 4 // 3 // 2**20}Mi"
