"""What single manifests, Compose services and Helm templates state."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.tree.deploy import deploy_analysis
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.services.catalog import ServiceCatalog
from groundwire_ingest.tree.services.statements import (
    Backend,
    ComposeService,
    ConfigMap,
    ConfigReference,
    KubernetesService,
    Metadata,
    OtherManifest,
    Route,
    Statement,
    Variable,
    Workload,
)


def _stated(text: str, path: str = "k8s/all.yaml", language: str = "yaml") -> list[Statement]:
    analysis = deploy_analysis(SourceFile(path, text, language))
    parts = analysis.parts if analysis is not None else ()
    return [statement for part in parts for statement in part.statements]


def _composed(text: str, path: str = "shop/compose.yaml") -> list[ComposeService]:
    return [statement for statement in _stated(text, path) if isinstance(statement, ComposeService)]


POD = "spec: {containers: [{env: [{name: PORT, value: 8080}]}], initContainers: [{env: [{name: A, value: b}]}]}"
VARIABLES = (Variable("PORT", "8080"), Variable("A", "b"))


@pytest.mark.parametrize(
    "kind", ["Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet", "Rollout", "DeploymentConfig"]
)
def test_workloads_have_the_variables_of_all_their_containers(kind: str) -> None:
    template = f"{{metadata: {{labels: {{app: shop, tier: web}}}}, {POD}}}"
    text = f"apiVersion: x/v1\nkind: {kind}\nmetadata: {{name: web, namespace: prod}}\nspec: {{template: {template}}}\n"
    labels = frozenset({("app", "shop"), ("tier", "web")})
    assert _stated(text) == [Workload(Metadata("web", "prod", "shop"), labels, VARIABLES)]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("Pod", POD),
        ("CronJob", f"spec: {{jobTemplate: {{spec: {{template: {{{POD}}}}}}}}}"),
        ("Service", f"spec: {{template: {{{POD}}}}}"),
    ],
)
def test_pods_stand_where_their_kind_has_them(kind: str, body: str) -> None:
    text = f"apiVersion: serving.knative.dev/v1\nkind: {kind}\nmetadata: {{name: web}}\n{body}\n"
    assert _stated(text) == [Workload(Metadata("web", "", ""), variables=VARIABLES)]


@pytest.mark.parametrize(
    ("labels", "service"),
    [
        ("{name: a, app: b, app.kubernetes.io/name: c}", "c"),
        ("{name: a, app: b}", "b"),
        ("{name: a}", "a"),
        ("{tier: a}", ""),
        ("{app: not a name, name: a}", "a"),
        ("[app]", ""),
    ],
)
def test_labels_name_the_service(labels: str, service: str) -> None:
    manifest = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x, labels: {labels}}}\n"
    (statement,) = _stated(manifest)
    assert isinstance(statement, Workload)
    assert statement.metadata == Metadata("x", "", service)


def test_own_labels_come_before_those_of_pods_and_selectors() -> None:
    own_metadata = "metadata: {name: x, labels: {name: own}}"
    selected = Metadata("x", "", "selected")
    pods = "spec: {template: {metadata: {labels: {app: pods}}}}"
    text = f"apiVersion: v1\nkind: Deployment\n{own_metadata}\n{pods}\n"
    assert [item.metadata.label for item in _stated(text) if isinstance(item, Workload)] == ["own"]
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {selector: {app: selected, tier: web}}\n"
    pairs = frozenset({("app", "selected"), ("tier", "web")})
    assert _stated(service) == [KubernetesService(selected, pairs)]
    assert _stated(service.replace("metadata: {name: x}", own_metadata)) == [
        KubernetesService(Metadata("x", "", "own"), pairs)
    ]


def test_config_maps_are_taken_whole_or_by_their_keys() -> None:
    container = """\
env:
- name: AUTH
  valueFrom: {configMapKeyRef: {name: settings, key: auth.url}}
- name: PASSWORD
  valueFrom: {secretKeyRef: {name: secrets, key: password}}
