import pytest

from groundwire_pipelines.actions.find_paths import ends_of


@pytest.mark.parametrize(
    ("question", "ends"),
    [
        ("from the button to the table", ("the button", "the table")),
        ("What leads FROM the button To the orders table?", ("the button", "the orders table")),
        ("from the button to what writes to the table", ("the button", "what writes to the table")),
        ("from to-do lists to the table", ("to-do lists", "the table")),
        ("from to to to", ("to", "to")),
        ("what connects the button and the table between page and database ?", ("page", "database")),
        ("from the page between orders and invoices", ("orders", "invoices")),
        ("Button -> Table", ("Button", "Table")),
        ("Button → Table.", ("Button", "Table")),
        ("from a to b -> c", ("from a to b", "c")),
    ],
)
def test_the_ends_are_read_by_the_first_words_that_hold_both(question: str, ends: tuple[str, str]) -> None:
    assert ends_of(question) == ends


@pytest.mark.parametrize(
    "question",
    [
        "",
        "where is VAT computed?",
        "from the button",
        "to the table from here",
        "from to",
        "from a to ?",
        "-> b",
        "a ->",
    ],
)
def test_a_question_with_one_end_or_none_has_no_ends(question: str) -> None:
    assert ends_of(question) is None


def test_a_long_question_costs_what_its_length_allows() -> None:
    assert ends_of("from " * 500_000) is None
    assert ends_of("from a " + "to " * 500_000) == ("a", " ".join(["to"] * 499_999))
