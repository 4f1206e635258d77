"""What import-linter has no rule for: no module imports itself through others."""

import tomllib

import grimp
import rustworkx

from project.tools import ROOT


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that import each other, directly or through others."""
    graph: rustworkx.PyDiGraph[str, None] = rustworkx.PyDiGraph()
    places = {module: graph.add_node(module) for module in sorted(imports)}
    for module, imported_modules in imports.items():
        graph.add_edges_from_no_data([(places[module], places[imported]) for imported in sorted(imported_modules)])
    groups = rustworkx.strongly_connected_components(graph)
    return sorted(sorted(graph[place] for place in group) for group in groups if len(group) > 1)


def test_no_module_imports_itself_through_others() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = settings["tool"]["importlinter"]["root_packages"]
    graph = grimp.build_graph(*packages, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert sum(map(len, imports.values())) > len(imports)
    assert circles(imports) == []


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "b"}}) == [["b", "c"]]


def test_every_package_of_the_wheel_is_under_the_rules() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    packages = settings["tool"]["importlinter"]["root_packages"]
    assert sorted(folder.rpartition("/")[2] for folder in folders) == sorted(packages)
