"""Names drawn from a corpus, and slips of the keyboard in them."""

import pytest

from bench.quality.look_ups import UNAMBIGUOUS, draw_look_ups, last_segment, with_typos
from bench.quality.sets import Document

SYMBOLS = [
    "Store.get_value",
    "Cache.get_value",
    "Store.put_value",
    "Store.__init__",
    "run",
    "main",
    "shop::Invoice#total",
]
CORPUS = [Document(id=f"d{number}", symbol=symbol) for number, symbol in enumerate(SYMBOLS)]


def distance(first: str, second: str) -> int:
    """Edits that turn one into the other, a swap of neighbours being one (optimal string alignment)."""
    rows = {(i, 0): i for i in range(len(first) + 1)} | {(0, j): j for j in range(len(second) + 1)}
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            differs = first[i - 1] != second[j - 1]
            rows[i, j] = min(rows[i - 1, j] + 1, rows[i, j - 1] + 1, rows[i - 1, j - 1] + differs)
            if i > 1 and j > 1 and (first[i - 1], first[i - 2]) == (second[j - 2], second[j - 1]):
                rows[i, j] = min(rows[i, j], rows[i - 2, j - 2] + 1)
    return rows[len(first), len(second)]


def test_a_look_up_finds_every_bearer_of_the_name() -> None:
    drawn = {look_up.query: look_up for look_up in draw_look_ups(CORPUS, 100)}
    assert list(drawn) == ["get_value", "main", "put_value", "total"]
    assert drawn["get_value"].relevant == ("d0", "d1")
    assert drawn["total"].relevant == ("d6",)


def test_a_name_that_one_document_bears_is_in_the_unambiguous_part() -> None:
    parts = {look_up.query: look_up.parts for look_up in draw_look_ups(CORPUS, 100)}
    assert parts == {"get_value": (), "main": (UNAMBIGUOUS,), "put_value": (UNAMBIGUOUS,), "total": (UNAMBIGUOUS,)}


def test_the_same_names_are_drawn_each_time_whatever_the_order_of_the_corpus() -> None:
    assert len(draw_look_ups(CORPUS, 2)) == 2
    assert [look_up.query for look_up in draw_look_ups(CORPUS, 2)] == [
        look_up.query for look_up in draw_look_ups(CORPUS[::-1], 2)
    ]


@pytest.mark.parametrize(
    ("symbol", "name"), [("run", "run"), ("a.b.run", "run"), ("Shop::Invoice#total", "total"), ("", "")]
)
def test_the_last_segment_of_a_symbol(symbol: str, name: str) -> None:
    assert last_segment(symbol) == name


def test_a_typo_is_one_edit_away_and_looks_for_the_same() -> None:
    corpus = [Document(id=str(number), symbol=f"name_{number:03}_xyz") for number in range(300)]
    look_ups = draw_look_ups(corpus, 300)
    typos = with_typos(look_ups)
    assert [typo.relevant for typo in typos] == [look_up.relevant for look_up in look_ups]
    assert {distance(wrong.query, right.query) for wrong, right in zip(typos, look_ups, strict=True)} == {1}
    lengths = {len(wrong.query) - len(right.query) for wrong, right in zip(typos, look_ups, strict=True)}
    assert lengths == {-1, 0, 1}
    assert with_typos(look_ups) == typos


def test_a_name_of_one_letter_repeated_gets_a_typo_too() -> None:
    (typo,) = with_typos(draw_look_ups([Document(id="d", symbol="aaaa")], 1))
    assert typo.query != "aaaa"
