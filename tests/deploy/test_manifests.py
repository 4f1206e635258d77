"""Every manifest fits the schemas of Kubernetes and Istio, unknown fields included."""

import copy
from importlib import import_module

import kubernetes_validate
import pytest

from support.kubernetes import Manifest, manifests

pytestmark = pytest.mark.slow

FOLDERS = (
    *("kubernetes/base", "kubernetes/indexing", "kubernetes/with-envoy", "kubernetes/with-istio"),
    *("kubernetes/milvus", "kubernetes/indexing-on-milvus", "kubernetes/with-envoy-on-milvus"),
)
# The oldest that knows `preStop.sleep` and `ContainerResource` without feature gates, and the newest at hand.
KUBERNETES_VERSIONS = ("1.34", "1.37")
ISTIO = {
    "networking.istio.io/v1": "cloudcoil.models.istio.networking.v1",
    "security.istio.io/v1": "cloudcoil.models.istio.security.v1",
}
"""Modules of models, loaded when they are used, since that takes seconds."""


def check_kubernetes(manifest: Manifest) -> None:
    for version in KUBERNETES_VERSIONS:
        kubernetes_validate.validate(dict(manifest), version, strict=True)


def check_istio(manifest: Manifest) -> None:
    """Raises ValidationError for a wrong value; these models drop unknown fields, which then are missed."""
    models = import_module(ISTIO[manifest["apiVersion"]])
    model = getattr(models, manifest["kind"]).model_validate(manifest)
    assert model.model_dump(mode="json", by_alias=True, exclude_unset=True) == manifest


@pytest.mark.parametrize("folder", FOLDERS)
def test_kubernetes_and_istio_admit_what_is_built(folder: str) -> None:
    for manifest in manifests(folder):
        if manifest["apiVersion"] in ISTIO:
            check_istio(manifest)
        elif manifest["kind"] != "Milvus":  # test_milvus_cluster.py is about that one
            check_kubernetes(manifest)


def _spoilt(manifest: Manifest, change: str) -> Manifest:
    spoilt = copy.deepcopy(dict(manifest))
    if change == "unknown":
        spoilt["spec"]["selectr"] = {}
    else:
        spoilt["spec"]["selector"] = 7
    return spoilt


@pytest.mark.parametrize("change", ["unknown", "type"])
def test_the_validators_find_what_is_wrong(change: str) -> None:
    built = {manifest["kind"]: manifest for manifest in manifests("kubernetes/with-istio")}
    with pytest.raises(kubernetes_validate.ValidationError):
        check_kubernetes(_spoilt(built["Service"], change))
    with pytest.raises((AssertionError, ValueError)):
        check_istio(_spoilt(built["AuthorizationPolicy"], change))


@pytest.mark.parametrize("folder", FOLDERS)
def test_everything_is_in_the_namespace(folder: str) -> None:
    namespace = "groundwire-milvus" if folder == "kubernetes/milvus" else "groundwire"
    for manifest in manifests(folder):
        if manifest["kind"] == "Namespace":
            assert manifest["metadata"]["name"] == namespace
        else:
            assert manifest["metadata"]["namespace"] == namespace
