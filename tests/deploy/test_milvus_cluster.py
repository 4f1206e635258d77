"""Milvus beside Groundwire: its cluster, and the way of servers and builds to it."""

import re
from urllib.parse import urlsplit

import pytest
import yaml

from support.kubernetes import DEPLOY, Manifest, manifests, of_kind, pod_templates, selects

pytestmark = pytest.mark.slow

CLUSTER, SERVERS, BUILD = "kubernetes/milvus", "kubernetes/with-envoy-on-milvus", "kubernetes/indexing-on-milvus"
COMPOSE = yaml.safe_load((DEPLOY / "milvus" / "compose.yaml").read_text(encoding="utf-8"))


def variables(folder: str, name: str) -> dict[str, str]:
    (container,) = pod_templates(manifests(folder))[name]["spec"]["containers"]
    return {variable["name"]: variable["value"] for variable in container["env"]}


def test_both_are_of_one_version() -> None:
    (cluster,) = of_kind(manifests(CLUSTER), "Milvus").values()
    assert cluster["spec"]["components"]["image"] == COMPOSE["services"]["milvus"]["image"]
    assert re.fullmatch(r"milvusdb/milvus:v\d+\.\d+\.\d+", cluster["spec"]["components"]["image"])


@pytest.mark.parametrize(("folder", "name"), [(SERVERS, "groundwire"), (BUILD, "groundwire-index")])
def test_servers_and_builds_ask_the_service_that_the_operator_makes(folder: str, name: str) -> None:
    ((cluster, manifest),) = of_kind(manifests(CLUSTER), "Milvus").items()
    address = urlsplit(variables(folder, name)["GROUNDWIRE_MILVUS_URI"])
    assert address.hostname == f"{cluster}-milvus.{manifest['metadata']['namespace']}.svc"
    assert variables(folder, name)["GROUNDWIRE_BACKEND"] == "milvus"
    assert address.port in ports_open_to(pod_templates(manifests(folder))[name]["metadata"]["labels"])
    assert address.port in ports_open_from(manifest["metadata"]["namespace"])


def ports_open_to(labels: Manifest) -> set[int]:
    """The ports of the cluster that pods of these labels in the namespace groundwire may reach."""
    (policy,) = of_kind(manifests(CLUSTER), "NetworkPolicy").values()
    return {
        port["port"]
        for rule in policy["spec"]["ingress"]
        for source in rule["from"]
        if source.get("namespaceSelector") == {"matchLabels": {"kubernetes.io/metadata.name": "groundwire"}}
        and selects(source["podSelector"], labels)
        for port in rule["ports"]
    }


def ports_open_from(namespace: str) -> set[int]:
    """The ports in a namespace that servers and builds may ask."""
    policy = of_kind(manifests(SERVERS), "NetworkPolicy")["groundwire-to-milvus"]
    wanted = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    return {port["port"] for rule in policy["spec"]["egress"] if wanted in rule["to"] for port in rule["ports"]}
