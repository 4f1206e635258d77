"""Questions to begin with name the largest types and documents."""

from groundwire_client import SearchHit, SourceLocation
from groundwire_explore.overview import example_questions


def hits(path: str, *symbols: str, is_test: bool = False) -> list[SearchHit]:
    """A hit for each symbol."""
    place = SourceLocation(path=path)
    return [SearchHit(id=symbol, symbol=symbol, location=place, is_test=is_test) for symbol in symbols]


def members(name: str, count: int) -> list[str]:
    """A type and its members."""
    return [name, *(f"{name}.step_{number}(int)" for number in range(count))]


def test_the_largest_types_and_documents_are_asked_about() -> None:
    read = [
        *hits("src/basket.py", "src.basket", *members("Shop.Basket", 5)),
        *hits(
            "src/order.py",
            "src.order",
            *members("Order", 7),
            *members("Line", 4),
            *members("Small", 2),
            *members("_Private", 9),
        ),
        *hits("tests/test_order.py", *members("TestOrder", 20), is_test=True),
        *hits("docs/guide.md", "Guide", "Guide > Install", "Guide > Run"),
        *hits("docs/start.rst", "Start", "Start > One", "Start > Two", "Start > Two > Three"),
        *hits("CHANGES.md", "Version 2", "Version 1", "Version 0"),
    ]
    expected = (
        "How does Order work?",
        "How does Basket work?",
        "What is said about “Start”?",
        "What is said about “Guide”?",
        "What uses Line?",
    )
    assert example_questions(read) == expected
    assert example_questions(read[::-1]) == expected


def test_an_index_without_types_and_documents_has_no_questions() -> None:
    assert example_questions(hits("a.py", "a", "b")) == ()
