"""What is particular to a framework stands in the folder of frameworks, and nowhere else in name resolution.

Formats of files (`tree/files`) and what several frameworks share (`tree/languages`) may say which ones they are for.
"""

import re

from project.tools import ROOT

INGEST = ROOT / "server" / "groundwire_ingest"
SHARED_FOLDERS = ("files", "languages")
NAMES = frozenset(
    """aiohttp alembic angular aspnet blazor celery cobra dagger django dramatiq fastapi flask gorm guice jest jpa
    junit knex laravel masstransit mediatr mockito mockk moq mybatis nestjs nsubstitute nunit pytest rails razor spring
    springframework sqlalchemy starlette svelte tornado typeorm vitest vue xunit""".split()
)


def words_of(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.lower()))


def test_the_tree_is_joined_without_naming_a_framework() -> None:
    paths = sorted((INGEST / "tree").rglob("*.py"))
    joining = [path for path in paths if path.relative_to(INGEST / "tree").parts[0] not in SHARED_FOLDERS]
    naming = {path: words_of(path.read_text(encoding="utf-8")) & NAMES for path in joining}
    assert {str(path.relative_to(ROOT)): sorted(names) for path, names in naming.items() if names} == {}


def test_the_frameworks_are_named_in_their_folder() -> None:
    named = {
        word for path in (INGEST / "frameworks").rglob("*.py") for word in words_of(path.read_text(encoding="utf-8"))
    }
    assert NAMES - named == frozenset()
