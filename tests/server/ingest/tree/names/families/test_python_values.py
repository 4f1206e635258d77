"""What is called and named through variables, attributes and results in Python."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

MODEL = """\
class Base:
    def close(self):
        return finish(self)

class Store(Base):
    kind = "memory"
    items: list["Item"]

    def find(self, key) -> "Item":
        return self.items[key]

    @property
    def first(self) -> "Item":
        return self.items[0]

    def __call__(self, key):
        return self.find(key)

class Item:
    def save(self):
        return write(self)

def write(item):
    return item

def make():
    store = Store()
    return store

store: Store = make()
"""


def calls(edges_of: EdgesOf, body: str, edge_type: str = "Calls") -> dict[str, float]:
    """The confidence of each edge from a function of another file, by its end."""
    text = f"from model import *\nimport model\n\n\ndef f(given, known: Store, maybe=None):\n{body}"
    edges = edges_of(edge_type, {"model.py": MODEL, "a.py": text})
    return {
        end.removeprefix("model.py#"): confidence for (start, end), confidence in edges.items() if start == "a.py#f"
    }


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    known.find(1)\n", {"Store.find": 0.9}),
        ("    known.close()\n", {"Base.close": 0.9}),
        ("    known.find(1).save()\n", {"Store.find": 0.9, "Item.save": 0.9}),
        ("    known.first.save()\n", {"Item.save": 0.9}),
        ("    known(1)\n", {"Store.__call__": 0.9}),
        ("    for item in known.items:\n        item.save()\n", {"Item.save": 0.8}),
        ("    [item.save() for item in sorted(known.items)]\n", {"Item.save": 0.8}),
        ("    for n, item in enumerate(known.items):\n        item.save()\n", {"Item.save": 0.8}),
        ("    known.items[0].save()\n", {"Item.save": 0.8}),
        ("    item = known.items[0]\n    item.save()\n", {"Item.save": 0.8}),
        ("    x = make()\n    x.find(1)\n", {"make": 0.9, "Store.find": 0.8}),
        ("    x = maybe or Store()\n    x.find(1)\n", {"Store": 0.9, "Store.find": 0.8}),
        ("    if (x := make()):\n        x.find(1)\n", {"make": 0.9, "Store.find": 0.8}),
        ("    with make() as x:\n        x.find(1)\n", {"make": 0.9, "Store.find": 0.8}),
        ("    x = cast(Store, given)\n    x.find(1)\n", {"Store.find": 0.9}),
        ("    cls = Store\n    cls().find(1)\n", {"Store": 0.8, "Store.find": 0.8}),
        ("    store.find(1)\n", {"Store.find": 0.9}),
        ("    model.store.find(1)\n", {"Store.find": 0.9}),
        ("    run = write\n    run(1)\n", {"write": 0.8}),
        ("    write = given\n    write(1)\n", {}),
        ("    given.save()\n", {"Item.save": 0.5}),
        ("    given.find(1)\n", {}),
        ("    for item in given:\n        item.append()\n", {}),
    ],
)
def test_calls_by_what_a_value_is(edges_of: EdgesOf, body: str, expected: dict[str, float]) -> None:
    assert calls(edges_of, body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    return known.first\n", {"Store": 1.0, "Store.first": 0.9}),
        ("    known.first = 1\n", {"Store": 1.0, "Store.first": 0.9}),
        ("    return getattr(known, 'first')\n", {"Store": 1.0, "Store.first": 0.9}),
        ("    return register(write)\n", {"Store": 1.0, "write": 0.9}),
        ("    return {'run': write}\n", {"Store": 1.0, "write": 0.9}),
        ("    return isinstance(given, Item)\n", {"Store": 1.0, "Item": 0.9}),
        ("    x: 'dict[str, Item]' = {}\n", {"Store": 1.0, "Item": 0.9}),
        ("    return store\n", {"Store": 1.0, "store": 0.9}),
        ("    return given.kind\n", {"Store": 1.0}),
        ("    write = 1\n    return write\n", {"Store": 1.0}),
    ],
)
def test_references(edges_of: EdgesOf, body: str, expected: dict[str, float]) -> None:
    references = calls(edges_of, body, "References")
    assert references == {**expected, "Store": 0.9}


def test_attributes_of_self_are_what_the_constructor_keeps(edges_of: EdgesOf) -> None:
    text = (
        "from model import Item, Store\n\n\nclass Shop(Kept):\n    factory: type[Item] = Item\n\n"
        "    def run(self):\n        self.store.find(1)\n        self.made.save()\n        self.factory().save()\n\n\n"
        "class Kept:\n    def __init__(self, store: Store, item):\n        self.store = store\n"
        "        self.made = item or Item()\n        self.rest = item\n"
    )
    edges = edges_of("Calls", {"model.py": MODEL, "a.py": text})
    assert {end: value for (start, end), value in edges.items() if start == "a.py#Shop.run"} == {
        "model.py#Store.find": 0.9,
        "model.py#Item.save": 0.9,
        "model.py#Item": 0.9,
    }


def test_a_function_inside_another_is_known_there_alone(edges_of: EdgesOf) -> None:
    text = (
        "def outer():\n    def work():\n        pass\n    work()\n\n\n"
        "def work():\n    pass\n\n\ndef other():\n    work()\n"
    )
    assert edges_of("Calls", {"a.py": text}) == {("a.py#other", "a.py#work"): 1.0}


def test_a_call_of_a_constructor_names_its_class(edges_of: EdgesOf) -> None:
    text = (
        "class A:\n    def __init__(self):\n        self.x = load()\n\n\n"
        "class B(A):\n    def __init__(self):\n        super().__init__()\n        self.y = load()\n\n\n"
        "def f():\n    return A()\n"
    )
    assert edges_of("References", {"a.py": text}) == {("a.py#f", "a.py#A"): 1.0}
    assert edges_of("Calls", {"a.py": text}) == {
        ("a.py#f", "a.py#A.__init__"): 1.0,
        ("a.py#B.__init__", "a.py#A.__init__"): 0.9,
    }


def test_a_name_for_a_type(edges_of: EdgesOf) -> None:
    text = (
        "from model import Store\n\nDep = Annotated[Store, Depends(make)]\n\n\n"
        "def f(store: Dep, other=Depends(make)):\n    store.find(1)\n\n\n"
        "def g(other=Depends(make)):\n    other.close()\n\n\ndef make():\n    return Store()\n"
    )
    edges = edges_of("Calls", {"model.py": MODEL, "a.py": text})
    assert edges["a.py#f", "model.py#Store.find"] == 0.9
    assert edges["a.py#g", "model.py#Base.close"] == 0.8


def test_decorators(edges_of: EdgesOf) -> None:
    files = {
        "app.py": "class App:\n    def route(self, rule):\n        return wrap(rule)\n\n\ntasks = Outside()\n",
        "a.py": (
            "from app import App, tasks\n\napp = App()\n\n\n@app.route('/')\ndef f():\n    pass\n\n\n"
            "@tasks.task(bind=True)\ndef g():\n    pass\n\n\n@check\ndef h():\n    pass\n\n\n"
            "def check(f):\n    return f\n"
        ),
    }
    assert edges_of("DecoratedBy", files) == {
        ("a.py#f", "app.py#App.route"): 0.8,
        ("a.py#g", "app.py#tasks"): 1.0,
        ("a.py#h", "a.py#check"): 1.0,
    }


def test_members_of_protocols_and_abstract_classes(edges_of: EdgesOf) -> None:
    files = {
        "a.py": (
            "class Reader(Protocol):\n    def read(self) -> str: ...\n    def close(self): ...\n\n\n"
            "class File:\n    def read(self):\n        return load(self)\n\n"
            "    def close(self):\n        drop(self)\n\n\n"
            "class Job:\n    def run(self):\n        raise NotImplementedError\n\n\n"
            "class Mail(Job):\n    def run(self):\n        return send(self)\n\n\n"
            "class Half:\n    def read(self):\n        return load(self)\n\n\n"
            "def go(reader: Reader, job: Job):\n    reader.read()\n    job.run()\n"
        )
    }
    assert edges_of("Implements", files) == {
        ("a.py#File", "a.py#Reader"): 0.9,
        ("a.py#File.read", "a.py#Reader.read"): 0.9,
        ("a.py#File.close", "a.py#Reader.close"): 0.9,
        ("a.py#Mail.run", "a.py#Job.run"): 0.9,
    }
    assert edges_of("Calls", files) == {
        ("a.py#go", "a.py#Reader.read"): 0.9,
        ("a.py#go", "a.py#File.read"): 0.8,
        ("a.py#go", "a.py#Job.run"): 0.9,
        ("a.py#go", "a.py#Mail.run"): 0.8,
    }
