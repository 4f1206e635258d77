"""The file that the path of a module means."""

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from groundwire_index.repository_edges.confidences import EXACT, WILDCARD
from groundwire_ingest.tree.folders import folders_above
from groundwire_ingest.tree.languages.module_files import ModuleFile
from groundwire_ingest.tree.languages.typescript.projects import ScriptConfig, ScriptPackage
from groundwire_ingest.tree.names.rules import ModuleName
from groundwire_ingest.tree.names.table import Found

_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs")
_COMPILED = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_MAX_EXTENDED = 10
_FIRST_CONFIGS = ("tsconfig.json", "jsconfig.json")


@dataclass(frozen=True, slots=True)
class _Aliases:
    """The facts of a folder's configuration: the start of paths that are not relative, and the targets of patterns."""

    base: str | None
    targets: Mapping[str, tuple[str, ...]]


class ScriptModules:
    """Finds modules as Node, the TypeScript compiler and workspaces of packages do.

    A path that no configuration explains may start at any folder around the importing file, `@/` standing for that
    folder's `src`.
    """

    def __init__(self, number_at: Mapping[str, int], module_files: Mapping[str, ModuleFile]) -> None:
        """`number_at` are the modules by the paths of their files, `module_files` what files state, by path."""
        projects = {path: item for path, item in module_files.items() if isinstance(item, ScriptConfig | ScriptPackage)}
        self._number_at = number_at
        self._projects = projects
        self._configs: defaultdict[str, list[_Aliases]] = defaultdict(list)
        self._packages: defaultdict[str, list[tuple[str, ScriptPackage]]] = defaultdict(list)
        for path in sorted(projects, key=_config_order):
            project = projects[path]
            if isinstance(project, ScriptPackage):
                self._packages[project.name].append((posixpath.dirname(path), project))
            else:
                aliases = self._aliases(path, _MAX_EXTENDED)
                if aliases.targets or aliases.base is not None:
                    self._configs[posixpath.dirname(path)].append(aliases)

    def find(self, importing: str, specifier: str) -> Found | None:
        """The module that a file at a path means by a specifier; None for one that is not of the tree."""
        folder = posixpath.dirname(importing)
        if specifier.startswith("."):
            return self._found((posixpath.join(folder, specifier),), EXACT)
        for around in (folder, *folders_above(folder)):
            for aliases in self._configs.get(around, ()):
                resolved = self._found(_candidates(aliases, specifier), EXACT)
                if resolved is not None:
                    return resolved
        return self._in_package(folder, specifier) or self._anywhere(folder, specifier)

    def names(self) -> Iterator[ModuleName]:
        """The modules of packages by the names that other trees import them by, without the endings of files."""
        roots = {root: name for name, packages in self._packages.items() for root, _ in packages}
        specifiers: dict[str, None] = {}
        for name, packages in self._packages.items():
            specifiers[name] = None
            for _, package in packages:
                specifiers |= dict.fromkeys(f"{name}/{path}" for path in package.exports if "*" not in path)
        for path in self._number_at:
            root = next((folder for folder in folders_above(path) if folder in roots), None)
            if root is not None:
                below = posixpath.relpath(without_ending(path), root or ".")
                forms = (below, below.removesuffix("/index"), below.removeprefix("src/"))
                specifiers |= dict.fromkeys(f"{roots[root]}/{form}" for form in forms)
        for specifier in specifiers:
            resolved = self._in_package("", specifier)
            for number in resolved.numbers if resolved is not None else ():
                yield ModuleName(number, specifier, resolved.confidence if resolved is not None else EXACT)

    def _in_package(self, folder: str, specifier: str) -> Found | None:
        """A module of a package that the tree holds itself."""
        parts = specifier.split("/")
        length = 2 if specifier.startswith("@") else 1
        name, below = "/".join(parts[:length]), "/".join(parts[length:])
        nearest = sorted(self._packages.get(name, ()), key=lambda item: -len(posixpath.commonprefix((item[0], folder))))
        for root, package in nearest:
            stated = _exported(package, below)
            resolved = self._found((posixpath.join(root, target) for target in stated), EXACT)
            if resolved is not None:
                return resolved
            # The exported file is often the result of building the folder `src`.
            built = [target.removeprefix("./").partition("/")[2] for target in stated]
            sources = [posixpath.join(root, "src", target) for target in (*filter(None, built), below or "index")]
            stems = [posixpath.splitext(source)[0].removesuffix(".d") for source in sources]
            resolved = self._found((*stems, posixpath.join(root, below or "index")), WILDCARD)
            if resolved is not None:
                return resolved
        return None

    def _anywhere(self, folder: str, specifier: str) -> Found | None:
        inside = f"src/{specifier[2:]}" if specifier.startswith("@/") else specifier
        if "/" not in inside:
            return None
        return self._found((posixpath.join(around, inside) for around in (folder, *folders_above(folder))), WILDCARD)

    def _found(self, paths: Sequence[str] | Iterator[str], confidence: float) -> Found | None:
        for path in paths:
            number = self._at(posixpath.normpath(path))
            if number is not None:
                return Found((number,), confidence)
        return None

    def _at(self, path: str) -> int | None:
        """The module at a path, with the ending that is written, that a compiler puts, or none."""
        stem, suffix = posixpath.splitext(path)
        candidates = [path, *(stem + source for source in _COMPILED.get(suffix, ()))]
        candidates += [path + ending for ending in _SUFFIXES] + [f"{path}/index{ending}" for ending in _SUFFIXES]
        numbers = (self._number_at.get(candidate.removeprefix("./")) for candidate in candidates)
        return next((number for number in numbers if number is not None), None)

    def _aliases(self, path: str, steps: int) -> _Aliases:
        """The facts of a configuration and of those that it extends; its own come first."""
        config, folder = self._projects.get(path), posixpath.dirname(path)
        if not isinstance(config, ScriptConfig) or not steps:
            return _Aliases(None, {})
        base = None if config.base_url is None else posixpath.normpath(posixpath.join(folder, config.base_url))
        root = folder if base is None else base
        targets = {
            pattern: tuple(posixpath.join(root, target) for target in listed)
            for pattern, listed in config.paths.items()
        }
        for extended in reversed(config.extends):
            taken = self._aliases(self._extended(folder, extended), steps - 1)
            base = taken.base if base is None else base
            targets = targets or dict(taken.targets)
        return _Aliases(base, targets)

    def _extended(self, folder: str, written: str) -> str:
        """The path of a configuration that another extends: a file, or one of a package of the tree."""
        name, _, below = written.rpartition("/") if written.count("/") > 1 else (written, "", "tsconfig.json")
        roots = [posixpath.join(folder, written)] if written.startswith(".") else []
        roots += [posixpath.join(root, below) for root in self._roots_of(name)]
        for root in map(posixpath.normpath, roots):
            for path in (root, f"{root}.json", f"{root}/tsconfig.json"):
                if path in self._projects:
                    return path
        return ""

    def _roots_of(self, name: str) -> Iterator[str]:
        """The folders of the packages of a name."""
        for path, project in sorted(self._projects.items(), key=itemgetter(0)):
            if isinstance(project, ScriptPackage) and project.name == name:
                yield posixpath.dirname(path)


