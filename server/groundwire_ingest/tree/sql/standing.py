"""Which of several definitions of one object counts now, by where their scripts are."""

import re
from enum import IntEnum
from typing import NamedTuple

_OBSOLETE_FOLDERS = frozenset("obsolete deprecated old backup backups archived test tests spec specs fixtures".split())
_UNDOING_WORDS = frozenset("down rollback undo revert".split())
_UNDOING_MIGRATION = re.compile(r"u\d[\d._]*__")
"""How the names of undo migrations of Flyway begin."""
_HISTORY_FOLDERS = frozenset(
    "migration migrations migrate release releases upgrade upgrades update updates patch patches delta deltas hotfix "
    "hotfixes change changes changeset changesets changelog version versions history".split()
)
_VERSION = re.compile(r"(?<!\d)\d++(?:[._-]\d++)+")
_NAMED_AS_VERSION = re.compile(r"[vV]?\d++(?:[._-]\d++)*+\.[^.\d][^./]*\Z")
"""A file that has the name of a version, with an ending: `2.3.4.8.sql`."""
_INSTALL_OR_UPGRADE = re.compile(
    r"(?:(?<![A-Za-z])(?:install|installation|upgrade|update)|Install|Installation|Upgrade|Update)s?+(?![a-z])"
)
"""What a folder of scripts does, as a word of its name in any usual case but capitals."""
_REPEATABLE = "r__"
"""How the names of migrations begin that Flyway runs whenever they change."""


_SYSTEMS = {
    word: words[0]
    for words in (
        ("mysql", "mariadb"),
        ("postgresql", "postgres", "pgsql", "pg"),
        ("sqlite", "sqlite3"),
        ("sqlserver", "mssql"),
        ("oracle",),
        ("db2",),
        ("h2",),
        ("hsqldb",),
        ("cockroachdb", "cockroach"),
        ("clickhouse",),
        ("sqlce",),
        ("firebird", "firebirdsql"),
        ("snowflake",),
    )
    for word in words
}
"""Names of database systems in paths, by each way to write one."""


class Tier(IntEnum):
    """The kind of script that a definition is in, the least current first."""

    OBSOLETE = 0
    """One that undoes a migration, is set aside, or belongs to tests."""
    SCRIPT = 1
    """A migration, or any other script."""
    OWN_FILE = 2
    """A file that is named as the object, outside of folders of migrations and versions."""


class Standing(NamedTuple):
    """The greatest of an object's definitions is the current one; among scripts that is the last by name.

    `order` is the path without case, its numbers as numbers, so that `Release_10` comes after `Release_9`. For files
    named as versions, folders of installations and of upgrades are the same: `InstallScripts/2.8.sql` has all that
    `UpgradeScripts/2.7.sql` has. `system` is the database system that the path names, "" for none: a definition for
    another system is no older one.
    """

    tier: Tier
    order: tuple[str | int, ...]
    path: str
    system: str


def standing(path: str, name: str) -> Standing:
    """The standing of a definition in the file at `path` of an object whose bare name is `name`, case-folded."""
    # A text, a number, a text and so on, so that the parts of two paths can be compared.
    parts = re.split(r"(\d+)", _ordered_path(path).casefold(), flags=re.ASCII)
    order = tuple(int(part) if place % 2 else part for place, part in enumerate(parts))
    words = re.findall(r"[a-z0-9]+", path.casefold())
    system = next((_SYSTEMS[word] for word in words if word in _SYSTEMS), "")
    return Standing(_tier(path.casefold(), name), order, path, system)


def _ordered_path(path: str) -> str:
    folders, slash, file = path.rpartition("/")
    if _NAMED_AS_VERSION.match(file) is None:
        return path
    return _INSTALL_OR_UPGRADE.sub("upgrade", folders) + slash + file


def _tier(path: str, name: str) -> Tier:
    *folders, file = path.split("/")
    words_of_folders = {word for folder in folders for word in re.split(r"[^a-z]+", folder)}
    words_of_file = set(re.split(r"[^a-z]+", file.removesuffix(".sql")))
    is_undoing = _UNDOING_MIGRATION.match(file) is not None or not _UNDOING_WORDS.isdisjoint(words_of_file)
    is_own_file = name in file.removeprefix(_REPEATABLE).split(".")[:-1]
    if not _OBSOLETE_FOLDERS.isdisjoint(words_of_folders) or (is_undoing and not is_own_file):
        return Tier.OBSOLETE
    is_history = not _HISTORY_FOLDERS.isdisjoint(words_of_folders) or any(map(_VERSION.search, folders))
    return Tier.OWN_FILE if is_own_file and (not is_history or file.startswith(_REPEATABLE)) else Tier.SCRIPT
