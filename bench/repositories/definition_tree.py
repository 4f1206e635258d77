"""A made tree of stored procedures with older definitions in release scripts, and questions for the current one.

As in a .NET solution with a database project: a file for each table and most procedures, release scripts of many
statements, and C# classes that execute the procedures. It follows from a seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

IN_OWN_FILES = 40
"""Procedures that have a file of their own, which is current."""
IN_RELEASES_ONLY = 30
"""Procedures that only release scripts define; the newest one is current."""
_RELEASES = 24
_LEAST_OLD, _MOST_OLD = 3, 8
_SEED = 11


@dataclass(frozen=True, slots=True)
class _Subject:
    """A table: its name, what people call one row and several of them, and its columns, the oldest first."""

    name: str
    singular: str
    plural: str
    columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Task:
    """A task of procedures: the verb in their names, their comment, the question of people, and their statements.

    `%s` is the table, `%1` one row and `%2` several in the words of people, `%c` the columns, `%p` the parameter.
    """

    verb: str
    comment: str
    question: str
    body: str


@dataclass(frozen=True, slots=True)
class Definition:
    """An object, the question for it in words, and the path of the file that defines it now."""

    name: str
    question: str
    path: str


_SUBJECTS = tuple(
    _Subject(name, singular, plural, columns.split())
    for name, singular, plural, columns in (
        ("Invoice", "an invoice", "invoices", "Number Total DueOn PaidOn Currency Note Channel Rating"),
        ("Customer", "a customer", "customers", "Name Email Segment Country CreditLimit Language Source Score"),
        ("Shipment", "a shipment", "shipments", "Carrier TrackingCode SentOn Weight Volume Insured Route Zone"),
        ("PriceList", "a price list", "price lists", "Title ValidFrom ValidTo Currency Margin Region Rounding Owner"),
        ("StockItem", "a stock item", "stock items", "Sku Quantity Shelf Reorder Batch Expiry Reserved Unit"),
        ("Contract", "a contract", "contracts", "Title StartsOn EndsOn Value Notice Clause Signer Version"),
        ("Employee", "an employee", "employees", "Name Grade HiredOn Manager Office Salary Badge Shift"),
        ("Supplier", "a supplier", "suppliers", "Name Vat Country Terms Rating Bank Contact Approved"),
        ("Subscription", "a subscription", "subscriptions", "Plan StartsOn RenewsOn Seats Price Trial Coupon Status"),
        ("Warehouse", "a warehouse", "warehouses", "Code City Capacity Manager Docks Climate Opened Area"),
        ("Payment", "a payment", "payments", "Amount Method ReceivedOn Reference Fee Payer Cleared Batch"),
        ("Complaint", "a complaint", "complaints", "Subject OpenedOn ClosedOn Severity Owner Channel Outcome Tag"),
    )
)
_TASKS = tuple(
    _Task(*row)
    for row in (
        (
            "Get",
            "Returns what is known of %1.",
            "how do we read %1 with its details?",
            "SELECT %c FROM dbo.%s WHERE Id = %p;",
        ),
        (
            "Search",
            "Pages through %2 that match a text.",
            "how are %2 looked up by a text, page by page?",
            "SELECT %c FROM dbo.%s WHERE Search LIKE @Text ORDER BY Id\n"
            "    OFFSET @Skip ROWS FETCH NEXT @Take ROWS ONLY;",
        ),
        (
            "Archive",
            "Moves old %2 to the archive.",
            "what moves old %2 into the archive?",
            "INSERT INTO archive.%s (Id, %c) SELECT Id, %c FROM dbo.%s WHERE ChangedOn < @Before;\n"
            "    DELETE FROM dbo.%s WHERE ChangedOn < @Before;",
        ),
        (
            "Approve",
            "Marks %1 as approved and writes who did it.",
            "what happens when somebody approves %1?",
            "UPDATE dbo.%s SET ApprovedBy = @ChangedBy WHERE Id = %p;\n"
            "    INSERT INTO dbo.AuditTrail (Object, Id, Action) VALUES ('%s', %p, 'approve');",
        ),
        (
            "Merge",
            "Joins duplicates of %1 into one row.",
            "how are duplicates among %2 joined?",
            "UPDATE dbo.%s SET MergedInto = %p WHERE Id = @DuplicateId;\n    SELECT %c FROM dbo.%s WHERE Id = %p;",
        ),
        (
            "Import",
            "Takes %2 over from the staging table.",
            "where do staged %2 get taken over?",
            "MERGE dbo.%s AS target USING staging.%s AS source ON target.Id = source.Id\n"
            "    WHEN MATCHED THEN UPDATE SET target.ChangedOn = SYSUTCDATETIME();",
        ),
        (
            "Summarise",
            "Counts %2 for the monthly report.",
            "which code counts %2 for the report of a month?",
            "SELECT MONTH(ChangedOn) AS Month, COUNT(*) AS Rows FROM dbo.%s GROUP BY MONTH(ChangedOn);",
        ),
    )
)


def definition_tree() -> tuple[dict[str, str], list[Definition]]:
    """The files by path, and the objects: IN_OWN_FILES first, then IN_RELEASES_ONLY."""
    chance = Random(_SEED)
    chosen = chance.sample(list(product(_TASKS, _SUBJECTS)), IN_OWN_FILES + IN_RELEASES_ONLY)
    releases: dict[int, list[str]] = {number: [] for number in range(1, _RELEASES + 1)}
    files = {f"database/dbo/Tables/{subject.name}.sql": _table(subject) for subject in _SUBJECTS}
    definitions: list[Definition] = []
    for place, (task, subject) in enumerate(chosen):
        name = f"{task.verb}{subject.name}"
        in_releases = sorted(chance.sample(sorted(releases), chance.randint(_LEAST_OLD, _MOST_OLD)))
        for version, number in enumerate(in_releases):
            releases[number].append(_procedure(task, subject, "ALTER" if version else "CREATE", version))
        path = _release(in_releases[-1])
        if place < IN_OWN_FILES:
            path = f"database/dbo/Stored Procedures/{name}.sql"
            # Every second file is newer than the last release.
            files[path] = _procedure(task, subject, "CREATE", len(in_releases) - 1 + place % 2)
        definitions.append(
            Definition(name, task.question.replace("%1", subject.singular).replace("%2", subject.plural), path)
        )
    for number, procedures in releases.items():
        files[_release(number)] = _script(number, procedures, chance)
    return files | _classes(chosen), definitions


def _release(number: int) -> str:
    return f"database/Releases/Release_{number}.sql"


def _filled(text: str, subject: _Subject, columns: int) -> str:
    values: Mapping[str, str] = {
        "%s": subject.name,
        "%1": subject.singular,
        "%2": subject.plural,
        "%c": ", ".join(subject.columns[:columns]),
        "%p": f"@{subject.name}Id",
    }
    for mark, value in values.items():
        text = text.replace(mark, value)
    return text


def _table(subject: _Subject) -> str:
    columns = "".join(f",\n    {column} nvarchar(100) NULL" for column in subject.columns)
    return (
        f"CREATE TABLE dbo.{subject.name} (\n    Id int NOT NULL PRIMARY KEY{columns},\n    ChangedOn datetime2\n);\n"
    )


def _procedure(task: _Task, subject: _Subject, verb: str, version: int) -> str:
    """A definition; each version reads a column more than the one before."""
    comment, body = (_filled(text, subject, 2 + version) for text in (task.comment, task.body))
    return (
        f"-- {comment}\n{verb} PROCEDURE dbo.{task.verb}{subject.name}\n    @{subject.name}Id int = NULL,\n"
        f"    @ChangedBy nvarchar(50) = NULL,\n    @Text nvarchar(100) = NULL\nAS\nBEGIN\n    SET NOCOUNT ON;\n"
        f"    {body}\nEND\nGO\n"
    )


def _script(number: int, procedures: Sequence[str], chance: Random) -> str:
    """A release script: changes of tables and data, and between them the procedures that it defines."""
    parts = [f"PRINT 'Release {number}';\nGO\n"]
    for place, procedure in enumerate(procedures):
        subject = chance.choice(_SUBJECTS)
        column = chance.choice(subject.columns)
        parts.append(f"ALTER TABLE dbo.{subject.name} ADD {column}{number}_{place} nvarchar(100) NULL;\nGO\n")
        parts.append(f"UPDATE dbo.{subject.name} SET {column} = N'' WHERE {column} IS NULL;\nGO\n")
        parts.append(procedure)
    parts.append(f"INSERT INTO dbo.Version (Number, InstalledOn) VALUES ({number}, SYSUTCDATETIME());\nGO\n")
    return "\n".join(parts)


def _classes(chosen: Sequence[tuple[_Task, _Subject]]) -> dict[str, str]:
    """A C# class for each table, with a method for each procedure."""
    files = {}
    for subject in _SUBJECTS:
        methods = "\n".join(
            f"    public Task {task.verb}Async(int id) =>\n"
            f'        _database.ExecuteAsync("EXEC dbo.{task.verb}{subject.name} @{subject.name}Id", new {{ id }});\n'
            for task, of_table in chosen
            if of_table is subject
        )
        files[f"src/Data/{subject.name}Repository.cs"] = (
            f"namespace Shop.Data;\n\npublic sealed class {subject.name}Repository\n{{\n"
            f"    private readonly IDatabase _database;\n\n{methods}}}\n"
        )
    return files