envFrom: [{configMapRef: {name: common}}, {secretRef: {name: secrets}}]
"""
    indented = container.replace("\n", "\n      ")
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  containers:\n    - {indented}\n"
    references = (ConfigReference("settings", "auth.url", "AUTH"), ConfigReference("common"))
    assert _stated(text) == [Workload(Metadata("x", "", ""), references=references)]
    data = f"data:\n  A: b\n  C: 1\n  LONG: {'x' * 5000}\n"
    config = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: common}}\n{data}"
    assert _stated(config) == [ConfigMap(Metadata("common", "", ""), (Variable("A", "b"), Variable("C", "1")))]


@pytest.mark.parametrize(
    ("kind", "spec", "backends"),
    [
        ("Ingress", "{defaultBackend: {service: {name: a}}}", [Backend("a")]),
        ("Ingress", "{backend: {serviceName: a}}", [Backend("a")]),
        (
            "Ingress",
            "{rules: [{http: {paths: [{backend: {service: {name: a}}}, {backend: {serviceName: b}}]}}, {host: x}]}",
            [Backend("a"), Backend("b")],
        ),
        (
            "HTTPRoute",
            "{rules: [{backendRefs: [{name: a, namespace: n}, {name: b, kind: Bucket}, {name: c, kind: Service}]}]}",
            [Backend("a", "n"), Backend("c")],
        ),
        ("GRPCRoute", "{rules: [{backendRefs: [{name: a}]}]}", [Backend("a")]),
    ],
)
def test_routes_have_backends(kind: str, spec: str, backends: list[Backend]) -> None:
    text = f"apiVersion: x/v1\nkind: {kind}\nmetadata: {{name: edge}}\nspec: {spec}\n"
    assert _stated(text) == [Route(Metadata("edge", "", ""), tuple(backends))]


def test_other_manifests_state_their_label_or_namespace() -> None:
    scaler = "apiVersion: v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x, labels: {app: web}}\n"
    space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n"
    silent = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {URL: http://web}\n"
    assert _stated(f"{scaler}---\n{space}---\n{silent}---\nkind: Pod\nmetadata: {{name: x}}\n") == [
        OtherManifest(Metadata("x", "", "web")),
        OtherManifest(Metadata("", "prod", "")),
    ]


def test_the_items_of_a_list_state_what_they_would_alone() -> None:
    item = "{kind: Pod, metadata: {name: %s}}"
    text = f"apiVersion: v1\nkind: List\nitems: [{item % 'a'}, {item % 'b'}, {{kind: List, items: []}}, x]\n"
    assert _stated(text) == [Workload(Metadata("a", "", "")), Workload(Metadata("b", "", ""))]


COMPOSE = """\
x-environment: &environment
  LOG: info
  RETRIES: 3
services:
  web:
    container_name: shop-web
    hostname: ${WEB_HOST:-www}
    build: ./web/
    environment:
      <<: *environment
      AUTH: http://auth
      EMPTY:
    networks: {back: {aliases: [site, www]}, front: }
  auth:
    build: {context: .., dockerfile: auth/Dockerfile.dev}
    environment:
      - PORT=80
      - DSN=host=db port=1
      - INHERITED
    networks: [back]
  bad name: {image: x}
  db: {image: postgres, build: }
