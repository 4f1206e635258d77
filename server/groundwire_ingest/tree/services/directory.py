"""Looking names up from a place in the tree: the services of a tree by the names that others call them by."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from groundwire_ingest.tree.folders import folders_above
from groundwire_ingest.tree.services.declarations import Declaration
from groundwire_ingest.tree.services.statements import ComposeService, KubernetesService, Statement, Workload

Item = TypeVar("Item")


class NameTable(Generic[Item]):
    """The things of a tree that are called by names that need not be unique.

    Nearest to a file are items of the same file, then items below the innermost folder around it; of several the one
    that was added first. A look-up takes one step for each folder of the path.
    """

    def __init__(self) -> None:
        self._nearest: dict[tuple[str | None, str, str], Item] = {}
        self._meanings: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, namespace: str, name: str, path: str, meaning: str, item: Item) -> None:
        """Adds an item of the file `path`; items of one name are distinguished only by `meaning`."""
        self._meanings[name].add(meaning)
        for place in _places(path):
            self._nearest.setdefault((namespace, name, place), item)
            self._nearest.setdefault((None, name, place), item)

    def find_in(self, namespace: str | None, name: str, path: str) -> Item | None:
        """The nearest to `path` of that name in a namespace, None being all of them; None when there is none."""
        found = (self._nearest.get((namespace, name, place)) for place in _places(path))
        return next((item for item in found if item is not None), None)

    def find_only(self, name: str, path: str) -> Item | None:
        """The nearest of that name in any namespace when all of them mean the same; None otherwise."""
        return self.find_in(None, name, path) if len(self._meanings.get(name, ())) == 1 else None


def _places(path: str) -> Iterator[str]:
    """`path` and the folders around it, innermost first; each folder with a trailing slash, the root empty."""
    yield path
    for folder in folders_above(path.rstrip("/")):
        yield folder and f"{folder}/"


_POD = re.compile(r"[a-z0-9-]+-\d+")


@dataclass(frozen=True, slots=True)
class Found:
    """The meaning of a host's name: the declaration that has the name, and the namespace where it was looked for.

    `namespace` is None when the name was found because all of that name in the tree mean one service.
    """

    declaration: Declaration
    namespace: str | None


class ServiceDirectory:
    """Finds the service that a host's name means, and the node that declares a service.

    Names compare without case. Names in the network (of Kubernetes Services and Compose services) come before the
    names of workloads and of services.
    """

    def __init__(self, declarations: Iterable[Declaration]) -> None:
        self._hosts: NameTable[Declaration] = NameTable()
        self._names: NameTable[Declaration] = NameTable()
        kinds = (Workload, KubernetesService, ComposeService)
        self._nodes: dict[type[Statement], NameTable[Declaration]] = {kind: NameTable() for kind in kinds}
        self._namespaces: set[str] = set()
        for declaration in declarations:
            self._namespaces.add(declaration.namespace)
            if declaration.service and type(declaration.statement) in self._nodes:
                self._add(declaration)

    def find(self, host: str, caller: Declaration) -> Found | None:
        """The meaning of `host` for `caller`; None when it means no service of the tree, or several.

        A name alone is looked for in the caller's namespace, then in the whole tree, where it must mean one service.
        `name.namespace`, `name.namespace.svc` and what may follow are looked for in that namespace, then among the
        manifests that state none. A pod of a StatefulSet (`db-0.db`) is known by its Service.
        """
        name = host.lower()
        found = self._find_name(name, caller)
        if found is None and "." in name:
            pod, _, service = name.partition(".")
            found = self._find_qualified(name.split("."), caller)
            if found is None and _POD.fullmatch(pod):
                found = self._find_name(service, caller) or self._find_qualified(service.split("."), caller)
        return found

    def node(self, found: Found, caller: Declaration, kinds: Sequence[type[Statement]]) -> Declaration:
        """The declaration of the service that is nearest to `caller`, of the first of `kinds` that there is."""
        service, path = found.declaration.service, caller.part.path
        nodes = (self._nodes[kind].find_in(found.namespace, service, path) for kind in kinds)
        return next((node for node in nodes if node is not None), found.declaration)

    def _add(self, declaration: Declaration) -> None:
        statement, service, path = declaration.statement, declaration.service, declaration.part.path
        namespace = declaration.namespace
        self._nodes[type(statement)].add(namespace, service, path, service, declaration)
        hosts = statement.hosts if isinstance(statement, ComposeService) else (statement.metadata.name,)
        table = self._names if isinstance(statement, Workload) else self._hosts
        for host in filter(None, hosts):
            table.add(namespace, host.lower(), path, service, declaration)
        self._names.add(namespace, service.lower(), path, service, declaration)

    def _find_name(self, name: str, caller: Declaration) -> Found | None:
        path = caller.part.path
        only = self._hosts.find_only(name, path) or self._names.find_only(name, path)
        return self._find_in(caller.namespace, name, path) or (None if only is None else Found(only, None))

    def _find_qualified(self, labels: Sequence[str], caller: Declaration) -> Found | None:
        name, *rest = labels
        is_cluster_name = rest[1:2] == ["svc"]
        if not rest or (len(rest) > 1 and not is_cluster_name):
            return None
        found = self._find_in(rest[0], name, caller.part.path)
        if found is None and (is_cluster_name or rest[0] in self._namespaces):
            found = self._find_in("", name, caller.part.path)
        return found

    def _find_in(self, namespace: str, name: str, path: str) -> Found | None:
        item = self._hosts.find_in(namespace, name, path) or self._names.find_in(namespace, name, path)
        return None if item is None else Found(item, namespace)
