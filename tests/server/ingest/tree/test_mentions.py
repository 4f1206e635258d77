"""Files and settings that strings in code name."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.source import TreeSource

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]

SETTINGS = (
    '{\n  "ConnectionStrings": {\n    "orders": "Host=db"\n  },\n'
    '  "Identity": {\n    "Url": "http://id",\n    "Audience": "orders"\n  }\n}\n'
)
FILES = {
    "api/appsettings.json": SETTINGS,
    "web/appsettings.json": SETTINGS,
    ".env.example": "DB_HOST=localhost\nDB_PORT=5432\nPORT=80\n",
    "app/templates/mail/welcome.html": "<p>\n  Hello and welcome\n</p>\n",
    "resources/views/orders/one.blade.php": "@extends('layouts.base')\n@section('body')\n<p>{{ $order }}</p>\n@stop\n",
    "resources/views/layouts/base.blade.php": "<html>\n@yield('body')\n</html>\n",
}


def mentioned(make_tree: TreeMaker, path: str, text: str) -> dict[tuple[str, str], float]:
    """The ends and types of the edges that start in a file of code."""
    records = TreeSource(make_tree({**FILES, path: text})).read()
    edges = (record for record in records if isinstance(record, SourceEdge) and record.edge_type != "Contains")
    return {(edge.edge_type, edge.to_key): edge.confidence for edge in edges if f"::{path}" in edge.from_key}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "api/A.cs",
            'class A { string F() => config["Identity:Url"]; }\n',
            ("ReadsSetting", "json::api/appsettings.json", 0.9),
        ),
        (
            "web/A.cs",
            'class A { string F() => Env("Identity__Url"); }\n',
            ("ReadsSetting", "json::web/appsettings.json", 0.9),
        ),
        ("api/A.cs", 'class A { string F() => Get("orders"); }\n', ("ReadsSetting", "json::api/appsettings.json", 0.8)),
        ("app/a.py", "def f():\n    return os.environ['DB_HOST']\n", ("ReadsSetting", "ini::.env.example", 0.8)),
        (
            "web/b.ts",
            "export function f() {\n  return listen(process.env.PORT)\n}\n",
            ("ReadsSetting", "ini::.env.example", 0.8),
        ),
        (
            "web/a.ts",
            "export function f() {\n  return open(process.env.DB_HOST)\n}\n",
            ("ReadsSetting", "ini::.env.example", 0.8),
        ),
        (
            "app/a.py",
            "def f():\n    return render('mail/welcome.html')\n",
            ("References", "html::app/templates/mail/welcome.html", 0.9),
        ),
        (
            "app/Orders.php",
            "<?php\nclass Orders {\n  function one() { return view('orders.one', ['order' => 1]); }\n}\n",
            ("References", "html::resources/views/orders/one.blade.php", 0.9),
        ),
        (
            "resources/views/orders/all.blade.php",
            "@extends('layouts.base')\n",
            ("Inherits", "html::resources/views/layouts/base.blade.php", 0.9),
        ),
    ],
)
def test_what_a_string_names(make_tree: TreeMaker, path: str, text: str, expected: tuple[str, str, float]) -> None:
    edge_type, end, confidence = expected
    assert mentioned(make_tree, path, text) == {(edge_type, end): confidence}


@pytest.mark.parametrize(
    "string", ["Identity", "Identity:Missing", "DB_PASSWORD", "welcome.txt", "Hello: world", "url"]
)
def test_what_names_nothing(make_tree: TreeMaker, string: str) -> None:
    assert mentioned(make_tree, "app/a.py", f"def f():\n    return use('{string}')\n") == {}
