"""Which service the nodes of a tree belong to."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from groundwire_ingest.records import SourceNode
from groundwire_ingest.tree.source import TreeSource

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]


def _nodes(root: Path) -> list[SourceNode]:
    return [record for record in TreeSource(root).read() if isinstance(record, SourceNode)]


def _services(root: Path) -> dict[str, str]:
    """The service of each node by its key, those without any left out."""
    return {node.key: node.service_name for node in _nodes(root) if node.service_name}


def _manifest(kind: str, name: str, spec: str = "{}", labels: str = "{}", namespace: str = "") -> str:
    metadata = f"{{name: {name}, labels: {labels}, namespace: {namespace}}}"
    return f"apiVersion: v1\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n"


def _deployment(name: str, labels: str, namespace: str = "") -> str:
    return _manifest("Deployment", name, f"{{template: {{metadata: {{labels: {labels}}}}}}}", namespace=namespace)


def test_manifests_of_one_application(make_tree: TreeMaker) -> None:
    documents = [
        _manifest("Deployment", "auth-v2", labels="{app.kubernetes.io/name: auth}"),
        _manifest("StatefulSet", "orders-db"),
        _manifest("Ingress", "edge"),
        _manifest("ConfigMap", "auth-settings", labels="{app: auth}"),
        _manifest("Secret", "other", labels="{app: nothing-declares-it}"),
        _manifest("ConfigMap", "silent"),
        _manifest("Namespace", "auth"),
    ]
    assert _services(make_tree({"all.yaml": "---\n".join(documents)})) == {
        "yaml::all.yaml#Deployment/auth-v2": "auth",
        "yaml::all.yaml#StatefulSet/orders-db": "orders-db",
        "yaml::all.yaml#Ingress/edge": "edge",
        "yaml::all.yaml#ConfigMap/auth-settings": "auth",
    }


def test_a_kubernetes_service_has_the_name_of_what_it_selects(make_tree: TreeMaker) -> None:
    files = {
        "deploy.yaml": _deployment("auth-v2", "{part: auth, tier: back, track: stable}"),
        "service.yaml": _manifest("Service", "login", "{selector: {part: auth, tier: back}}", "{app: other}"),
        "none.yaml": _manifest("Service", "none", "{selector: {part: auth, tier: front}}"),
        "all.yaml": _manifest("Service", "empty", "{selector: {}}"),
    }
    assert _services(make_tree(files)) == {
        "yaml::deploy.yaml": "auth-v2",
        "yaml::service.yaml": "auth-v2",
        "yaml::none.yaml": "none",
        "yaml::all.yaml": "empty",
    }


def test_a_selector_links_within_the_namespace_and_nearest_first(make_tree: TreeMaker) -> None:
    selecting = "{selector: {tier: web}}"
    files = {
        "a/deploy.yaml": _deployment("a-web", "{tier: web}"),
        "a/service.yaml": _manifest("Service", "web", selecting),
        "b/all.yaml": _deployment("b-web", "{tier: web}") + "---\n" + _manifest("Service", "web", selecting),
        "b/more.yaml": _deployment("more-web", "{tier: web}"),
        "b/torn.yaml": _manifest("Service", "torn", selecting),
        "c/deploy.yaml": _deployment("c-web", "{tier: web}", namespace="c"),
        "d/service.yaml": _manifest("Service", "d", selecting, namespace="c"),
        "d/other.yaml": _manifest("Service", "other", "{selector: {only: e}}", namespace="d"),
        "e/deploy.yaml": _deployment("e-web", "{only: e}", namespace="e"),
        "e/open.yaml": _manifest("Service", "open", "{selector: {only: e}}"),
    }
    services = _services(make_tree(files))
    assert services["yaml::a/service.yaml"] == "a-web"
    assert services["yaml::b/all.yaml#Service/web"] == "b-web"
    assert services["yaml::b/torn.yaml"] == "torn"
    assert services["yaml::d/service.yaml"] == "c-web"
    assert services["yaml::d/other.yaml"] == "other"
    assert services["yaml::e/open.yaml"] == "e-web"


def test_versions_of_one_service_are_one_service(make_tree: TreeMaker) -> None:
    versions = [_deployment(f"reviews-{version}", f"{{app: reviews, version: {version}}}") for version in ("v1", "v2")]
    service = _manifest("Service", "reviews-http", "{selector: {app: reviews}}")
    assert set(_services(make_tree({"all.yaml": "---\n".join([*versions, service])})).values()) == {"reviews"}


def test_compose_services_and_all_pieces_of_them(make_tree: TreeMaker) -> None:
    long = "".join(f"      V{number}: {'x' * 1000}\n" for number in range(10))
    compose = f"services:\n  web:\n    environment:\n{long}  db:\n    image: postgres\nvolumes: {{}}\n"
    assert _services(make_tree({"docker-compose.yml": compose})) == {
        "yaml::docker-compose.yml#web": "web",
        "yaml::docker-compose.yml#web@2": "web",
        "yaml::docker-compose.yml#db": "db",
    }


def test_a_chunk_of_several_services_belongs_to_none(make_tree: TreeMaker) -> None:
    assert _services(make_tree({"compose.yml": "services: {a: {}, b: {}}\n"})) == {}
    assert _services(make_tree({"compose.yml": "services: {a: {}}\n"})) == {"yaml::compose.yml": "a"}


CODE: Mapping[str, str] = {
    "src/web/app.py": "x = 1\n",
    "src/web/db/schema.sql": "CREATE TABLE t (id int);\n",
    "src/web/README.md": "# Web\n\nServes.\n",
    "src/web/Dockerfile": "FROM python\n",
    "src/shared/lib.py": "x = 1\n",
}


def _with_code(**files: str) -> dict[str, str]:
    return {**CODE, **{path.replace("__", "/") + ".yaml": text for path, text in files.items()}}


def test_everything_below_a_build_folder_belongs_to_its_service(make_tree: TreeMaker) -> None:
    nodes = _nodes(make_tree(_with_code(deploy__compose="services:\n  shop-front:\n    build: ../src/web\n")))
    inside = [node for node in nodes if node.path.startswith("src/web/")]
    assert {node.kind for node in inside} == {"py", "sql", "md", "dockerfile"}
    assert {node.service_name for node in inside} == {"shop-front"}
    assert {node.service_name for node in nodes if node.path.startswith("src/shared/")} == {""}


@pytest.mark.parametrize("name", ["web", "Web", "w-e_b"])
def test_a_folder_with_a_dockerfile_and_the_name_of_a_service_is_its_own(make_tree: TreeMaker, name: str) -> None:
    services = _services(make_tree(_with_code(k8s__web=_manifest("Deployment", name))))
    assert services["py::src/web/app.py"] == services["dockerfile::src/web/Dockerfile"] == name
    assert "py::src/shared/lib.py" not in services


def test_neither_the_name_nor_the_dockerfile_is_enough_alone(make_tree: TreeMaker) -> None:
    root = make_tree(_with_code(k8s__all=_manifest("Deployment", "shared") + "---\n" + _manifest("Pod", "x")))
    assert {key for key in _services(root) if not key.startswith("yaml")} == set()


def test_a_variant_of_a_dockerfile_counts(make_tree: TreeMaker) -> None:
    files = {"auth/Dockerfile.dev": "FROM x\n", "auth/a.py": "x = 1\n", "k8s.yaml": _manifest("Deployment", "auth")}
    assert _services(make_tree(files))["py::auth/a.py"] == "auth"


def test_a_folder_that_fits_several_services_is_that_of_the_equal_one_or_of_none(make_tree: TreeMaker) -> None:
    both = _manifest("Deployment", "my-web") + "---\n" + _manifest("Deployment", "my_web")
    folders = ("my_web", "MyWeb")
    dockerfiles = {f"{folder}/Dockerfile": "FROM x\n" for folder in folders}
    code = {f"{folder}/a.py": "x = 1\n" for folder in folders}
    services = _services(make_tree({**dockerfiles, **code, "k8s.yaml": both}))
    assert services["py::my_web/a.py"] == "my_web"
    assert "py::MyWeb/a.py" not in services


def test_the_innermost_folder_decides_and_compose_comes_before_the_name(make_tree: TreeMaker) -> None:
    files = {
        "compose.yaml": "services:\n  root:\n    build: .\n  front:\n    build: ./web\n  web:\n    image: x\n",
        "a.py": "x = 1\n",
        "web/Dockerfile": "FROM x\n",
        "web/a.py": "x = 1\n",
        "web/worker/Dockerfile": "FROM x\n",
        "web/worker/jobs/a.py": "x = 1\n",
        "webby/a.py": "x = 1\n",
        "k8s/worker.yaml": _manifest("Deployment", "worker"),
    }
    services = _services(make_tree(files))
    assert services["py::a.py"] == services["py::webby/a.py"] == "root"
    assert services["py::web/a.py"] == "front"
    assert services["py::web/worker/jobs/a.py"] == "worker"
    assert services["yaml::compose.yaml#web"] == "web"
    assert services["yaml::compose.yaml"] == "root"


def test_one_context_for_all_leaves_each_the_folder_of_its_dockerfile(make_tree: TreeMaker) -> None:
    build = "  {0}:\n    build: {{context: ., dockerfile: services/{1}/Dockerfile}}\n"
    files = {
        "compose.yaml": "services:\n" + build.format("catalog-api", "Catalog.API") + build.format("web", "Web"),
        "services/Catalog.API/Dockerfile": "FROM x\n",
        "services/Catalog.API/a.py": "x = 1\n",
        "services/Web/a.py": "x = 1\n",
        "services/common.py": "x = 1\n",
    }
    services = _services(make_tree(files))
    assert services["py::services/Catalog.API/a.py"] == "catalog-api"
    assert services["py::services/Web/a.py"] == "web"
    assert "py::services/common.py" not in services
