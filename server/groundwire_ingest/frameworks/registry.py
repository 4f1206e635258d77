"""The frameworks whose conventions are known. To add one is to add its record here."""

from pathlib import PurePosixPath

from groundwire_ingest.frameworks.angular import ANGULAR
from groundwire_ingest.frameworks.aspnet import ASPNET
from groundwire_ingest.frameworks.celery import CELERY
from groundwire_ingest.frameworks.containers import CONTAINERS
from groundwire_ingest.frameworks.django import DJANGO
from groundwire_ingest.frameworks.entity_framework import ENTITY_FRAMEWORK
from groundwire_ingest.frameworks.express import EXPRESS
from groundwire_ingest.frameworks.flask import FLASK
from groundwire_ingest.frameworks.framework import ComponentForm, Framework
from groundwire_ingest.frameworks.go_commands import GO_COMMANDS
from groundwire_ingest.frameworks.go_routers import GO_ROUTERS
from groundwire_ingest.frameworks.go_sql import GO_SQL
from groundwire_ingest.frameworks.gorm import GORM
from groundwire_ingest.frameworks.jobs import JOBS
from groundwire_ingest.frameworks.jpa import JPA
from groundwire_ingest.frameworks.laravel import LARAVEL
from groundwire_ingest.frameworks.messages import MESSAGES
from groundwire_ingest.frameworks.migrations import MIGRATIONS
from groundwire_ingest.frameworks.mybatis import MYBATIS
from groundwire_ingest.frameworks.nest import NEST
from groundwire_ingest.frameworks.pytest import PYTEST
from groundwire_ingest.frameworks.queues import QUEUES
from groundwire_ingest.frameworks.rails import RAILS
from groundwire_ingest.frameworks.react import REACT
from groundwire_ingest.frameworks.route_names import NAMED_ROUTES, ROUTE_NAMES
from groundwire_ingest.frameworks.spring import SPRING
from groundwire_ingest.frameworks.sql_clients import SQL_CLIENTS
from groundwire_ingest.frameworks.sqlalchemy import SQLALCHEMY
from groundwire_ingest.frameworks.templates import TEMPLATES
from groundwire_ingest.frameworks.testing import DOUBLES, RUNNERS
from groundwire_ingest.frameworks.tornado import TORNADO
from groundwire_ingest.frameworks.typeorm import TYPEORM
from groundwire_ingest.frameworks.vue import VUE

FRAMEWORKS = (
    TEMPLATES,
    MESSAGES,
    JOBS,
    MIGRATIONS,
    ASPNET,
    ENTITY_FRAMEWORK,
    SQL_CLIENTS,
    SPRING,
    JPA,
    GO_ROUTERS,
    GORM,
    GO_SQL,
    GO_COMMANDS,
    FLASK,
    TORNADO,
    SQLALCHEMY,
    DJANGO,
    ROUTE_NAMES,
    NAMED_ROUTES,
    EXPRESS,
    NEST,
    QUEUES,
    ANGULAR,
    REACT,
    TYPEORM,
    VUE,
    LARAVEL,
    RAILS,
    MYBATIS,
    CELERY,
    CONTAINERS,
    PYTEST,
    RUNNERS,
    DOUBLES,
)
"""In the order in which a file's facts are listed."""


TEST_MODULES = frozenset(module for framework in FRAMEWORKS for module in framework.test_modules.split())
"""The modules whose import makes a file a test, in lower case."""
TEST_PACKAGES = tuple(framework.test_packages for framework in FRAMEWORKS if framework.test_packages is not None)
"""Each matches how the names of packages of .NET start that make a project one of tests."""
SERVICE_NAMES = frozenset(framework.service_name for framework in FRAMEWORKS if framework.service_name)
"""The keys of the settings by which services give themselves names."""
PLACEHOLDER_SUFFIXES = tuple(suffix for framework in FRAMEWORKS for suffix in framework.placeholders.split())
"""The suffixes of the files in whose strings `${key}` is a setting."""


def frameworks_of(*languages: str) -> tuple[Framework, ...]:
    """The frameworks that are used in one of these languages."""
    return tuple(item for item in FRAMEWORKS if item.is_used_in(*languages))


def form_of(path: str) -> ComponentForm:
    """How the code in a file of markup is read."""
    return _FORMS[PurePosixPath(path).suffix.lower()]


_FORMS = {
    suffix: framework.components
    for framework in FRAMEWORKS
    if framework.components is not None
    for suffix in framework.components.suffixes.split()
}

COMPONENT_READERS = {
    language: framework.components.read
    for framework in FRAMEWORKS
    if framework.components is not None
    for language in framework.components.languages.split()
}
"""Each reads files of markup with code, by their language."""
