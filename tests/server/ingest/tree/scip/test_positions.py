"""Columns in each unit, and the innermost node around each row."""

import random

import pytest

from groundwire_ingest.tree.scip.positions import Occurrence, SourceText, Span, innermost

TEXT = "plain = 1\n🧾größe = plain + 2\nlast"


def at(row: int, start: int, end: int) -> Occurrence:
    return Occurrence("s", row, start, end, is_definition=False, is_import=False)


@pytest.mark.parametrize(("unit", "start", "end"), [("utf-8", 4, 11), ("utf-16-le", 2, 7), ("utf-32-le", 1, 6)])
def test_columns_count_the_units_of_the_document(unit: str, start: int, end: int) -> None:
    assert SourceText(TEXT, unit).written(at(1, start, end)) == "größe"
    assert SourceText(TEXT, unit).written(at(0, 0, 5)) == "plain"


@pytest.mark.parametrize("place", [at(-1, 0, 1), at(3, 0, 1), at(0, -3, 2), at(0, 4, -1), at(0, 5, 2), at(2, 9, 12)])
def test_no_place_in_the_text_is_empty(place: Occurrence) -> None:
    assert SourceText(TEXT, "utf-8").written(place) == ""


def test_the_shortest_span_around_a_row_holds_it_and_of_equal_ones_the_first() -> None:
    spans = [
        Span(0, 9, "file"),
        Span(2, 5, "type"),
        Span(2, 5, "same"),
        Span(4, 4, "field"),
        Span(8, 20, "past the end"),
    ]
    assert innermost(spans, 10, "outside") == [*["file"] * 2, *["type"] * 2, "field", "type", *["file"] * 4]
    assert innermost([Span(-1, -1, "unknown"), Span(7, 3, "turned")], 3, "outside") == ["outside"] * 3


def test_spans_are_laid_as_one_would_by_hand() -> None:
    source = random.Random(7)
    for _ in range(200):
        bounds = [sorted(source.choices(range(-2, 30), k=2)) for _ in range(source.randrange(12))]
        spans = [Span(first, last, str(number)) for number, (first, last) in enumerate(bounds)]
        expected = [
            min(
                (span for span in spans if span.first_row <= row <= span.last_row),
                key=lambda span: span.last_row - span.first_row,
                default=Span(0, 0, "outside"),
            ).key
            for row in range(25)
        ]
        assert innermost(spans, 25, "outside") == expected


def test_a_hundred_thousand_spans_of_a_whole_file_take_no_longer_than_their_number() -> None:
    rows = 100_000
    assert innermost((Span(0, rows, str(number)) for number in range(rows)), rows, "") == ["0"] * rows
