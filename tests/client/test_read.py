"""`client.read`: exactly the lines that names mean, put together from nodes, by a real server."""

from collections.abc import Iterator
from unittest.mock import ANY

import pytest

from groundwire_client import GroundwireClient, IndexScope, Reading
from groundwire_client._reading import ReadText
from groundwire_client._source_lines import FileNode, Run, runs_of
from support.program import Server, run_ok

SCOPE = IndexScope(repository="shop", branch="main")
FILES = {
    "src/basket.py": '''\
"""The basket."""

import math

VAT_RATE = 0.19


class Basket:
    """What a customer buys.

    Prices are net.
    """

    limit = 10

    def add(self, item):
        if len(self.items) == self.limit:
            raise ValueError("full")
        self.items.append(item)

    @property
    def total(self):
        # Rounded once.
        return math.ceil(self.net * (1 + VAT_RATE))


def empty():

    return Basket()
''',
    "src/Order.cs": """\
using System;

namespace Shop;

public class Order
{
    private readonly int _limit = 3;
    private Clock _clock = new Clock();

    public void Add(Item item)
    {
        _items.Add(item);
    }


    public decimal Total { get; set; }
    public decimal Pay() => Total * 2;
}
""",
    "src/order.go": """\
package shop

// Limit is the most items.
const Limit = 3

type Order struct {
	items []Item
}

func (o *Order) Add(item Item) {
	o.items = append(o.items, item)
}
""",
    "src/order.ts": """\
import { Item } from './item';

export class Order {
  private limit = 3;

  constructor(private readonly clock: Clock) {}

  add(item: Item): void {
    this.items.push(item);
  }
}
""",
    "docs/order.md": """\
# Orders

An order has items.

## Limits

At most three.
""",
    "src/rates.py": (
        '"""Rates."""\n\nimport os\n\n# In percent\n# of net.\nRATES = {\n    "books": 7,\n}\n\nLIMIT = 3\n\n\n'
        "def rate():\n    return RATES\n\n\nrate()\n"
    ),
}
OTHER = "src/other/basket.py"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GroundwireClient]:
    """A client of a server that has the files."""
    folder = tmp_path_factory.mktemp("read")
    for name, text in {**FILES, OTHER: "def empty():\n    return None\n"}.items():
        path = folder / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    scope = ("--repository", SCOPE.repository, "--branch", SCOPE.branch)
    run_ok("index", folder / "shop", *scope, "--data", folder / "data", "--embedder", "none")
    with Server(folder / "data", "--embedder", "none") as server, GroundwireClient(server.address, timeout=300) as made:
        yield made


def rows(reading: Reading) -> list[str]:
    return reading.rendered.splitlines()


