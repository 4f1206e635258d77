"""Who calls whom: edges between the deploy nodes of a tree."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.deploy import deploy_analysis
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.services.catalog import ServiceCatalog
from groundwire_ingest.tree.services.statements import DeployedPart
from groundwire_ingest.tree.source import TreeSource

Edges = dict[tuple[str, str, str], float]
TreeMaker = Callable[[Mapping[str, str | bytes]], Path]


def _parts(files: Mapping[str, str]) -> list[DeployedPart]:
    analyses = [deploy_analysis(SourceFile(path, text, "yaml")) for path, text in files.items()]
    return [part for analysis in analyses if analysis is not None for part in analysis.parts]


def _edges(files: Mapping[str, str]) -> Edges:
    """Edges by their ends, without `yaml::`, and type; of equal ones the highest confidence."""
    by_ends: Edges = {}
    for edge in ServiceCatalog(_parts(files), ()).edges():
        place = (edge.from_key.removeprefix("yaml::"), edge.to_key.removeprefix("yaml::"), edge.edge_type)
        by_ends[place] = max(edge.confidence, by_ends.get(place, 0.0))
    return by_ends


def _calls(files: Mapping[str, str]) -> set[tuple[str, str]]:
    return {(from_, to) for from_, to, edge_type in _edges(files) if edge_type == "CallsService"}


def _manifest(kind: str, name: str, spec: str = "{}", namespace: str = "") -> str:
    return f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {spec}\n"


def _workload(name: str, namespace: str = "", **variables: str) -> str:
    env = ", ".join(f"{{name: {key}, value: '{value}'}}" for key, value in variables.items())
    labels = f"{{app: {name}}}"
    spec = f"{{template: {{metadata: {{labels: {labels}}}, spec: {{containers: [{{env: [{env}]}}]}}}}}}"
    return _manifest("Deployment", name, spec, namespace)


def _service(name: str, app: str, namespace: str = "") -> str:
    return _manifest("Service", name, f"{{selector: {{app: {app}}}}}", namespace)


BOUTIQUE = {
    "k8s/frontend.yaml": _workload("frontend", CART="cartservice:7070", REDIS_HOST="redis", MODE="cartservice")
    + "---\n"
    + _service("frontend-external", "frontend"),
    "k8s/cart.yaml": _workload("cart", SELF="http://cartservice:7070", REDIS_ADDR="redis.default.svc.cluster.local:1")
    + "---\n"
    + _service("cartservice", "cart"),
    "k8s/redis.yaml": _service("redis", "redis"),
    "k8s/ingress.yaml": """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: edge}
spec:
  rules:
    - http: {paths: [{path: /, backend: {service: {name: frontend-external}}}]}
    - http: {paths: [{path: /x, backend: {service: {name: absent}}}]}
""",
    "docker-compose.yml": """\
