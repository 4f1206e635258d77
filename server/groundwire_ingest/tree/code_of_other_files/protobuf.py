"""The code that compilers generate from .proto files, under the names that other code uses.

A call to a generated client, or a class that derives from a generated base, so leads to the rpc in the .proto file.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, takewhile
from operator import attrgetter

from groundwire_index.repository_edges.full_names import RPC, OfferedName
from groundwire_index.repository_edges.nearest import nearest
from groundwire_ingest.tree.code_facts import CodeFacts, Definition, Trait
from groundwire_ingest.tree.files.facts_about_code import ProtoFacts, ProtoService
from groundwire_ingest.tree.folders import folder_of
from groundwire_ingest.tree.languages.go.go_modules import GoModule

_ABSTRACT: frozenset[Trait] = frozenset({"abstract"})
_SATISFIED: frozenset[Trait] = frozenset({"abstract", "interface", "structural"})


def with_generated(
    protos: Iterable[ProtoFacts], code: Sequence[CodeFacts], go_modules: Mapping[str, GoModule]
) -> tuple[CodeFacts, ...]:
    """The facts of a tree's code, and what is generated from its .proto files, by language and path.

    If the tree has the generated code, these facts are attached to it. Of several .proto files of the name, the one
    whose path shares the most folders is used. Otherwise C# and Java find generated names by namespace or package, and
    Python by the module next to the .proto file. Go finds them in packages that code imports from the tree's own
    modules and that have no file (`go_modules` has what each go.mod states).
    """
    import_paths = ((folder_of(path), module.import_path) for path, module in go_modules.items())
    modules = tuple(sorted(import_paths, key=lambda item: (-len(item[1]), item[0])))
    packages = GoPackages(_absent_go_packages(code, modules), modules)
    facts = {(item.language, item.path): item for item in code}
    protos = sorted(protos, key=lambda item: item.path)
    by_stem: defaultdict[str, list[ProtoFacts]] = defaultdict(list)
    for proto in protos:
        by_stem[_stem(proto).lower()].append(proto)
    generated: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for language, path in sorted(facts):
        if facts[language, path].is_generated:
            generated[language, path.rpartition("/")[2].lower()].append(path)
    for proto, maker in product(protos, _MAKERS):
        stem = _stem(proto).lower()
        written = [
            path
            for name in maker.names
            for path in generated[maker.language, name.format(stem).lower()]
            if nearest(path, by_stem[stem], attrgetter("path"))[0] is proto
        ]
        for path in written:
            del facts[maker.language, path]
        for path in written if maker.by_file and written else maker.places(proto, packages):
            facts[maker.language, path] = maker.make(proto, path)
    return tuple(facts[key] for key in sorted(facts))


def _stem(proto: ProtoFacts) -> str:
    return proto.path.rpartition("/")[2].removesuffix(".proto")


def _csharp(proto: ProtoFacts, path: str) -> CodeFacts:
    """A static class for each service, with an abstract base and a client inside; a class for each message."""
    writer = _Writer(proto, path, "csharp")
    namespace = dict(proto.options).get("csharp_namespace") or ".".join(map(_pascal, proto.package.split(".")))
    writer.add_messages(namespace)
    for service in proto.services:
        outer = writer.type(service.name, namespace, 0, service)
        base = writer.type(f"{service.name}Base", f"{namespace}.{service.name}", outer, service, _ABSTRACT)
        client = writer.type(f"{service.name}Client", f"{namespace}.{service.name}", outer, service)
        writer.add_rpcs(service, base, (client,), ("{}", "{}Async"))
    return writer.facts()


def _java(proto: ProtoFacts, path: str) -> CodeFacts:
    """A class `ServiceGrpc` with an abstract base and stubs inside; a class for each message."""
    writer = _Writer(proto, path, "java")
    package = dict(proto.options).get("java_package") or proto.package
    writer.add_messages(package)
    for service in proto.services:
        outer = writer.type(f"{service.name}Grpc", package, 0, service)
        inside = f"{package}.{service.name}Grpc"
        base = writer.type(f"{service.name}ImplBase", inside, outer, service, _ABSTRACT)
        ends = ("BlockingStub", "FutureStub", "Stub")
        stubs = [writer.type(service.name + end, inside, outer, service) for end in ends]
        writer.add_rpcs(service, base, stubs, ("{}",), lower=True)
        for made, stub in zip(("newBlockingStub", "newFutureStub", "newStub"), stubs, strict=True):
            writer.function(made, outer, service, writer.symbol(stub))
    return writer.facts()


def _python(proto: ProtoFacts, path: str) -> CodeFacts:
    """Messages in `_pb2`, a servicer and a stub for each service in `_pb2_grpc`."""
    writer = _Writer(proto, path, "python")
    if not path.endswith("_grpc.py"):
        writer.add_messages("")
        return writer.facts()
    for service in proto.services:
        base = writer.type(f"{service.name}Servicer", "", 0, service, _ABSTRACT)
        stub = writer.type(f"{service.name}Stub", "", 0, service)
        writer.add_rpcs(service, base, (stub,), ("{}",))
    return writer.facts()


def _beside(proto: ProtoFacts, _: "GoPackages") -> tuple[str, ...]:
    return (proto.path,)


def _python_modules(proto: ProtoFacts, _: "GoPackages") -> tuple[str, ...]:
    stem = proto.path.removesuffix(".proto")
    return f"{stem}_pb2.py", f"{stem}_pb2_grpc.py"


@dataclass(frozen=True, slots=True)
class GoPackages:
    """The folders of packages that code imports and that have no file, by import path.

    `modules` has the folder and the import path of each module, the longest path first.
    """

    imported: Mapping[str, str]
    modules: Sequence[tuple[str, str]]


def _go_files(proto: ProtoFacts, go_packages: "GoPackages") -> tuple[str, ...]:
    """The files of messages and of gRPC in the package that the file states, and of Connect in a package of its own.

    Where no such package is imported, as when a build tool chooses it, the file is in those whose folders end most like
    its own. Where no such package is imported either, it is in the stated one, for code of other trees.
    """
    packages = go_packages.imported
    stated = dict(proto.options).get("go_package", "").partition(";")[0]
    folder = packages.get(stated)
    folders = [folder] if folder is not None else []
    if folder is None:
        proto_folder = proto.path.rpartition("/")[0]
        alike = {path: _equal_at_the_end(proto_folder, _without_connect(path)) for path in packages.values()}
        most = max(alike.values(), default=0)
        folders = [path for path, length in alike.items() if length == most > 0 and path == _without_connect(path)]
        folders = folders or list(filter(None, [_folder_in_modules(stated, go_packages.modules)]))
    connects = [
        path for path in packages.values() if path != _without_connect(path) and _without_connect(path) in folders
    ]
    stem = _stem(proto)
    names = [(folder, end) for folder in folders for end in (".pb.go", "_grpc.pb.go")]
    return tuple(f"{folder}/{stem}{end}" for folder, end in (*names, *((path, ".connect.go") for path in connects)))


def _equal_at_the_end(left: str, right: str) -> int:
    """How many folders at the ends of two paths are the same."""
    pairs = zip(reversed(left.split("/")), reversed(right.split("/")), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _without_connect(folder: str) -> str:
    """The folder of the messages that a package of Connect is about: `v1` of `v1/apiv1connect`."""
    outer, _, name = folder.rpartition("/")
    return outer if name.endswith("connect") and outer else folder


def _absent_go_packages(code: Iterable[CodeFacts], modules: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The packages of the tree's Go modules that code imports and no file of the tree is in: folders by import path."""
    files = [item for item in code if item.language == "go"]
    present = {item.path.rpartition("/")[0] for item in files}
    imported = sorted({name.module for item in files for name in item.imports})
    folder_of_path: dict[str, str] = {}
    for path in imported:
        folder = _folder_in_modules(path, modules)
        if folder is not None and folder not in present:
            folder_of_path[path] = folder
            if _without_connect(folder) != folder:
                folder_of_path.setdefault(path.rpartition("/")[0], _without_connect(folder))
    return folder_of_path


