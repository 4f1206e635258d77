"""What is trained on: documented code without its documentation, from sources that nothing is measured on."""

import pytest

from bench.low_rank.declarations import Declaration, documented_declarations
from bench.low_rank.pairs import Pair, distinct, is_wanted, pairs_of
from bench.low_rank.sources import read_table
from bench.quality.docstring_set import DISTRIBUTIONS

PERMISSIVE = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}
MEASURED_REPOSITORIES = {"dotnet/eshop", "pallets/flask", "hoppscotch/hoppscotch", "usememos/memos"}

GO = """\
package shop

// AddItem puts an item into the basket of a user. It fails when there is none.
func (b *Basket) AddItem(item Item) error {
\treturn b.add(item)
}

// A blank line stands between this comment and the next function, so it is none of its.

func plain() int {
\treturn 1
}

// Basket holds what a user wants to buy.
type Basket struct {
\titems []Item
}

// too short
func other() int {
\treturn 2
}
"""
JAVA = """\
/**
 * A basket of {@link Item items} that a <b>user</b> wants to buy.
 *
 * @since 1.0
 */
public final class Basket {
    /** Puts an item into the basket, once. */
    @Override
    public void add(Item item) {
        items.add(item);
    }

    /** {@inheritDoc} and then some more words here. */
    public int size() {
        return items.size();
    }
}
"""
CSHARP = """\
namespace Shop
{
    public class Basket : IBasket
    {
        /// <summary>
        /// Puts an <see cref="Item"/> into the basket.
        /// </summary>
        public void Add(Item item)
        {
            _items.Add(item);
        }
    }
}
"""
TYPESCRIPT = """\
/**
 * Reads the settings of a user from disk.
 * @param path where they lie
 */
export function readSettings(path: string): Settings {
  return JSON.parse(read(path));
}

// eslint-disable-next-line no-console -- for all of it
export function log(text: string): void {
  console.log(text);
}
"""


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        (
            "go",
            GO,
            [
                ("AddItem", "", "puts an item into the basket of a user"),
                ("Basket", "", "holds what a user wants to buy"),
            ],
        ),
        (
            "java",
            JAVA,
            [
                ("Basket", "", "A basket of Item items that a user wants to buy"),
                ("Basket.add", "public final class Basket", "Puts an item into the basket, once"),
            ],
        ),
        ("csharp", CSHARP, [("Basket.Add", "public class Basket : IBasket", "Puts an Item into the basket")]),
        ("typescript", TYPESCRIPT, [("readSettings", "", "Reads the settings of a user from disk")]),
    ],
)
def test_declarations_are_found_with_what_is_said_of_them(
    language: str, source: str, expected: list[tuple[str, str, str]]
) -> None:
    found = list(documented_declarations(source.encode(), language))
    assert [(one.symbol, one.context, one.sentence) for one in found] == expected
    assert all(one.sentence not in one.text for one in found)


def test_a_text_is_the_declaration_at_the_left_margin() -> None:
    (found,) = documented_declarations(CSHARP.encode(), "csharp")
    assert isinstance(found, Declaration)
    assert found.text == "public void Add(Item item)\n{\n    _items.Add(item);\n}"


def test_deep_nesting_is_read() -> None:
    source = "class A { " * 3_000 + "}" * 3_000
    assert list(documented_declarations(source.encode(), "java")) == []


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("shop/basket.py", True),
        ("src/Basket.cs", True),
        ("basket.go", True),
        ("basket.rb", False),
        ("shop/tests/basket.py", False),
        ("test_basket.py", False),
        ("basket_test.go", False),
        ("basket.spec.ts", False),
        ("types.d.ts", False),
        ("basket.pb.go", False),
        ("basket_pb2.py", False),
        ("BasketTests.cs", False),
        ("contest/newest.py", True),
    ],
)
def test_tests_and_generated_files_are_left_out(path: str, wanted: bool) -> None:
    assert is_wanted(path) is wanted


def test_python_functions_are_pairs() -> None:
    source = b'class A:\n  def f(self):\n    """Counts what is there now. Slowly."""\n    x = 1\n    return x\n'
    assert list(pairs_of("p", "a.py", source)) == [
        Pair("p", "a.py", "A.f", "", "Counts what is there now", "def f(self):\n  x = 1\n  return x")
    ]
    assert list(pairs_of("p", "a.py", b"def f(:\n")) == []


def test_what_is_measured_on_is_not_trained_on() -> None:
    first, second, third = (
        Pair("p", "a", "s", "", words, text) for words, text in (("A", "x"), ("b", "y"), ("c", "X "))
    )
    assert list(distinct([first, second, third], {"b"})) == [first]


def test_sources_are_permissive_and_not_among_what_is_measured() -> None:
    table = read_table()
    assert {source.licence for source in table} <= PERMISSIVE
    names = [source.name.lower() for source in table]
    assert len(set(names)) == len(names)
    assert set(names).isdisjoint(name.lower() for name in DISTRIBUTIONS)
    assert set(names).isdisjoint(MEASURED_REPOSITORIES)
    assert {(source.kind, source.use) for source in table} == {
        (kind, use) for kind in ("pypi", "github") for use in ("train", "kept")
    }