services:
  frontend:
    environment:
      - CART_URL=${CART_URL:-http://cart:7070}
  cart:
    environment:
      REDIS_ADDR: redis:6379
  redis:
    image: redis
""",
}

EXPECTED = {
    ("k8s/frontend.yaml#Deployment/frontend", "k8s/cart.yaml#Deployment/cart", "CallsService"): 0.9,
    ("k8s/frontend.yaml#Deployment/frontend", "k8s/redis.yaml", "CallsService"): 0.7,
    ("k8s/cart.yaml#Deployment/cart", "k8s/redis.yaml", "CallsService"): 0.9,
    ("k8s/ingress.yaml", "k8s/frontend.yaml#Service/frontend-external", "RoutesTo"): 1.0,
    ("docker-compose.yml#frontend", "docker-compose.yml#cart", "CallsService"): 0.9,
    ("docker-compose.yml#cart", "docker-compose.yml#redis", "CallsService"): 0.9,
}


def test_an_application_deployed_by_kubernetes_and_compose() -> None:
    assert _edges(BOUTIQUE) == EXPECTED


def test_edges_are_among_the_records_of_the_tree_and_say_where_they_come_from(make_tree: TreeMaker) -> None:
    edges = [record for record in TreeSource(make_tree(BOUTIQUE)).read() if isinstance(record, SourceEdge)]
    service_edges = {edge for edge in edges if edge.edge_type in ("CallsService", "RoutesTo")}
    assert {(edge.from_key, edge.to_key, edge.edge_type): edge.confidence for edge in service_edges} == {
        (f"yaml::{from_}", f"yaml::{to}", edge_type): confidence
        for (from_, to, edge_type), confidence in EXPECTED.items()
    }
    assert {edge.origin for edge in service_edges} == {
        "k8s/frontend.yaml:1",
        "k8s/cart.yaml:1",
        "k8s/ingress.yaml:1",
        "docker-compose.yml:2",
        "docker-compose.yml:5",
    }


def test_a_call_leads_to_the_workload_then_the_service_then_compose() -> None:
    files = {
        "compose.yml": "services:\n  auth:\n    image: x\n  web:\n    image: y\n",
        "service.yaml": _service("auth", "auth"),
        "workload.yaml": _workload("auth"),
        "caller.yaml": _workload("caller", namespace="other", AUTH="auth:80", WEB="web:80"),
    }
    assert _calls(files) == {("caller.yaml", "workload.yaml"), ("caller.yaml", "compose.yml#web")}
    del files["workload.yaml"]
    assert _calls(files) == {("caller.yaml", "service.yaml"), ("caller.yaml", "compose.yml#web")}


def test_the_nearest_of_several_declarations_is_meant() -> None:
    files = {
        f"{folder}/{name}.yaml": text
        for folder in ("a", "b", "b/c")
        for name, text in (("auth", _workload("auth")), ("web", _workload("web", AUTH="auth:80")))
    }
    assert _calls(files) == {(f"{folder}/web.yaml", f"{folder}/auth.yaml") for folder in ("a", "b", "b/c")}


def test_names_are_looked_for_in_the_own_namespace_first() -> None:
    files = {
        "a.yaml": _workload("auth-a", "a") + "---\n" + _service("auth", "auth-a", "a"),
        "b.yaml": _workload("auth-b", "b") + "---\n" + _service("auth", "auth-b", "b"),
        "in-b.yaml": _workload("in-b", "b", AUTH="auth:80"),
        "to-a.yaml": _workload("to-a", "b", AUTH="auth.a:80"),
        "nowhere.yaml": _workload("nowhere", "c", AUTH="auth:80", OTHER="auth.c.svc:80"),
        "only.yaml": _workload("only", "c", AUTH="auth-b:80"),
    }
    assert _calls(files) == {
        ("in-b.yaml", "b.yaml#Deployment/auth-b"),
        ("to-a.yaml", "a.yaml#Deployment/auth-a"),
        ("only.yaml", "b.yaml#Deployment/auth-b"),
    }


@pytest.mark.parametrize(
    ("host", "is_meant"),
    [
        ("auth", True),
        ("AUTH", True),
        ("auth.prod", True),
        ("auth.prod.svc", True),
        ("auth.any.svc.cluster.local", True),
        ("auth-0.auth", True),
        ("auth-0.auth.prod.svc.cluster.local", True),
        ("auth.io", False),
        ("auth.example.com", False),
        ("auth.prod.example.com", False),
        ("auth-x.auth", False),
        ("auth-0.example.com", False),
        ("authors", False),
        ("svc", False),
    ],
)
def test_names_of_the_cluster_are_told_from_those_of_the_world(host: str, is_meant: bool) -> None:
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n"
    files = {
        "auth.yaml": _manifest("StatefulSet", "auth"),
        "prod.yaml": namespace,
        "caller.yaml": _workload("caller", AUTH=f"http://{host}/x"),
    }
    assert _calls(files) == ({("caller.yaml", "auth.yaml")} if is_meant else set())


def test_a_compose_service_is_known_by_all_its_names_in_its_own_project_first() -> None:
    compose = """\
services:
  web:
    environment: [A=http://login:80, B=http://auth.local/]
  AUTH:
    container_name: login
  USERS:
    networks: {back: {aliases: [auth.local]}}
"""
    files = {
        f"{project}/compose.yml": compose.replace("AUTH", f"auth-{project}").replace("USERS", f"users-{project}")
        for project in ("a", "b")
    }
    assert _calls(files) == {
        (f"{project}/compose.yml#web", f"{project}/compose.yml#{callee}-{project}")
        for project in ("a", "b")
        for callee in ("auth", "users")
    }


def test_names_in_the_network_come_before_names_of_workloads() -> None:
    files = {
        "real.yaml": _workload("identity") + "---\n" + _service("auth", "identity"),
        "namesake.yaml": _workload("auth"),
        "caller.yaml": _workload("caller", AUTH="auth:80"),
    }
    assert _calls(files) == {("caller.yaml", "real.yaml#Deployment/identity")}


def test_variables_come_from_config_maps_too() -> None:
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {0}}}\ndata: {{url: 'http://{1}', AUTH_HOST: {2}}}\n"
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {{name: {0}}}\nspec: {{containers: [{{{1}}}]}}\n"
    key = "{name: X, valueFrom: {configMapKeyRef: {name: settings, key: url}}}"
    files = {
        "config.yaml": config.format("settings", "cart", "auth"),
        "far/config.yaml": config.format("unrelated", "web", "web"),
        "all.yaml": pod.format("all", "envFrom: [{configMapRef: {name: settings}}]"),
        "one.yaml": pod.format("one", f"env: [{key}]"),
        "absent.yaml": pod.format("absent", "envFrom: [{configMapRef: {name: absent}}]"),
        "apps.yaml": "---\n".join([_workload("auth"), _workload("cart"), _workload("web")]),
    }
    assert _edges(files) == {
        ("all.yaml", "apps.yaml#Deployment/cart", "CallsService"): 0.9,
        ("all.yaml", "apps.yaml#Deployment/auth", "CallsService"): 0.7,
        ("one.yaml", "apps.yaml#Deployment/cart", "CallsService"): 0.9,
    }


def test_no_service_calls_itself() -> None:
    files = {
        "base.yaml": _workload("kafka", LISTENER="PLAINTEXT://kafka:9092") + "---\n" + _service("kafka", "kafka"),
        "overlay.yaml": _workload("kafka", BROKERS="kafka"),
        "mirror.yaml": _workload("kafka", namespace="mirror", SOURCE="kafka.main.svc:9092"),
        "compose.yml": "services: {kafka: {environment: [ADDR=zoo:1]}, zoo: {image: x}}\n",
    }
    assert _edges(files) == {}


def test_routes_lead_to_the_service_that_they_name() -> None:
    route = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: edge, namespace: a}
spec: {rules: [{backendRefs: [{name: web}, {name: web-grpc}, {name: auth, namespace: b}, {name: bare}]}]}
"""
    files = {
        "route.yaml": route,
        "web.yaml": "---\n".join(
            [_workload("web", "a"), _service("web", "web", "a"), _service("web-grpc", "web", "a")]
        ),
        "auth.yaml": "---\n".join([_workload("auth", "b"), _service("auth", "auth", "b"), _service("auth", "x", "c")]),
        "bare.yaml": _workload("bare", "a"),
    }
    assert _edges(files) == {
        ("route.yaml", "web.yaml#Service/web", "RoutesTo"): 1.0,
        ("route.yaml", "web.yaml#Service/web-grpc", "RoutesTo"): 1.0,
        ("route.yaml", "auth.yaml#Service/auth", "RoutesTo"): 1.0,
        ("route.yaml", "bare.yaml", "RoutesTo"): 1.0,
    }


_places = st.sampled_from(["a", "b", "a/c"])
_names = st.sampled_from(["auth", "web", "db"])
_namespaces = st.sampled_from(["", "prod", "test"])
_workloads = st.builds(lambda name, space, host: _workload(name, space, DB_HOST=host), _names, _namespaces, _names)
_kubernetes = st.one_of(_workloads, st.builds(_service, _names, _names, _namespaces))
_compose = st.builds(lambda a, b: f"services:\n  {a}:\n    environment: [H=http://{b}]\n", _names, _names)
_files = st.dictionaries(
    st.builds(lambda place, number: f"{place}/{number}.yaml", _places, st.integers(0, 5)), _kubernetes, max_size=8
).flatmap(lambda files: _compose.map(lambda text: {**files, "a/compose.yml": text}))


@given(_files, st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(files: dict[str, str], chance: random.Random) -> None:
    paths = list(files)
    chance.shuffle(paths)
    shuffled = _parts({path: files[path] for path in paths})
    straight = list(ServiceCatalog(_parts(dict(sorted(files.items()))), ()).edges())
    assert list(ServiceCatalog(shuffled, ()).edges()) == straight
    services = {part.keys[0]: part for part in shuffled}
    assert all(edge.from_key in services and edge.to_key in services for edge in straight)
    assert all(edge.from_key != edge.to_key for edge in straight)