def without_ending(path: str) -> str:
    """A path without the ending of a file of code."""
    ending = next((suffix for suffix in sorted(_SUFFIXES, key=len, reverse=True) if path.endswith(suffix)), "")
    return path.removesuffix(ending)


def _config_order(path: str) -> tuple[str, bool, str]:
    """By folder, the configuration that editors use first."""
    folder, name = posixpath.split(path)
    return folder, name not in _FIRST_CONFIGS, name


def _candidates(aliases: _Aliases, specifier: str) -> Iterator[str]:
    """The paths that a specifier may mean: of the patterns that fit, those of the longest first."""
    for pattern in sorted(aliases.targets, key=lambda pattern: (-len(pattern.partition("*")[0]), pattern)):
        before, star, after = pattern.partition("*")
        fits = specifier.startswith(before) and specifier.endswith(after) if star else specifier == pattern
        if fits:
            varying = specifier[len(before) : len(specifier) - len(after)] if star else ""
            yield from (target.replace("*", varying) for target in aliases.targets[pattern])
    if aliases.base is not None:
        yield posixpath.join(aliases.base, specifier)


def _exported(package: ScriptPackage, below: str) -> list[str]:
    """The files that a package states for its own name, or for a path below it."""
    if not below:
        return list(package.entries)
    exported_paths: list[str] = []
    for pattern, targets in package.exports.items():
        before, star, after = pattern.partition("*")
        if star and below.startswith(before) and below.endswith(after):
            varying = below[len(before) : len(below) - len(after)]
            exported_paths.extend(target.replace("*", varying) for target in targets)
        elif pattern == below:
            exported_paths.extend(targets)
    return exported_paths
