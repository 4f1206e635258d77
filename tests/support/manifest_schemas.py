"""The schemas of Kubernetes, of Istio and of the Prometheus operator."""

from importlib import import_module

import kubernetes_validate

from support.kubernetes import Manifest

# The oldest that knows `preStop.sleep` and `ContainerResource` without feature gates, and the newest at hand.
KUBERNETES_VERSIONS = ("1.34", "1.37")
MODELS = {
    "monitoring.coreos.com/v1": "cloudcoil.models.prometheus_operator.v1",
    "networking.istio.io/v1": "cloudcoil.models.istio.networking.v1",
    "security.istio.io/v1": "cloudcoil.models.istio.security.v1",
}
"""Modules of models, loaded when they are used, since that takes seconds."""


def check_schema(manifest: Manifest) -> None:
    """Raises an error for what a cluster would refuse, unknown fields included.

    That is kubernetes_validate.ValidationError for objects of Kubernetes itself, else ValueError or AssertionError.
    """
    if manifest["apiVersion"] in MODELS:
        models = import_module(MODELS[manifest["apiVersion"]])
        model = getattr(models, manifest["kind"]).model_validate(manifest)
        # The models drop unknown fields, which then are missed.
        assert model.model_dump(mode="json", by_alias=True, exclude_unset=True) == manifest
    else:
        for version in KUBERNETES_VERSIONS:
            kubernetes_validate.validate(dict(manifest), version, strict=True)
