"""Which of several scripts has the current definition of an object."""

from itertools import permutations

import pytest

from groundwire_ingest.tree.sql.standing import standing


@pytest.mark.parametrize(
    ("older", "current"),
    [
        ("releases/Release_9.sql", "releases/Release_10.sql"),
        ("db/migrate/20240101_a.sql", "db/migrate/20240102_a.sql"),
        ("V2__tax.sql", "V10__tax.sql"),
        ("4.9/tax_rate.sql", "4.60/tax_rate.sql"),
        ("zz/Release_4.90.sql", "dbo/Stored Procedures/TAX_RATE.sql"),
        ("zz/Release_4.90.sql", "dbo.tax_rate.StoredProcedure.sql"),
        ("releases/4.90/tax_rate.sql", "dbo/tax_rate.sql"),
        ("Release_4.90/dbo.tax_rate.sql", "dbo/dbo.tax_rate.sql"),
        ("releases/4.60/tax_rate.sql", "releases/4.90/tax_rate.sql"),
        ("zz/tax_rates.sql", "dbo/tax_rate.sql"),
        ("migrations/V9__a.sql", "migrations/R__tax_rate.sql"),
        ("migrations/5_b_rollback.sql", "migrations/5_b.sql"),
        ("migrations/5.up.down.sql", "migrations/4.up.sql"),
        ("migrations/U5__b.sql", "migrations/B5__b.sql"),
        ("migrations/zz/old/9.sql", "migrations/8.sql"),
        ("tests/tax_rate.sql", "migrations/8.sql"),
        ("SchemaUpgradeScripts/mssql/2.2.2.2.sql", "SchemaInstallScripts/mssql/2.3.4.8.sql"),
        ("SchemaInstallScripts/mssql/2.3.4.8.sql", "SchemaUpgradeScripts/mssql/2.3.10.0.sql"),
        ("db/install/v3.1.sql", "db/updates/v3.1.sql"),
        ("install/schema.sql", "upgrade/2.0.sql"),
        ("a.sql", "b.sql"),
        ("A.sql", "a.sql"),
    ],
)
def test_the_current_definition_stands_above_the_older_one(older: str, current: str) -> None:
    assert standing(older, "tax_rate") < standing(current, "tax_rate")


def test_an_object_may_be_named_as_what_undoes_a_migration() -> None:
    assert standing("releases/1.sql", "undo") < standing("dbo/Undo.sql", "undo")


def test_any_two_paths_can_be_compared() -> None:
    paths = ["1/a.sql", "a/1.sql", "a1b/2.sql", "10.sql", "9", "", "²/a.sql", "a/٣.sql", "a/.sql"]
    for left, right in permutations(paths, 2):
        assert (standing(left, "a") < standing(right, "a")) != (standing(right, "a") < standing(left, "a"))
