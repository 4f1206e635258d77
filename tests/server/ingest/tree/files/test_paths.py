"""From a path as written to a file of the tree."""

import pytest

from groundwire_ingest.tree.files.paths import TreePaths, path_edges
from groundwire_ingest.tree.files.reading import PathReference

PATHS = TreePaths(
    [
        "app/auth/views.py",
        "app/auth/templates/login.html",
        "app/templates/base.html",
        "app/templates/auth/login.html",
        "app/static/app.js",
        "docs/base.html",
        "src/Web/Web.csproj",
        "src/Lib/Lib.csproj",
        "Directory.Build.props",
        "tests/Directory.Build.props",
        "tests/A/A.csproj",
        "x/one.txt",
        "y/one.txt",
        "a/Deep/Unique.HTML",
        *(f"many{number}/index.html" for number in range(4)),
    ]
)


@pytest.mark.parametrize(
    ("path", "written", "meant"),
    [
        ("src/Web/Web.csproj", "..\\Lib\\Lib.csproj", [("src/Lib/Lib.csproj", 1.0)]),
        ("app/auth/views.py", "login.html", [("app/auth/templates/login.html", 0.9)]),
        ("app/auth/views.py", "auth/login.html", [("app/templates/auth/login.html", 0.9)]),
        ("app/auth/views.py", "base.html", [("app/templates/base.html", 0.9)]),
        ("docs/index.html", "base.html", [("docs/base.html", 1.0)]),
        ("app/templates/base.html", "/static/app.js?v=1#x", [("app/static/app.js", 0.9)]),
        ("app/templates/base.html", "~/static/app.js", [("app/static/app.js", 0.9)]),
        ("tests/A/A.csproj", "Directory.Build.props", [("tests/Directory.Build.props", 0.9)]),
        ("src/Web/Web.csproj", "Directory.Build.props", [("Directory.Build.props", 0.9)]),
        ("docs/index.html", "deep/unique.html", [("a/Deep/Unique.HTML", 0.8)]),
        ("docs/index.html", "../../wrong/../one.txt", []),
        ("docs/index.html", "one.txt", [("x/one.txt", 0.5), ("y/one.txt", 0.5)]),
        ("docs/index.html", "index.html", []),
        ("app/auth/views.py", "https://host/base.html", []),
        ("app/auth/views.py", "//host/base.html", []),
        ("app/auth/views.py", "{{ url }}/base.html", []),
        ("app/auth/views.py", "$(Root)/base.html", []),
        ("app/auth/views.py", "*/base.html", []),
        ("app/auth/views.py", "templates/", []),
        ("app/auth/views.py", "", []),
        ("app/auth/views.py", "x" * 501, []),
    ],
)
def test_what_a_path_means(path: str, written: str, meant: list[tuple[str, float]]) -> None:
    assert list(PATHS.find(path, written)) == meant


def test_edges_begin_at_the_line_and_take_the_first_spelling_that_is_there() -> None:
    references = [
        PathReference("a.html", ("none", "b.html"), "Imports", 2),
        PathReference("a.html", ("a.html",), "Imports", 2),
        PathReference("a.html", ("b.html",), "References", 3),
    ]
    keys = {"a.html": ("html::a.html", "html::a.html#x", "")}
    edges = path_edges(references, keys, {"a.html": "html::a.html", "b.html": "html::b.html"})
    assert [(edge.from_key, edge.to_key, edge.edge_type, edge.confidence, edge.line) for edge in edges] == [
        ("html::a.html#x", "html::b.html", "Imports", 1.0, 2),
        ("html::a.html#x", "html::a.html", "Imports", 1.0, 2),
        ("html::a.html", "html::b.html", "References", 1.0, 3),
    ]
