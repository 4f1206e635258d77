"""Which questions ask for a definition, and which symbols they name."""

import pytest

from groundwire_server.domain.query.asked_definition import asked_definition

QUESTION = "where is the current definition of the procedure for organization user update?"


@pytest.mark.parametrize(
    "question",
    [
        "how is an organization user updated?",
        "where is the session opened?",
        "where is the user read? It is declared public",
        "which procedure updates organization users",
    ],
)
def test_other_questions_name_nothing(question: str) -> None:
    assert asked_definition(question) is None


@pytest.mark.parametrize(
    ("question", "symbol", "is_sql", "factor"),
    [
        (QUESTION, "dbo.OrganizationUser_Update", True, 6.0),
        (QUESTION, "dbo.usp_OrganizationUser_Update", True, 6.0),
        (QUESTION, "dbo.OrganizationUser_UpdateMany", True, 1.5),
        (QUESTION, "dbo.User_OrganizationUpdate", True, 1.5),
        (QUESTION, "Shop.OrganizationUser", False, 3.0),
        (QUESTION, "Shop.Organizations.UpdateAsync(int)", False, 1.0),
        (QUESTION, "dbo.Current_Definition", True, 1.5),
        (QUESTION, "", False, 1.0),
        ("the current definition of Cipher_Move", "dbo.Cipher_Move", True, 3.0),
        ("where are invoices defined", "Shop.Invoice", False, 2.0),
        ("where is the table for invoices declared", "dbo.Invoice", True, 3.0),
    ],
)
def test_the_factor_follows_from_the_words_of_the_name(question: str, symbol: str, is_sql: bool, factor: float) -> None:
    definition = asked_definition(question)
    assert definition is not None
    assert definition.factor(symbol, is_sql) == factor
