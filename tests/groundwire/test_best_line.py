"""The line of a text that says most about a question, and what of it is in view."""

import pytest

from groundwire.evidence.best_line import best_line_of, cut_in_view

TEXT = ["", "    def rate(country, net):", "        # -----", "        return rate * compute(net)"]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("where is VAT computed?", 3),
        ("the rate of a country", 1),
        ("how and where does the", 1),
        ("something else", 1),
        ("net", 1),
        ("", 1),
    ],
)
def test_the_line_with_most_words_is_the_best(question: str, place: int) -> None:
    assert best_line_of(TEXT, question) == place


def test_a_rare_word_weighs_more_than_a_frequent_one() -> None:
    assert best_line_of(["cookie", "cookie", "signed", "cookie"], "signed cookie") == 2


def test_without_any_word_it_is_the_first_line_that_says_something() -> None:
    assert best_line_of(["{", "  ", "-- ", "x = 1"], "cookie") == 3
    assert best_line_of(["{", "}"], "cookie") == 0


@pytest.mark.parametrize("place", [0, 7, 60, 500, 5_000, 9_980, 9_993])
def test_a_long_line_is_cut_with_the_match_in_view(place: int) -> None:
    line = f"{'x' * place}invoice{'y' * (9_993 - place)}"
    shown = cut_in_view(line, "where are invoices?", 80)
    assert len(shown) <= 80
    assert "invoic" in shown
    assert shown.startswith("…") == (place > 20)
    assert shown.endswith("…") == (place < 9_940)
    assert shown.strip("…") in line


def test_a_line_that_fits_is_whole() -> None:
    assert cut_in_view("return rate", "rate", 11) == "return rate"
    assert cut_in_view("return rates", "absent", 11) == "return rat…"
    assert [cut_in_view("return rates", "rate", width) for width in (0, 1, 2)] == ["", "r", "re"]
    assert "total" in cut_in_view("İ" * 60 + " the total of it", "total", 20)
