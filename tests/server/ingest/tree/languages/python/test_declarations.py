from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis, CodeFacts, Definition, Parameter
from groundwire_ingest.tree.framework_facts import TableMapping

Analyser = Callable[[str, str], CodeAnalysis]


def facts_of(analysis: CodeAnalysis) -> CodeFacts:
    assert analysis.facts is not None
    return analysis.facts


def definition_of(analysis: CodeAnalysis, symbol: str) -> Definition:
    return next(item for item in facts_of(analysis).definitions if item.symbol == symbol)


def test_parameters_and_result(analyse: Analyser) -> None:
    text = 'def f(self, a, /, b: int, c=1, *args: str, d: "list[Foo]" = None, **rest) -> Optional["Bar"]:\n    pass\n'
    definition = definition_of(analyse("a.py", text), "f")
    assert definition.parameters == (
        Parameter("self"),
        Parameter("a"),
        Parameter("b", "int"),
        Parameter("c", "", True),
        Parameter("d", "list<Foo>", True),
    )
    assert definition.result == "Optional<Bar>"


@pytest.mark.parametrize(
    ("decorator", "stated", "result"),
    [
        ("@contextmanager\n", "Iterator[Session]", "Session"),
        ("@pytest.fixture()\n", "Generator[Session, None, None]", "Session"),
        ("", "Iterator[Session]", "Iterator<Session>"),
    ],
)
def test_what_yields_one_value_returns_it(analyse: Analyser, decorator: str, stated: str, result: str) -> None:
    analysis = analyse("a.py", f"{decorator}def f() -> {stated}:\n    yield Session()\n")
    assert definition_of(analysis, "f").result == result


SHAPES = '''\
class Base(ABC):
    @property
    def size(self): return len(self.items)
    @staticmethod
    def make(): return Base()
    @abc.abstractmethod
    def run(self): ...
    def stop(self):
        """Stops."""
        raise NotImplementedError("stop")
    def go(self): return self.run()

class Reader(Protocol[T]):
    def read(self) -> T: ...
    def twice(self) -> T: return self.read()

class Plain(Generic[K, V]):
    pass
'''


def test_traits(analyse: Analyser) -> None:
    analysis = analyse("a.py", SHAPES)
    assert {item.symbol: set(item.traits) for item in facts_of(analysis).definitions if item.traits} == {
        "Base": {"abstract"},
        "Base.size": {"property"},
        "Base.make": {"static"},
        "Base.run": {"abstract"},
        "Base.stop": {"abstract"},
        "Reader": {"interface", "structural"},
        "Reader.read": {"abstract"},
    }
    assert definition_of(analysis, "Plain").type_parameters == ("K", "V")
    assert definition_of(analysis, "Reader").type_parameters == ("T",)


def test_variables_of_a_module_are_definitions_of_its_outline(analyse: Analyser) -> None:
    text = (
        "LIMIT = 1\n__all__ = ['f']\nif DEBUG:\n    level: Level = find()\n(a, b) = 1, 2\nx.y = 3\n\n\n"
        "def f():\n    inner = 2\n\n\nclass A:\n    field = 3\n"
    )
    analysis = analyse("a.py", text)
    values = [item for item in facts_of(analysis).definitions if item.construct == "value"]
    assert [(item.symbol, item.key, item.result) for item in values] == [
        ("LIMIT", "py::a.py#LIMIT", ""),
        ("level", "py::a.py#level", "Level"),
    ]


def test_overloads_only_state_types(analyse: Analyser) -> None:
    text = "@t.overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\ndef f(x):\n    return x + x\n"
    assert [node.local_id for node in analyse("a.py", text).file.nodes] == ["a.py", "a.py#f"]


def test_a_short_function_inside_another_stays_in_it(analyse: Analyser) -> None:
    text = (
        "def outer(f):\n    @wraps(f)\n    def inner(*args):\n        g()\n        return f(*args)\n    return inner\n"
    )
    analysis = analyse("a.py", text)
    assert [node.local_id for node in analysis.file.nodes] == ["a.py", "a.py#outer"]
    inner = definition_of(analysis, "outer.inner")
    assert (inner.key, inner.traits) == ("py::a.py#outer", frozenset({"local"}))
    assert {call.from_key for call in facts_of(analysis).calls} == {"py::a.py#outer"}


def test_long_functions_inside_another_are_nodes_unless_they_are_most_of_it(analyse: Analyser) -> None:
    body = "".join(f"        step({number})\n" for number in range(12))
    two = f"def make():\n    def first():\n{body}    def second():\n{body}    return first, second\n"
    keys = [node.local_id for node in analyse("a.py", two).file.nodes]
    assert keys == ["a.py", "a.py#make", "a.py#make.first", "a.py#make.second"]
    with_one = f"def make():\n    def only():\n{body}    return only\n"
    assert [node.local_id for node in analyse("a.py", with_one).file.nodes] == ["a.py", "a.py#make"]


def test_a_class_of_settings_stays_in_the_class_around(analyse: Analyser) -> None:
    text = (
        "class Order(models.Model):\n    class Meta:\n        ordering = ['id']\n\n"
        "    class Status(Enum):\n        def label(self):\n            return self.name.lower()\n"
    )
    keys = [node.local_id for node in analyse("shop/models.py", text).file.nodes]
    assert keys == ["shop/models.py#Order", "shop/models.py#Order.Status", "shop/models.py#Order.Status.label"]


def test_a_signature_ends_before_a_comment(analyse: Analyser) -> None:
    nodes = analyse("a.py", "def f(x):  # Why.\n    # Why not.\n    return g(x)\n").file.nodes
    assert nodes[-1].signature == "def f(x)"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("shop/models.py", "class Order(models.Model):\n    pass\n", "shop_order"),
        ("src/shop/models/order.py", "class OrderItem(Base):\n    n = models.CharField()\n", "shop_orderitem"),
        ("shop/models.py", "class Base(models.Model):\n    class Meta:\n        abstract = True\n", ""),
        ("app/models.py", "class OrderItem(db.Model):\n    id = db.Column()\n", "order_item"),
        ("app/models.py", "class OrderItem(Base, table=True):\n    id: int\n", "orderitem"),
        ("app/models.py", "class OrderItem(Base):\n    id: int\n", ""),
    ],
)
def test_tables_by_convention(analyse: Analyser, path: str, text: str, expected: str) -> None:
    mappings = facts_of(analyse(path, text)).mappings
    name = "Order" if "class Order(" in text else "OrderItem"
    assert mappings == ((TableMapping(f"py::{path}#{name}", 1, "", expected, 0.8),) if expected else ())


def test_tables_that_are_made_without_a_class(analyse: Analyser) -> None:
    text = "orders = Table('orders', metadata, Column('id'))\nother = Table('x', style)\n"
    assert facts_of(analyse("a.py", text)).mappings == (TableMapping("py::a.py#orders", 0, "", "orders", 1.0),)
