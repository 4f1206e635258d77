from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

PACKAGE = {
    "src/shop/__init__.py": "from .core import Service\n",
    "src/shop/core.py": (
        "from shop.base import Base\n"
        "from . import tools as t\n"
        "from .wild import *\n"
        "import shop.deep.inner\n"
        "import shop.base as basis\n"
        "import os, json\n\n\n"
        "class Service(Base):\n"
        "    def __init__(self, repo: Repo):\n"
        "        self.repo = repo\n\n"
        "    def run(self, repo: Repo):\n"
        "        self.help()\n"
        "        self.inherited()\n"
        "        super().run()\n"
        "        t.tool()\n"
        "        starred()\n"
        "        shop.deep.inner.far()\n"
        "        basis.near()\n"
        "        self.repo.save()\n"
        "        made = Repo()\n"
        "        made.load()\n"
        "        json.dumps()\n"
        "        os.path.join()\n"
        "        print()\n\n"
        "    def help(self):\n"
        "        make()\n"
        "        Repo().drop()\n\n\n"
        "class Repo:\n"
        "    def save(self):\n        pass\n\n"
        "    def load(self):\n        pass\n\n"
        "    def drop(self):\n        pass\n\n\n"
        "def make():\n    return Service(None)\n"
    ),
    "src/shop/base.py": (
        "class Base:\n    def run(self):\n        pass\n\n    def inherited(self):\n        pass\n\n\n"
        "def near():\n    pass\n"
    ),
    "src/shop/tools.py": "def tool():\n    pass\n",
    "src/shop/wild.py": "def starred():\n    pass\n",
    "src/shop/deep/__init__.py": "x = 1\n",
    "src/shop/deep/inner.py": "def far():\n    pass\n",
    "src/shop/json.py": "def dumps():\n    pass\n",
    "tests/test_core.py": (
        "from shop import Service\nimport shop\n\n\ndef test():\n    Service(None).run()\n    shop.Service\n"
    ),
}


def test_calls(edges_of: EdgesOf) -> None:
    core = "src/shop/core.py"
    assert edges_of("Calls", PACKAGE) == {
        (f"{core}#Service.run", f"{core}#Service.help"): 1.0,
        (f"{core}#Service.run", "src/shop/base.py#Base.inherited"): 0.9,
        (f"{core}#Service.run", "src/shop/base.py#Base.run"): 0.9,
        (f"{core}#Service.run", "src/shop/tools.py#tool"): 1.0,
        (f"{core}#Service.run", "src/shop/wild.py#starred"): 0.9,
        (f"{core}#Service.run", "src/shop/deep/inner.py#far"): 1.0,
        (f"{core}#Service.run", "src/shop/base.py#near"): 1.0,
        (f"{core}#Service.run", f"{core}#Repo.save"): 0.9,
        (f"{core}#Service.run", f"{core}#Repo.load"): 0.8,
        (f"{core}#Service.run", f"{core}#Repo"): 1.0,
        (f"{core}#Service.help", f"{core}#make"): 1.0,
        (f"{core}#Service.help", f"{core}#Repo"): 1.0,
        (f"{core}#Service.help", f"{core}#Repo.drop"): 1.0,
        (f"{core}#make", f"{core}#Service"): 1.0,
        ("tests/test_core.py#test", f"{core}#Service"): 0.9,
        ("tests/test_core.py#test", f"{core}#Service.run"): 0.9,
    }


def test_imports_lead_from_file_to_file(edges_of: EdgesOf) -> None:
    core = "src/shop/core.py"
    assert edges_of("Imports", PACKAGE) == {
        ("src/shop/__init__.py", core): 1.0,
        (core, "src/shop/base.py"): 1.0,
        (core, "src/shop/tools.py"): 1.0,
        (core, "src/shop/wild.py"): 1.0,
        (core, "src/shop/deep/inner.py"): 1.0,
        (core, "src/shop/__init__.py"): 1.0,
        ("tests/test_core.py", "src/shop/__init__.py"): 0.9,
    }


def test_inherits(edges_of: EdgesOf) -> None:
    assert edges_of("Inherits", PACKAGE) == {("src/shop/core.py#Service", "src/shop/base.py#Base"): 1.0}


def test_a_module_of_the_same_package_is_not_taken_for_a_top_level_one(edges_of: EdgesOf) -> None:
    files = {"p/__init__.py": "x = 1\n", "p/types.py": "def f(): pass\n", "p/a.py": "import types\ntypes.f()\n"}
    assert edges_of("Imports", files) == {}
    assert edges_of("Calls", files) == {}


