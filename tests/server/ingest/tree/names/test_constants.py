"""Constants and variables of modules, packages and classes as nodes, and what leads to them."""

from collections.abc import Callable, Mapping

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]
EdgesOf = Callable[..., dict[tuple[str, str], float]]

MODULES = {"": "example.com/shop"}
STORE = """package store

import "errors"

// Errors of the store.
var (
	// ErrNotFound says that there is no such order.
	ErrNotFound = errors.New("not found")
	errClosed   = errors.New("closed")
	_           = errors.New("unused")
)

const MaxRetries = 3

var cache = errors.New

type Role int

const (
	Guest Role = iota
	Admin
)

func Open() error { return errClosed }
"""


def texts(analysis: CodeAnalysis) -> dict[str, str]:
    """The texts of nodes by the symbols in their ids; that of the file by an empty one."""
    return {node.local_id.partition("#")[2]: node.text for node in analysis.file.nodes}


def ends(edges_of: EdgesOf, files: Mapping[str, str], start: str, modules: Mapping[str, str] | None = None) -> object:
    """The confidence of each reference from one node, by what it leads to."""
    confidences = edges_of("References", files, modules)
    return {end: confidence for (at, end), confidence in confidences.items() if at == start}


def test_go_names_of_a_package(analyse: Analyser) -> None:
    nodes = texts(analyse("store/store.go", STORE))
    assert list(nodes) == ["", "ErrNotFound", "errClosed", "MaxRetries", "Role", "Guest", "Open"]
    assert nodes["errClosed"] == '\terrClosed   = errors.New("closed")'
    assert nodes["ErrNotFound"] == (
        '\t// ErrNotFound says that there is no such order.\n\tErrNotFound = errors.New("not found")'
    )
    assert nodes["Guest"] == "const (\n\tGuest Role = iota\n\tAdmin\n)"


def test_a_file_keeps_the_lines_of_short_constants_without_their_comments(analyse: Analyser) -> None:
    assert texts(analyse("store/store.go", STORE))[""].split("\n")[2:7] == [
        "// Errors of the store.",
        "var (",
        '\tErrNotFound = errors.New("not found")',
        '\terrClosed   = errors.New("closed")',
        '\t_           = errors.New("unused")',
    ]
    python = texts(analyse("a.py", "# Seconds.\nLIMIT = 3\n\n\ndef f():\n    return g(LIMIT)\n"))
    assert python == {
        "": "LIMIT = 3\ndef f() ...",
        "LIMIT": "# Seconds.\nLIMIT = 3",
        "f": "def f():\n    return g(LIMIT)",
    }


@pytest.mark.parametrize(
    ("statement", "is_node"),
    [
        ("MAX_RETRIES = 3", True),
        ("limit: int = 3", True),
        ("Handler = Callable[[str], None]", True),
        ("db = SQLAlchemy()", True),
        ("handlers = {'a': run}", True),
        ("if DEBUG:\n    LIMIT = 3", True),
        ("_LIMIT = 3", False),
        ("__all__ = ['f']", False),
        ("author = 'Ada'", False),
        ("logger = logging.getLogger(__name__)", False),
        ("T = TypeVar('T', bound=int)", False),
        ("User = get_user_model()", False),
        ("register = template.Library()", False),
        ("def f():\n    LIMIT = 3", False),
        ("class A:\n    LIMIT = 3", False),
    ],
)
def test_python_variables_that_are_nodes(analyse: Analyser, statement: str, is_node: bool) -> None:
    nodes = analyse("a.py", f"run()\n{statement}\n").file.nodes
    assert any(node.signature and node.text.strip() == statement.split("\n")[-1].strip() for node in nodes) is is_node


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("export const LIMIT = 3;", {"LIMIT"}),
        ("export declare const LIMIT: number;", {"LIMIT"}),
        ("export let limit: number;", {"limit"}),
        ("const LIMIT = 3, OTHER = 4;\nexport { LIMIT as MOST };", {"LIMIT"}),
        ("const LIMIT = 3;\nexport default LIMIT;", {"LIMIT"}),
        ("const LIMIT = 3;\nmodule.exports = { LIMIT };", {"LIMIT"}),
        ("const LIMIT = 3;\nexports.MOST = LIMIT;", {"LIMIT"}),
        ("const LIMIT = 3;\nexport { LIMIT } from './other';", set[str]()),
        ("const LIMIT = 3;\nrun(LIMIT);", set[str]()),
        ("export const { LIMIT } = limits();", set[str]()),
        ("export function f() {\n  const LIMIT = 3;\n  return LIMIT;\n}", {"f"}),
    ],
)
def test_script_variables_that_are_nodes(analyse: Analyser, text: str, names: set[str]) -> None:
    assert texts(analyse("a.ts", f"run();\n{text}\n")).keys() == {"", *names}