def _folder_in_modules(import_path: str, modules: Sequence[tuple[str, str]]) -> str | None:
    """The folder of a package in the module with the longest path that its import path begins with."""
    for root, module in modules:
        inside = import_path.removeprefix(module)
        if inside != import_path and inside[:1] in ("", "/"):
            return "/".join(filter(None, (root, inside.strip("/"))))
    return None


def _go(proto: ProtoFacts, path: str) -> CodeFacts:
    """Interfaces of server and client, what registers and makes them; the same for handlers of Connect."""
    writer = _Writer(proto, path, "go")
    if path.endswith(("_grpc.pb.go", ".connect.go")):
        is_connect = path.endswith(".connect.go")
        for service in proto.services:
            served = service.name + ("Handler" if is_connect else "Server")
            server = writer.type(served, "", 0, service, _SATISFIED)
            client = writer.type(f"{service.name}Client", "", 0, service)
            writer.add_rpcs(service, server, (client,), ("{}",))
            writer.type(f"Unimplemented{served}", "", 0, service)
            writer.function(f"New{service.name}Client", 0, service, f"{service.name}Client")
            writer.function(f"New{served}" if is_connect else f"Register{served}", 0, service, "")
    else:
        writer.add_messages("")
    return writer.facts()


class _Writer:
    """Collects the definitions of one file. A definition is named by its index."""

    def __init__(self, proto: ProtoFacts, path: str, language: str) -> None:
        self._proto = proto
        self._path = path
        self._language = language
        first = [*(service.key for service in proto.services), *(item.key for item in proto.types)]
        self._definitions = [Definition(first[0] if first else "", "", "", "module", -1, 1)]

    def symbol(self, index: int) -> str:
        """The qualified name of a definition."""
        return self._definitions[index].symbol

    def add_messages(self, namespace: str) -> None:
        """A type for each message and enum."""
        for item in self._proto.types:
            symbol = ".".join(filter(None, (namespace, item.name)))
            name = item.name.rpartition(".")[2]
            self._definitions.append(Definition(item.key, symbol, name, "type", 0, item.line))

    def type(
        self, name: str, around: str, parent: int, service: ProtoService, traits: frozenset[Trait] = frozenset()
    ) -> int:
        """A type that represents a service."""
        symbol = ".".join(filter(None, (around, name)))
        self._definitions.append(Definition(service.key, symbol, name, "type", parent, service.line, traits=traits))
        return len(self._definitions) - 1

    def function(self, name: str, parent: int, service: ProtoService, result: str) -> None:
        """A function that represents a service and returns a type."""
        symbol = ".".join(filter(None, (self.symbol(parent), name)))
        self._definitions.append(Definition(service.key, symbol, name, "callable", parent, service.line, result=result))

    def add_rpcs(
        self, service: ProtoService, base: int, clients: Sequence[int], names: Sequence[str], *, lower: bool = False
    ) -> None:
        """A member of the base for each rpc, and the same member of the clients, under the names of their forms."""
        for rpc in service.rpcs:
            name = rpc.name[:1].lower() + rpc.name[1:] if lower else rpc.name
            member = len(self._definitions)
            symbol = f"{self.symbol(base)}.{name}"
            self._definitions.append(
                Definition(rpc.key, symbol, name, "callable", base, rpc.line, traits=frozenset({"abstract"}))
            )
            for client, form in product(clients, names):
                meant, alias = self.symbol(client), form.format(name)
                self._definitions.append(
                    Definition(rpc.key, f"{meant}.{alias}", alias, "callable", client, rpc.line, stands_for=member)
                )

    def facts(self) -> CodeFacts:
        """The file."""
        return CodeFacts(self._path, self._language, tuple(self._definitions), is_generated=True)