@pytest.mark.parametrize("name", FILES)
def test_lines_are_those_of_the_file_wherever_they_begin_and_end(client: GroundwireClient, name: str) -> None:
    source = FILES[name].splitlines()
    size = len(source)
    for first, last in {(1, size), (1, size // 2), (size // 2, size), (2, size - 1), (size // 3, size // 3 + 2)}:
        (text,) = client.read(SCOPE, [f"{name}:{first}-{last}"]).texts
        numbers: list[int] = []
        for run in text.runs:
            numbers += range(run.first, run.last + 1)
            lines_of_run = source[run.first - 1 : run.last]
            if not run.lines:
                # No text has the lines between sections of documents, nor those above the first type of some languages.
                assert name.endswith((".md", ".cs", ".ts")), run
            elif run.is_numbered:
                assert list(run.lines) == lines_of_run
            else:
                near = source[max(run.first - 4, 0) : run.last + 3]
                assert {line for line in lines_of_run if line} <= set(run.lines) <= set(near)
        assert set(numbers) >= set(range(first, last + 1))


def test_lines_across_members_have_their_numbers(client: GroundwireClient) -> None:
    assert rows(client.read(SCOPE, ["src/basket.py:18-24"])) == [
        "src/basket.py:18-24",
        '18             raise ValueError("full")',
        "           self.items.append(item)",
        "20",
        "       @property",
        "       def total(self):",
        "           # Rounded once.",
        "           return math.ceil(self.net * (1 + VAT_RATE))",
    ]


def test_a_single_line_stands_for_the_member_around_it_or_for_the_lines_around_it(client: GroundwireClient) -> None:
    assert rows(client.read(SCOPE, ["src/basket.py:19"]))[0] == "src/basket.py:16-19 Basket.add"
    around = client.read(SCOPE, ["src/basket.py:14"])
    assert rows(around)[0] == "src/basket.py:4-24"
    assert "    limit = 10" in around.texts[0].text


def test_lines_behind_the_end_are_in_no_text(client: GroundwireClient) -> None:
    assert rows(client.read(SCOPE, ["src/basket.py:29-40"]))[-2:] == ["29     return Basket()", "…30-40 in no text"]


def test_a_type_is_marked_as_an_outline(client: GroundwireClient) -> None:
    read = rows(client.read(SCOPE, ["Basket"]))
    assert read[0] == "src/basket.py:8-24 Basket (outline; src/basket.py:8-24 as a place gives all lines)"
    assert read[1] == " class Basket:"


def test_names_that_mean_nothing_are_told_after_the_texts(client: GroundwireClient) -> None:
    read = client.read(SCOPE, ["src/nothing.py:3-9", "math", "Basket.add", "basket.py:3-9", "empty", "words of it"])
    assert [text.symbol for text in read.texts] == ["Basket.add"]
    assert [unread.name for unread in read.unread] == [
        "src/nothing.py:3-9",
        "math",
        "basket.py:3-9",
        "empty",
        "words of it",
    ]
    nothing, module, path, symbol, words = read.unread
    assert "names no node" in nothing.reason
    assert module.occurrences == (
        "src/basket.py:1-29  import math",
        "src/basket.py:24  return math.ceil(self.net * (1 + VAT_RATE))",
    )
    assert path.reason.splitlines()[1:] == ["  src/basket.py:3-9", "  src/other/basket.py:3-9"]
    assert "'empty' is ambiguous" in symbol.reason
    assert [match.occurrences for match in (nothing, path, symbol, words)] == [()] * 4


@pytest.mark.parametrize(("budget", "unit"), [("budget_tokens", "tokens"), ("max_chars", "characters")])
def test_of_what_does_not_fit_the_head_is_shown_and_the_rest_is_named(
    client: GroundwireClient, budget: str, unit: str
) -> None:
    amount = {"budget_tokens": 26, "max_chars": 90}[budget]
    read = client.read(SCOPE, ["Basket.add", "Basket.total", "src/order.go:10-12"], **{budget: amount})  # type: ignore[arg-type]
    assert read.used <= amount
    assert rows(read)[:3] == ["src/basket.py:16-19 Basket.add", "16     def add(self, item):", ANY]
    assert any(row.startswith("…") and f"{unit}: read src/basket.py:" in row for row in rows(read))
    assert any(row.startswith("left out: ") for row in rows(read))


def test_the_rest_can_be_read_where_the_head_ends(client: GroundwireClient) -> None:
    whole = client.read(SCOPE, ["src/basket.py:16-24"]).texts[0].text
    head = client.read(SCOPE, ["src/basket.py:16-24"], budget_tokens=30)
    place = head.texts[0].rest.rpartition("read ")[2]
    assert head.texts[0].text + "\n" + client.read(SCOPE, [place]).texts[0].text == whole


def test_one_budget_is_given(client: GroundwireClient) -> None:
    with pytest.raises(ValueError, match="exactly one budget"):
        client.read(SCOPE, ["Basket.add"], budget_tokens=1, max_chars=1)


def test_the_next_call_reads_the_same_version(client: GroundwireClient) -> None:
    (index,) = client.list_indexes().indexes
    assert client.read(SCOPE, ["Basket.add"]).index == index.version


def test_several_scopes_name_the_repository(client: GroundwireClient) -> None:
    read = client.read([IndexScope(repository="sh*", branch="main")], ["src/basket.py:16-17", "Basket.add"])
    assert [text.heading for text in read.texts] == [
        "shop::main src/basket.py:16-17",
        "shop::main src/basket.py:16-19 Basket.add",
    ]


def test_no_text_and_no_name_imitates_another_line_of_a_reading() -> None:
    run = Run(1, 2, ("x = 1\r[2] other.py:1-9", "y\u2028left out: z", ""))
    text = ReadText("", "a\nleft out: b.py:1-3", "Sum\n2 y = 0", "", (run,))
    assert Reading((text,), (), (), 0, "tokens", "", ()).rendered == (
        "a left out: b.py:1-3 Sum 2 y = 0\n1 x = 1 [2] other.py:1-9\n  y left out: z\n\n"
    )


def test_a_line_that_only_ends_like_a_node_does_not_number_the_lines_before_it() -> None:
    """The outline does not name the function, and its last line is that of another declaration."""
    outline = FileNode("file", "shop", 1, 9, "use(\n  a,\n)\nset(\n)")
    hidden = FileNode("f", "hidden", 5, 7, "hidden = make(\n  b,\n)")
    assert not [run for run in runs_of([outline, hidden], 1, 9) if run.lines and run.first < 5]