def test_csharp_constants_that_are_nodes(analyse: Analyser) -> None:
    text = (
        "namespace Shop;\npublic class Limits\n{\n    // Lines.\n    public const int Lines = 3;\n"
        "    internal static readonly int Pages = 4, Sheets = 5;\n    private const int Hidden = 6;\n"
        "    const int Own = 7;\n    public static int Counter;\n    public readonly int Size;\n}\n"
    )
    nodes = texts(analyse("Limits.cs", text))
    assert nodes.keys() == {"Shop.Limits", "Shop.Limits.Lines", "Shop.Limits.Pages"}
    assert nodes["Shop.Limits.Lines"] == "    // Lines.\n    public const int Lines = 3;"
    assert nodes["Shop.Limits.Pages"] == "    internal static readonly int Pages = 4, Sheets = 5;"
    assert nodes["Shop.Limits"].split("\n")[:5] == [
        "public class Limits",
        "{",
        "    public const int Lines = 3;",
        "    internal static readonly int Pages = 4, Sheets = 5;",
        "    private const int Hidden = 6;",
    ]


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.rs", "pub const LIMIT: u32 = 3;\nconst OWN: u32 = 4;\npub fn f() -> u32 { LIMIT }\n", {"LIMIT", "f"}),
        (
            "A.kt",
            "const val LIMIT = 3\nprivate const val OWN = 4\nval other = 5\nfun f() = run(LIMIT)\n",
            {"LIMIT", "f"},
        ),
    ],
)
def test_constants_of_other_languages(analyse: Analyser, path: str, text: str, names: set[str]) -> None:
    assert texts(analyse(path, text)).keys() == {"", *names}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return store.ErrNotFound", {"ErrNotFound": 1.0}),
        ("if errors.Is(err, store.ErrNotFound) { }", {"ErrNotFound": 1.0}),
        ("run(store.ErrNotFound.Error())", {"ErrNotFound": 1.0}),
        ("for i := 0; i < store.MaxRetries; i++ { }", {"MaxRetries": 1.0}),
        ("x := map[store.Role]string{store.Admin: a}", {"Guest": 1.0, "Role": 1.0}),
        ("store := open()\nreturn store.ErrNotFound", {}),
    ],
)
def test_go_references(edges_of: EdgesOf, body: str, expected: dict[str, float]) -> None:
    text = f'package main\n\nimport "example.com/shop/store"\n\nfunc run() {{\n{body}\n}}\n'
    confidences = ends(edges_of, {"store/store.go": STORE, "main.go": text}, "main.go#run", MODULES)
    assert confidences == {f"store/store.go#{name}": confidence for name, confidence in expected.items()}


@pytest.mark.parametrize(
    ("function", "is_used"),
    [
        ("func use() error { return errClosed }", True),
        ("func use() { if errClosed == nil { } }", True),
        ("func use() { errClosed = nil }", True),
        ("func use() { run(errClosed.Error()) }", True),
        ("func use() { run((errClosed)) }", True),
        ("func use(errClosed error) error { return errClosed }", False),
        ("func use() { errClosed := f()\nrun(errClosed) }", False),
        ("func use() { errClosed := f()\nrun(errClosed.Error()) }", False),
        ("func use() { run(x.errClosed) }", False),
    ],
)
def test_go_references_in_a_package(edges_of: EdgesOf, function: str, is_used: bool) -> None:
    files = {"store/store.go": STORE, "store/use_test.go": f"package store\n\n{function}\n"}
    expected = {"store/store.go#errClosed": 1.0} if is_used else {}
    assert ends(edges_of, files, "store/use_test.go#use", MODULES) == expected


