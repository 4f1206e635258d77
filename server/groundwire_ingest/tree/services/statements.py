"""The statements of deploy files about services, before names are resolved across the tree."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Metadata:
    """How a Kubernetes manifest names itself; "" for what it leaves out or does not state plainly.

    `label` is the service that its labels name: `app.kubernetes.io/name`, else `app`, else `name`; those of the
    manifest, else those of its pods.
    """

    name: str
    namespace: str
    label: str


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable and its value as written."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class ConfigReference:
    """Variables that a container takes from a ConfigMap: `variable` from its entry `key`, or all when that is empty."""

    config_map: str
    key: str = ""
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Workload:
    """A manifest that runs containers. `pod_labels` are (key, value) pairs."""

    metadata: Metadata
    pod_labels: frozenset[tuple[str, str]] = frozenset()
    variables: tuple[Variable, ...] = ()
    references: tuple[ConfigReference, ...] = ()


@dataclass(frozen=True, slots=True)
class KubernetesService:
    """A name in the cluster's network for the pods that have all labels of `selector`; empty where it selects none."""

    metadata: Metadata
    selector: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Backend:
    """The Kubernetes Service that a route leads to; an empty namespace is the route's own."""

    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """An Ingress or a route of the Gateway API."""

    metadata: Metadata
    backends: tuple[Backend, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfigMap:
    """Named values for containers."""

    metadata: Metadata
    data: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class OtherManifest:
    """Any other manifest: it declares no service, but its labels may name one, and it may name a namespace."""

    metadata: Metadata


@dataclass(frozen=True, slots=True)
class ComposeService:
    """A service of a Compose file. `project` is the folder of the file, `hosts` are its names in the network.

    `folders` are those of its build context and its Dockerfile, relative to the tree and within it.
    """

    name: str
    project: str
    hosts: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()
    folders: tuple[str, ...] = ()


Statement: TypeAlias = Workload | KubernetesService | Route | ConfigMap | OtherManifest | ComposeService


@dataclass(frozen=True, slots=True)
class DeployedPart:
    """A part of a deploy file with what it states: the keys of its nodes, the whole or its first piece first."""

    path: str
    origin: str
    keys: tuple[str, ...]
    statements: tuple[Statement, ...]