def test_scripts_of_one_folder_import_each_other(edges_of: EdgesOf) -> None:
    files = {"bin/a.py": "import b\nb.f()\n", "bin/b.py": "def f():\n    pass\n", "b.py": "def f():\n    pass\n"}
    assert edges_of("Calls", files) == {("bin/a.py", "bin/b.py#f"): 1.0}


def test_a_relative_import_beyond_the_tree_leads_nowhere(edges_of: EdgesOf) -> None:
    files = {"a.py": "from ...x import f\nf()\n", "x.py": "def f():\n    pass\n"}
    assert edges_of("Imports", files) == {}
    assert edges_of("Calls", files) == {}


def test_import_cycles_and_self_imports_end(edges_of: EdgesOf) -> None:
    files = {
        "a.py": "from b import *\nfrom b import x\nx()\n",
        "b.py": "from a import *\nfrom a import x\n",
        "c.py": "from c import *\nfrom c import y\ny()\n",
    }
    assert edges_of("Calls", files) == {}
    assert set(edges_of("Imports", files)) == {("a.py", "b.py"), ("b.py", "a.py")}


def test_inheritance_cycles_end(edges_of: EdgesOf) -> None:
    files = {"a.py": "class A(B):\n    def f(self):\n        self.g()\n\n\nclass B(A):\n    pass\n"}
    assert edges_of("Calls", files) == {}
    assert edges_of("Inherits", files) == {("a.py#A", "a.py#B"): 1.0, ("a.py#B", "a.py#A"): 1.0}


METHOD = "class {}:\n    def settle(self):\n        pass\n\n\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("import m\n\n\ndef f(x):\n    x.settle()\n", {("a.py#f", "m.py#A.settle"): 0.5}),
        ("\n\n\ndef f(x):\n    x.settle()\n", {}),
        ("import m, n\n\n\ndef f(x):\n    x.settle()\n", {}),
        ("import m, outside\n\n\ndef f():\n    outside.settle()\n", {}),
        ("import m\n\n\ndef f(x: Outside):\n    x.settle()\n", {}),
        ("import m\n\n\ndef f(x):\n    x.append()\n", {}),
    ],
    ids=["unique", "not imported", "two types", "imported from outside", "typed from outside", "method of lists"],
)
def test_a_method_of_an_unknown_receiver_is_guessed_by_its_name(
    edges_of: EdgesOf, body: str, expected: dict[tuple[str, str], float]
) -> None:
    files = {
        "a.py": body,
        "m.py": METHOD.format("A") + "class L:\n    def append(self):\n        pass\n",
        "n.py": METHOD.format("B"),
    }
    assert edges_of("Calls", files) == expected


def test_a_call_that_fits_more_than_three_definitions_is_to_none(edges_of: EdgesOf) -> None:
    definition = "if a:\n    def f():\n        pass\n\n\n"
    assert edges_of("Calls", {"a.py": definition * 3 + "f()\n"}) == {
        ("a.py", "a.py#f"): 0.5,
        ("a.py", "a.py#f~2"): 0.5,
        ("a.py", "a.py#f~3"): 0.5,
    }
    assert edges_of("Calls", {"a.py": definition * 4 + "f()\n"}) == {}


def test_a_function_does_not_call_itself(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", {"a.py": "def f():\n    f()\n"}) == {}


def test_a_tree_that_is_itself_a_package(edges_of: EdgesOf) -> None:
    tree = {
        "__init__.py": "from .core import run\n\n\ndef start():\n    run()\n",
        "core.py": "def run():\n    pass\n",
        "deep/__init__.py": "from ..core import run\n\n\ndef go():\n    run()\n",
    }
    assert edges_of("Calls", tree) == {
        ("__init__.py#start", "core.py#run"): 1.0,
        ("deep/__init__.py#go", "core.py#run"): 1.0,
    }


def test_a_definition_for_when_an_import_fails_stands_back(edges_of: EdgesOf) -> None:
    files = {
        "a.py": (
            "try:\n    from fast import run, LIMIT\nexcept ImportError:\n    LIMIT = None\n\n"
            "    def run():\n        pass\n\n\ndef f():\n    run()\n    return LIMIT()\n"
        ),
        "fast.py": "def run():\n    pass\n\n\ndef LIMIT():\n    pass\n",
    }
    assert edges_of("Calls", files) == {("a.py#f", "fast.py#run"): 0.8, ("a.py#f", "fast.py#LIMIT"): 0.8}
