"""Kubernetes manifests as `kubectl` and `helm` make them from `deploy`, and ways to look into them."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
CHART = DEPLOY / "helm" / "groundwire"
Manifest = Mapping[str, Any]


@lru_cache
def manifests(folder: str) -> tuple[Manifest, ...]:
    """What `kubectl apply -k deploy/FOLDER` would send."""
    built = _run("kubectl", "kustomize", str(DEPLOY / folder))
    assert (built.returncode, built.stderr) == (0, ""), built.stderr
    return tuple(yaml.safe_load_all(built.stdout))


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `helm`; it remarks on stderr that files of the chart are links."""
    return _run("helm", *arguments)


@lru_cache
def chart(*arguments: str, chart: Path = CHART, namespace: str = "groundwire") -> tuple[Manifest, ...]:
    """What `helm install groundwire deploy/helm/groundwire ARGUMENTS` would send."""
    built = helm("template", "groundwire", str(chart), "--namespace", namespace, *arguments)
    assert built.returncode == 0, built.stderr
    return tuple(manifest for manifest in yaml.safe_load_all(built.stdout) if manifest is not None)


def of_kind(built: tuple[Manifest, ...], kind: str) -> dict[str, Manifest]:
    """The manifests of that kind by name."""
    return {_name(manifest): manifest for manifest in built if manifest["kind"] == kind}


def pod_templates(built: tuple[Manifest, ...]) -> dict[str, Manifest]:
    """The pod templates by the name of what makes pods of them."""
    makers = {_name(each): each["spec"] for each in built if each["kind"] in {"CronJob", "Deployment"}}
    return {name: spec.get("jobTemplate", {"spec": spec})["spec"]["template"] for name, spec in makers.items()}


def containers(built: tuple[Manifest, ...]) -> Iterator[tuple[Manifest, Manifest]]:
    """Each container with the pod that it is in."""
    for template in pod_templates(built).values():
        for container in template["spec"]["containers"]:
            yield template["spec"], container


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a selector matches: labels, `matchLabels`, or `matchExpressions` with `In`; an empty one always does."""
    is_plain = selector.keys().isdisjoint({"matchLabels", "matchExpressions"})
    wanted = selector if is_plain else selector.get("matchLabels", {})
    listed = () if is_plain else selector.get("matchExpressions", ())
    assert all(each["operator"] == "In" for each in listed)
    return wanted.items() <= labels.items() and all(labels.get(each["key"]) in each["values"] for each in listed)


def _run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name(name)
    assert program.exists(), f"no {program}; run `python deploy/install_programs.py {program.parent}`"
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300, check=False)


def _name(manifest: Manifest) -> str:
    return str(manifest["metadata"]["name"])