def _pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


@dataclass(frozen=True, slots=True)
class _Maker:
    """How a language generates: the names of its files, and where it is when the tree does not have them.

    With `by_file` each generated file has facts of its own, else all are in one next to the .proto file.
    """

    language: str
    names: tuple[str, ...]
    make: Callable[[ProtoFacts, str], CodeFacts]
    places: Callable[[ProtoFacts, GoPackages], Sequence[str]]
    by_file: bool


_MAKERS = (
    _Maker("csharp", ("{}.cs", "{}Grpc.cs"), _csharp, _beside, False),
    _Maker("java", ("{}Grpc.java",), _java, _beside, False),
    _Maker("python", ("{}_pb2.py", "{}_pb2_grpc.py"), _python, _python_modules, True),
    _Maker("go", ("{}.pb.go", "{}_grpc.pb.go", "{}.connect.go"), _go, _go_files, True),
)


def rpc_names(protos: Iterable[ProtoFacts]) -> Iterator[OfferedName]:
    """The methods of services by their full names: `shop.v1.Orders/Get`."""
    for proto in sorted(protos, key=lambda item: item.path):
        for service in proto.services:
            full_name = f"{proto.package}.{service.name}" if proto.package else service.name
            for rpc in service.rpcs:
                name = f"{full_name}/{rpc.name}"
                yield OfferedName(RPC, name, rpc.key, service.key, line=rpc.line, is_abstract=True)
