"""The short names that boxes, headings and lists have room for."""

import pytest

from groundwire_explore.describing import short_name


@pytest.mark.parametrize(
    ("name", "path", "short"),
    [
        ("Shop.Invoice.Create(int)", "src/Invoice.cs", "Create"),
        ("shop::Invoice::create", "src/invoice.cpp", "create"),
        ("Install > With pip", "README.md", "With pip"),
        ("appsettings.json", "src/appsettings.json", "appsettings.json"),
        ("src/appsettings.json", "src/appsettings.json", "appsettings.json"),
        ("src/client/index.ts", "src/client/index.ts", "index.ts"),
        ("Makefile", "Makefile", "Makefile"),
        ("a statement of SQL", "db/a.sql", "a statement of SQL"),
        ("thing", "", "thing"),
    ],
)
def test_the_short_name_is_the_last_part_and_of_a_file_its_name(name: str, path: str, short: str) -> None:
    assert short_name(name, path) == short