"""


def test_compose_services_state_hosts_variables_and_folders() -> None:
    inherited = (Variable("LOG", "info"), Variable("RETRIES", "3"))
    web = (*inherited, Variable("AUTH", "http://auth"), Variable("EMPTY", ""))
    auth = (Variable("PORT", "80"), Variable("DSN", "host=db port=1"), Variable("INHERITED", ""))
    assert _composed(COMPOSE) == [
        ComposeService("web", "shop", ("web", "shop-web", "www", "site"), web, ("shop/web",)),
        ComposeService("auth", "shop", ("auth",), auth, ("", "auth")),
        ComposeService("db", "shop", ("db",)),
    ]


@pytest.mark.parametrize(
    ("build", "folders"),
    [
        (".", ("shop",)),
        ("{dockerfile: docker/Dockerfile}", ("shop", "shop/docker")),
        ("${SOURCE:-./src}", ("shop/src",)),
        ("${SOURCE}", ()),
        ("../..", ()),
        ("../../other", ()),
        ("{context: ., dockerfile: ../../Dockerfile}", ("shop",)),
        ("{context: ., dockerfile: /etc/Dockerfile}", ("shop",)),
        ("/srv/shop", ()),
        ("https://github.com/shop/shop.git", ()),
        ("git@github.com:shop/shop.git", ()),
        ("{}", ()),
    ],
)
def test_build_folders_are_those_within_the_tree(build: str, folders: tuple[str, ...]) -> None:
    (service,) = _composed(f"services:\n  web:\n    build: {build}\n")
    assert service.folders == folders


def test_services_without_lines_of_their_own_are_stated_by_the_file() -> None:
    analysis = deploy_analysis(SourceFile("compose.yml", "services: {a: {}, b: {}}\n", "yaml"))
    assert analysis is not None
    assert [(part.keys, len(part.statements)) for part in analysis.parts] == [(("yaml::compose.yml",), 2)]


def test_a_long_part_has_the_keys_of_all_its_pieces() -> None:
    long = "".join(f"    V{number}: {'x' * 1000}\n" for number in range(10))
    analysis = deploy_analysis(SourceFile("compose.yml", f"services:\n  a:\n    environment:\n{long}", "yaml"))
    assert analysis is not None
    assert [part.keys for part in analysis.parts] == [("yaml::compose.yml#a", "yaml::compose.yml#a@2")]
    assert [part.origin for part in analysis.parts] == ["compose.yml:2"]


def test_aliases_that_multiply_leave_the_text_and_are_named() -> None:
    levels = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 60)]
    text = "apiVersion: v1\nkind: Pod\n" + "\n".join(levels)
    analysis = deploy_analysis(SourceFile("pod.yaml", text, "yaml"))
    assert analysis is not None
    assert [node.text for node in analysis.file.nodes] == [text]
    assert analysis.parts == ()
    (skipped,) = analysis.file.skipped
    assert skipped.path == "pod.yaml"
    assert skipped.why.startswith("not read for services, for at line 10: aliases make more than")


HELM = """\
{{- /* a comment
  of lines */ -}}
{{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: orders
  labels:
    {{- include "labels" . | nindent 4 }}
    team: {{ .Values.team }}
spec:
  template:
    metadata:
      labels: {app: {{ .Chart.Name }}, tier: web}
    spec:
      containers:
        - image: {{ .Values.image }}:{{ .Values.tag }}
          env:
            {{- range $key, $value := .Values.env }}
            - name: {{ $key }}
              value: {{ $value | quote }}
            {{- end }}
            - name: AUTH_URL
              value: http://auth:{{ .Values.authPort }}
---
apiVersion: v1
kind: Service
metadata: {name: orders}
spec: {selector: {app: orders}}
---
kind: Service
metadata:
  name: broken
spec: {{ if .x }}: [
---
kind: Service
metadata:
  name: {{ .Release.Name }}-orders
"""


def test_helm_templates_state_what_stands_there_plainly() -> None:
    deployment, *services = _stated(HELM, "chart/templates/all.yaml", "helm")
    assert isinstance(deployment, Workload)
    assert deployment.metadata == Metadata("orders", "", "")
    assert ("tier", "web") in deployment.pod_labels
    assert [variable.name for variable in deployment.variables][1:] == ["AUTH_URL"]
    assert deployment.variables[1].value.startswith("http://auth:")
    assert services == [
        KubernetesService(Metadata("orders", "", "orders")),
        KubernetesService(Metadata("broken", "", "")),
        KubernetesService(Metadata("", "", "")),
    ]


def test_values_of_a_chart_state_nothing() -> None:
    values = "replicas: 2\nenv:\n  - name: AUTH_URL\n    value: http://auth:80\nservice: {name: auth, port: 80}\n"
    assert _stated(values, "chart/values.yaml") == []


_keys = st.sampled_from(
    "metadata name namespace labels app spec selector template jobTemplate containers env envFrom value valueFrom "
    "configMapKeyRef configMapRef key data rules http paths backend backendRefs service serviceName items services "
    "build context dockerfile environment networks aliases hostname".split()
)
_scalars = st.sampled_from(["", "web", "Deployment", "Service", "Ingress", "ConfigMap", "A=http://web:80", ".", "1"])
_anything = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=4), max_leaves=25
)
_kinds = st.sampled_from(["Deployment", "Pod", "CronJob", "Service", "Ingress", "HTTPRoute", "ConfigMap", "List", "X"])


@given(st.dictionaries(_keys, _anything, min_size=1), _kinds, st.sampled_from(["compose.yml", "pod.yaml"]))
def test_manifests_of_any_shape_are_read(body: dict[str, object], kind: str, path: str) -> None:
    text = yaml.safe_dump({"apiVersion": "v1", "kind": kind, **body}, sort_keys=False)
    for language in ("yaml", "helm"):
        analysis = deploy_analysis(SourceFile(path, text, language))
        assert analysis is not None
        keys = {node.key for node in analysis.file.nodes}
        assert {key for part in analysis.parts for key in part.keys} <= keys
        assert not analysis.file.skipped
        edges = ServiceCatalog(analysis.parts, ()).edges()
        assert all(edge.from_key in keys and edge.to_key in keys for edge in edges)
