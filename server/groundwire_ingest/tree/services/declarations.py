"""Which service each deploy file belongs to, and which of them a name means."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from groundwire_ingest.tree.folders import folder_of
from groundwire_ingest.tree.services.statements import (
    ComposeService,
    DeployedPart,
    KubernetesService,
    Route,
    Statement,
    Workload,
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A statement, its place and the service that it belongs to; "" as `service` where it belongs to none."""

    part: DeployedPart
    statement: Statement
    service: str

    @property
    def key(self) -> str:
        """The node that represents it."""
        return self.part.keys[0]

    @property
    def namespace(self) -> str:
        """The Kubernetes namespace, "" where the manifest states none; for Compose the project's folder and a `/`.

        No Kubernetes namespace holds a slash.
        """
        if isinstance(self.statement, ComposeService):
            return f"{self.statement.project}/"
        return self.statement.metadata.namespace


def declare(parts: Iterable[DeployedPart]) -> tuple[Declaration, ...]:
    """A declaration for each statement, ordered by node key; the order of `parts` does not matter.

    Workloads, Services, routes and Compose services declare the service that their labels or else their names give.
    A Kubernetes Service takes the name of the workloads that it selects. Other manifests belong to the service that
    their labels name, if anything declares it.
    """
    stated = [(part, statement) for part in sorted(parts, key=lambda part: part.keys) for statement in part.statements]
    workloads = _Workloads(stated)
    own_services = [workloads.selected_service(part.path, item) or _own_service(item) for part, item in stated]
    labels = ["" if isinstance(item, ComposeService) else item.metadata.label for _, item in stated]
    services = (
        service or (label if label in own_services else "") for service, label in zip(own_services, labels, strict=True)
    )
    return tuple(Declaration(*at, service) for at, service in zip(stated, services, strict=True))


def _own_service(statement: Statement) -> str:
    """The service that a statement declares by itself; "" for a manifest that declares none."""
    if isinstance(statement, ComposeService):
        return statement.name
    is_service = isinstance(statement, Workload | KubernetesService | Route)
    return statement.metadata.label or statement.metadata.name if is_service else ""


class _Workloads:
    """The workloads of a tree by the labels of their pods."""

    def __init__(self, stated: Sequence[tuple[DeployedPart, Statement]]) -> None:
        self._by_label: defaultdict[tuple[str, str], list[tuple[str, Workload]]] = defaultdict(list)
        self._selected: dict[tuple[frozenset[tuple[str, str]], str], Mapping[str, set[str]]] = {}
        for part, statement in stated:
            if isinstance(statement, Workload):
                for label in statement.pod_labels:
                    self._by_label[label].append((part.path, statement))

    def selected_service(self, path: str, statement: Statement) -> str:
        """The service of the workloads that a Kubernetes Service at `path` selects; "" where there is not just one.

        Those of the same file count, else of the same folder, else all; those of its namespace, else those for which
        it or they leave the namespace open.
        """
        if not isinstance(statement, KubernetesService) or not statement.selector:
            return ""
        selection = (statement.selector, statement.metadata.namespace)
        if selection not in self._selected:
            self._selected[selection] = self._select(*selection)
        selected = self._selected[selection]
        services = selected.get(path) or selected.get(_folder(path)) or selected.get("", set())
        return next(iter(services)) if len(services) == 1 else ""

    def _select(self, selector: frozenset[tuple[str, str]], namespace: str) -> Mapping[str, set[str]]:
        """The services of what a selector selects in a namespace: by file, by folder, and all of them under ""."""
        fewest = min((self._by_label.get(label, []) for label in sorted(selector)), key=len)
        selected = [(path, item) for path, item in fewest if selector <= item.pod_labels]
        same = [(path, item) for path, item in selected if item.metadata.namespace == namespace]
        open_ = [(path, item) for path, item in selected if not (namespace and item.metadata.namespace)]
        services: defaultdict[str, set[str]] = defaultdict(set)
        for path, item in same or open_:
            for place in (path, _folder(path), ""):
                services[place].add(_own_service(item))
        return services


def _folder(path: str) -> str:
    """The folder of a file, with a trailing slash."""
    return f"{folder_of(path)}/"
