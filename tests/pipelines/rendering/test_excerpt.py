"""Which lines of a long text are shown."""

from collections.abc import Callable
from math import isqrt

import pytest

from groundwire.tokens import TokenCounter
from groundwire_client import NodeText, SourceLocation
from groundwire_pipelines.rendering.excerpt import Statements, excerpt
from groundwire_pipelines.rendering.words import stems
from support.growth import check_linear

COUNTER = TokenCounter()
METHOD = """\
@route("/orders")
def cancel(self, order_id):
    order = self.orders.find(order_id)
    if order is None:
        raise NotFound(order_id)
    if order.shipped_at is not None:
        self.log.warning("too late", order_id)
        raise AlreadyShipped(
            order_id,
        )
    for line in order.lines:
        self.stock.put_back(line.product, line.count)
    with self.transaction() as transaction:
        transaction.delete(order)
        transaction.insert(Event("cancelled", order_id))
    self.mail.send(order.customer, "cancelled")
    return order"""


def source(text: str, start: int = 1) -> NodeText:
    return NodeText(
        id="a",
        text=text,
        is_seed=True,
        depth=0,
        parent_id="",
        token_count=1,
        location=SourceLocation(path="a.py", start_line=start, end_line=start + text.count("\n"), content_hash="00"),
        symbol="a",
    )


def shown(text: str, question: str, most: int, start: int = 1) -> list[str]:
    part = excerpt(source(text, start), stems(question), most, COUNTER)
    assert part is not None
    assert part.tokens <= most
    return part.text.split("\n")


def test_a_text_that_fits_is_whole() -> None:
    part = excerpt(source(METHOD + "\n"), frozenset(), 500, COUNTER)
    assert part is not None
    assert (part.text, part.is_whole, part.source_tokens) == (METHOD, True, part.tokens)


def test_the_statement_that_shares_words_with_the_question_is_whole_and_marks_say_what_is_missing() -> None:
    assert shown(METHOD, "What happens to the stock of a product?", 70, start=101) == [
        '@route("/orders")',
        "def cancel(self, order_id):",
        "    order = self.orders.find(order_id)",
        "…104-110",
        "    for line in order.lines:",
        "        self.stock.put_back(line.product, line.count)",
        "…113-117",
    ]


def test_every_fifth_line_has_its_number_and_the_first_after_a_gap() -> None:
    part = excerpt(source(METHOD, start=98), stems("What happens to the stock of a product?"), 70, COUNTER)
    assert part is not None
    assert part.numbered.split("\n") == [
        '98  @route("/orders")',
        "    def cancel(self, order_id):",
        "100     order = self.orders.find(order_id)",
        "…101-107",
        "108     for line in order.lines:",
        "            self.stock.put_back(line.product, line.count)",
        "…110-114",
    ]
    assert part.tokens == COUNTER.count(part.numbered)


def test_no_line_of_a_text_imitates_a_number_or_a_mark() -> None:
    part = excerpt(source("…2-9\n\n7 forged", start=4), frozenset(), 500, COUNTER)
    assert part is not None
    assert part.numbered == "4 …2-9\n5\n  7 forged"


def test_a_statement_comes_with_what_it_is_nested_in() -> None:
    lines = shown(METHOD, "When is it too late since it was shipped already?", 85)
    assert "    if order.shipped_at is not None:" in lines
    assert "        raise AlreadyShipped(" in lines
    assert "        )" in lines


@pytest.mark.parametrize(
    "comment",
    [
        "/**\n * Puts things of every kind that there is back to where they once came from, at any time.\n */",
        "/// <summary>\n/// Puts things of every kind that there is back to where they once came from.\n/// </summary>",
    ],
)
def test_a_comment_does_not_take_the_place_of_what_it_is_about(comment: str) -> None:
    text = f"{comment}\n[Audited]\npublic void PutBack(int id)\n{{\n" + "    stock.Add(id);\n" * 20 + "}"
    lines = shown(text, "Unrelated?", 41)
    assert lines == ["…1-3", "[Audited]", "public void PutBack(int id)", "{", "    stock.Add(id);", "…8-27"]
    assert "public void PutBack(int id)" in shown(text, "Where did they come from?", 60)


def test_a_text_of_comments_alone_is_shown_from_its_beginning() -> None:
    lines = shown("// one two three\n" * 20, "Unrelated?", 20)
    assert lines == ["// one two three", "// one two three", "…18 lines"]


def test_one_line_of_an_outline_is_told_as_one() -> None:
    text = f"class Stock:\n    {'x' * 60}: int\n    def put_back(self): ...\n    {'y' * 90}: int"
    outline = NodeText(
        id="a",
        text=text,
        is_seed=True,
        depth=0,
        parent_id="",
        token_count=1,
        location=SourceLocation(path="a.py", start_line=1, end_line=90, content_hash="00"),
        symbol="a",
    )
    part = excerpt(outline, stems("who puts back?"), 30, COUNTER)
    assert part is not None
    assert part.text.split("\n") == ["class Stock:", "…1 line", "    def put_back(self): ...", "…1 line"]


def test_without_a_word_in_common_a_text_is_shown_from_its_beginning() -> None:
    lines = shown(METHOD, "Unrelated?", 45)
    assert lines[:3] == METHOD.split("\n")[:3]
    assert lines[-1].startswith("…")
    assert sum(line.startswith("…") for line in lines) == 1


def test_a_gap_no_longer_than_its_mark_is_closed() -> None:
    text = "def f():\n    a\n    stock()\n" + "    filler(1, 2, 3, 4)\n" * 30
    assert shown(text, "stock?", 40)[:3] == ["def f():", "    a", "    stock()"]


@pytest.mark.parametrize("text", ["x = 1; " * 500, "(" * 5_000, ""])
def test_a_first_line_that_does_not_fit_is_nothing_to_show(text: str) -> None:
    part = excerpt(source(text), frozenset(), 20, COUNTER)
    assert part is None or part.is_whole


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (10_000, lambda length: "\n".join(" " * depth + "stock {" for depth in range(isqrt(2 * length)))),
        (10_000, lambda length: "\n".join(" " * depth + "stock" for depth in range(isqrt(2 * length), 0, -1))),
        (8_000, lambda length: "stock\n" * (length // 6)),
        (8_000, lambda length: "\n" * length),
        (20_000, lambda length: "stock " * (length // 6)),
        (20_000, lambda length: "aB" * (length // 2)),
    ],
)
def test_no_text_costs_more_than_its_length(length: int, text: Callable[[int], str]) -> None:
    check_linear(lambda length: excerpt(source(text(length)), stems("stock?"), 300, COUNTER), length)


def test_statements_are_told_by_indentation_and_closing_lines() -> None:
    lines = ["void A()", "{", "    if (x)", "    {", "        B();", "    }", "    C();", "}", "", "void D();"]
    statements = Statements(lines)
    assert statements.ends == [0, 7, 2, 5, 4, 5, 6, 7, 8, 9]
    assert statements.parents == [-1, -1, 1, 1, 3, 1, 1, -1, -1, -1]
    assert statements.head() == (0, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("getUserById", {"user"}),
        ("delete, deleted, deletion", {"delet"}),
        ("MAX_ORDER_LINES2", {"max", "order", "lines"}),
        ("What is it for, and which of them will do?", set()),
        ("żółta łódź", {"żółta", "łódź"}),
    ],
)
def test_words_are_told_by_their_beginnings(text: str, words: set[str]) -> None:
    assert words <= stems(text)
    assert stems(text) <= words | {"get"}