def test_go_definitions_for_several_systems(edges_of: EdgesOf) -> None:
    files = {
        "store/a_linux.go": 'package store\n\nconst Root = "/"\n',
        "store/a_windows.go": 'package store\n\nconst Root = "C:"\n',
        "store/use.go": "package store\n\nfunc use() string { return Root }\n",
    }
    assert ends(edges_of, files, "store/use.go#use", MODULES) == {
        "store/a_linux.go#Root": 0.5,
        "store/a_windows.go#Root": 0.5,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from limits import MOST\n\ndef f():\n    return MOST\n", {"limits.py#MOST": 1.0}),
        ("from limits import MOST as most\n\ndef f():\n    return [most]\n", {"limits.py#MOST": 1.0}),
        ("import limits\n\ndef f():\n    return limits.MOST\n", {"limits.py#MOST": 1.0}),
        ("import limits\n\ndef f():\n    return limits.db.session()\n", {"limits.py#db": 1.0}),
        ("from limits import *\n\ndef f():\n    return MOST\n", {"limits.py#MOST": 0.9}),
        ("from limits import FEW\n\ndef f():\n    return FEW\n", {"limits.py#FEW": 0.5, "limits.py#FEW~2": 0.5}),
        ("from limits import _own\n\ndef f():\n    return _own\n", {"limits.py": 1.0}),
        ("from limits import MOST\n\ndef f(MOST):\n    return MOST\n", {}),
        ("from limits import MOST\n\ndef f():\n    MOST = 1\n    return MOST\n", {}),
    ],
)
def test_python_references(edges_of: EdgesOf, text: str, expected: dict[str, float]) -> None:
    limits = (
        "import os\n\nMOST = 3\ndb = Database()\n"
        "if os.name:\n    FEW = 1\n    _own = 1\nelse:\n    FEW = 2\n    _own = 2\n"
    )
    assert ends(edges_of, {"limits.py": limits, "a.py": text}, "a.py#f") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import { MOST } from './limits';\nexport function f() {\n  return MOST;\n}\n", {"limits.ts#MOST": 1.0}),
        ("import { MOST } from './index';\nexport function f() {\n  return [MOST];\n}\n", {"limits.ts#MOST": 0.9}),
        ("import { TOP } from './named';\nexport function f() {\n  return { TOP };\n}\n", {"limits.ts#MOST": 1.0}),
        ("import * as l from './limits';\nexport function f() {\n  return l.MOST;\n}\n", {"limits.ts#MOST": 1.0}),
        ("import { URLS } from './limits';\nexport function f() {\n  go(URLS.home);\n}\n", {"limits.ts#URLS": 1.0}),
        ("import { URLS } from './limits';\nexport function f() {\n  URLS.home.trim();\n}\n", {"limits.ts#URLS": 1.0}),
        ("import { MOST } from './limits';\nexport function f(MOST) {\n  return MOST;\n}\n", {}),
        ("import { MOST } from './limits';\nexport function f() {\n  const MOST = 1;\n  return MOST;\n}\n", {}),
    ],
)
def test_script_references(edges_of: EdgesOf, text: str, expected: dict[str, float]) -> None:
    files = {
        "limits.ts": "export const MOST = 3;\nexport const URLS = { home: '/' };\n",
        "index.ts": "export * from './limits';\n",
        "named.ts": "export { MOST as TOP } from './limits';\n",
    }
    assert ends(edges_of, {**files, "a.ts": text}, "a.ts#f") == expected


def test_a_variable_and_a_type_of_one_name(edges_of: EdgesOf) -> None:
    files = {
        "kind.ts": "export const Kind = { A: 'a' } as const;\nexport type Kind = (typeof Kind)[keyof typeof Kind];\n",
        "a.ts": "import { Kind } from './kind';\nexport function f() {\n  return Kind.A;\n}\n",
    }
    assert ends(edges_of, files, "a.ts#f") == {"kind.ts#Kind": 1.0}


@pytest.mark.parametrize(
    ("member", "is_used"),
    [
        ("int F() => Limits.Most;", True),
        ("bool F(int n) => n > Limits.Most;", True),
        ("string F() => Limits.Most.ToString();", True),
        ("bool F(int n) => n switch { Limits.Most => true, _ => false };", True),
        ('string F() => $"{Limits.Most}";', True),
        ("int F() => limits.Most;", False),
        ("int F(int n = Limits.Most) => Run(n);", True),
    ],
)
def test_csharp_references(edges_of: EdgesOf, member: str, is_used: bool) -> None:
    files = {
        "Limits.cs": "class Limits\n{\n    public const int Most = 3;\n}\n",
        "A.cs": f"class A\n{{\n    {member}\n}}\n",
    }
    confidences = {end: confidence for (_, end), confidence in edges_of("References", files).items()}
    assert confidences.get("Limits.cs#Limits.Most") == (0.9 if is_used else None)


@pytest.mark.parametrize(
    ("body", "is_used"),
    [
        ("Run(1);\n        return Most;", True),
        ("if (n >= Most) { Run(1); }", True),
        ("Run(-Most);", True),
        ("for (; Most; ) { Run(1); }", True),
        ("foreach (var one in Most) { Run(1); }", True),
        ("var all = new int[Most];", True),
        ('Run($"{Most}");', True),
        ("Run(Most.ToString());", True),
        ("switch (n) { case Most: break; }", True),
        ("var Most = 1;\n        Run(Most);", False),
    ],
)
def test_csharp_references_in_derived_types(edges_of: EdgesOf, body: str, is_used: bool) -> None:
    files = {
        "Limits.cs": "class Limits\n{\n    protected const int Most = 3;\n}\n",
        "A.cs": f"class A : Limits\n{{\n    int F(int n)\n    {{\n        {body}\n    }}\n}}\n",
    }
    assert ends(edges_of, files, "A.cs#A.F") == ({"Limits.cs#Limits.Most": 0.9} if is_used else {})


def test_a_field_that_is_a_constant_keeps_its_type(edges_of: EdgesOf) -> None:
    files = {
        "Clock.cs": (
            "class Clock\n{\n"
            "    public static readonly Clock Shared = new Clock(\n        1,\n        2,\n        3);\n"
            "    public void Tick()\n    {\n        Run(1);\n    }\n}\n"
        ),
        "A.cs": "class A\n{\n    void F()\n    {\n        Clock.Shared.Tick();\n    }\n}\n",
    }
    assert edges_of("Calls", files)["A.cs#A.F", "Clock.cs#Clock.Tick"] == 0.9
    assert ends(edges_of, files, "A.cs#A.F") == {"Clock.cs#Clock.Shared": 0.9}
