"""What the images say of themselves: their labels, and the bill of materials that is written into them."""

import json
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, distribution, version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.kubernetes import DEPLOY

pytestmark = pytest.mark.slow

ROOT = DEPLOY.parent
DOCKERFILE = re.sub(r"\\\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
PROJECT: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_labels_tell_what_the_package_tells() -> None:
    defaults = dict(re.findall(r"^ARG (\w+)=(.*)$", DOCKERFILE, re.MULTILINE))
    labels = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"', DOCKERFILE.partition("FROM base AS")[0]))
    assert labels.keys() == {"title", "description", "version", "revision", "source", "licenses"}
    assert (labels["version"], defaults["VERSION"]) == ("${VERSION}", PROJECT["version"])
    assert (labels["revision"], labels["source"]) == ("${REVISION}", "${SOURCE}")
    assert {"REVISION", "SOURCE"} <= defaults.keys()
    assert labels["licenses"] == PROJECT["license"]
    assert labels["description"] == PROJECT["description"]


def installed_for(name: str, extras: frozenset[str]) -> Iterator[Distribution]:
    """What an installation of a package with extras brings, from what is installed here."""
    package = distribution(name)
    yield package
    for text in package.requires or ():
        needed = Requirement(text)
        if any(needed.marker is None or needed.marker.evaluate({"extra": extra}) for extra in extras or {""}):
            yield from installed_for(needed.name, frozenset(needed.extras))


@pytest.fixture(scope="module")
def servers_packages() -> dict[str, Distribution]:
    """The packages of `groundwire[server]` by name."""
    return {canonicalize_name(each.name): each for each in installed_for("groundwire", frozenset({"server"}))}


@pytest.fixture(scope="module")
def written(servers_packages: dict[str, Distribution], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the images' command writes of an environment with those packages, twice.

    The environment has their metadata alone, which is all that the command reads. It checks what it writes against the
    schema of CycloneDX, which takes most of its time: once is enough.
    """
    environment = tmp_path_factory.mktemp("image") / "groundwire"
    venv.create(environment)
    (site,) = environment.glob("lib/python*/site-packages")
    for package in servers_packages.values():
        (metadata,) = {package.locate_file(file).parent for file in package.files or () if file.name == "METADATA"}
        (site / Path(str(metadata)).name).symlink_to(str(metadata))
    (command,) = re.findall(r'WRITE_SBOM="([^"]+)"', DOCKERFILE)
    here = {
        "/opt/sbom/bin": str(Path(sys.executable).parent),
        "/source": str(ROOT),
        "/opt/groundwire": str(environment),
    }
    for there, path in here.items():
        command = command.replace(there, path)
    assert "--no-validate" not in command
    return [_run(command.split() + more, environment / "sbom.cdx.json") for more in ([], ["--no-validate"])]


def _run(command: list[str], output: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return output.read_text(encoding="utf-8")


def test_the_bill_of_materials_has_every_package_of_the_server_with_its_licence(
    servers_packages: dict[str, Distribution], written: list[str]
) -> None:
    bill = json.loads(written[0])
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "groundwire")
    assert bill["metadata"]["component"]["version"] == PROJECT["version"]
    listed = {canonicalize_name(each["name"]): each for each in [bill["metadata"]["component"], *bill["components"]]}
    assert listed.keys() == servers_packages.keys()
    for name, component in listed.items():
        assert component["version"] == servers_packages[name].version
        assert component["licenses"], name


def test_the_bill_of_materials_is_the_same_each_time(written: list[str]) -> None:
    assert written[0] == written[1]


def test_both_images_write_it_with_the_tool_of_the_tests() -> None:
    stages = dict(re.findall(r"AS (\S+)\n(.*?)(?=^FROM|\Z)", DOCKERFILE, re.DOTALL | re.MULTILINE))
    for name in ("server-packages", "index-packages"):
        assert stages[name].rstrip().endswith("&& $WRITE_SBOM")
    assert f"cyclonedx-bom=={version('cyclonedx-bom')}\n" in DOCKERFILE
