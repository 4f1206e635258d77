"""Every manifest fits the schemas of Kubernetes and Istio, unknown fields included."""

import copy

import kubernetes_validate
import pytest

from support.kubernetes import Manifest, manifests
from support.manifest_schemas import check_schema

pytestmark = pytest.mark.slow

FOLDERS = (
    *("kubernetes/base", "kubernetes/indexing", "kubernetes/with-envoy", "kubernetes/with-istio"),
    *("kubernetes/milvus", "kubernetes/indexing-on-milvus", "kubernetes/with-envoy-on-milvus"),
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_kubernetes_and_istio_admit_what_is_built(folder: str) -> None:
    for manifest in manifests(folder):
        if manifest["kind"] != "Milvus":  # test_milvus_cluster.py is about that one
            check_schema(manifest)


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
        check_schema(_spoilt(built["Service"], change))
    with pytest.raises((AssertionError, ValueError)):
        check_schema(_spoilt(built["AuthorizationPolicy"], change))


@pytest.mark.parametrize("folder", FOLDERS)
def test_everything_is_in_the_namespace(folder: str) -> None:
    namespace = "groundwire-milvus" if folder == "kubernetes/milvus" else "groundwire"
    for manifest in manifests(folder):
        if manifest["kind"] == "Namespace":
            assert manifest["metadata"]["name"] == namespace
        else:
            assert manifest["metadata"]["namespace"] == namespace
