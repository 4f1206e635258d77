"""What frameworks of Python call, keep and hand over."""

from collections.abc import Callable, Mapping

import pytest

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.file_analysis import EntityMapping

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]
Resolved = Callable[..., list[SourceEdge | EntityMapping]]

FIXTURES = {
    "app.py": "class App:\n    def run(self):\n        return start(self)\n",
    "tests/conftest.py": (
        "import pytest\nfrom app import App\n\n\n@pytest.fixture\ndef app():\n    made = App()\n    yield made\n\n\n"
        "@pytest.fixture\ndef client(app):\n    return app\n\n\ndef helper():\n    return 1\n"
    ),
    "tests/deep/test_a.py": (
        "@fixture()\ndef client():\n    return 2\n\n\n"
        "def test_run(app, client, helper, other):\n    app.run()\n\n\ndef not_a_test(app):\n    app.run()\n"
    ),
}


def test_tests_get_the_fixtures_of_the_nearest_file(edges_of: EdgesOf) -> None:
    references = edges_of("References", FIXTURES)
    assert (
        references.items()
        >= {
            ("tests/deep/test_a.py#test_run", "tests/conftest.py#app"): 0.9,
            ("tests/deep/test_a.py#test_run", "tests/deep/test_a.py#client"): 0.9,
            ("tests/conftest.py#client", "tests/conftest.py#app"): 0.9,
        }.items()
    )
    starts = {start for start, _ in references}
    assert "tests/deep/test_a.py#not_a_test" not in starts
    assert ("tests/deep/test_a.py#test_run", "tests/conftest.py#helper") not in references
    assert ("tests/deep/test_a.py#test_run", "tests/conftest.py#client") not in references


def test_a_fixture_is_what_it_yields(edges_of: EdgesOf) -> None:
    calls = edges_of("Calls", FIXTURES)
    assert calls["tests/deep/test_a.py#test_run", "app.py#App.run"] == 0.8
    assert ("tests/deep/test_a.py#not_a_test", "app.py#App.run") not in calls


def test_a_function_that_is_called_later(edges_of: EdgesOf) -> None:
    files = {
        "tasks.py": "@shared_task\ndef add(a, b):\n    return a + b\n",
        "a.py": (
            "import tasks\nfrom outside import mailer\n\n\n"
            "def f():\n    tasks.add.delay(1, 2)\n    mailer.send('x')\n\n\n"
            "def g():\n    tasks.add.other()\n"
        ),
    }
    assert edges_of("Calls", files) == {("a.py#f", "tasks.py#add"): 0.8}


HOOKS = """\
class Hooks:
    def __init__(self):
        self.before = []
        self.named = {}
        self.names = []

    def add(self, f):
        self.before.append(f)
        return f

    def name(self, key, f):
        self.named[key] = f
        return f

    def remember(self, name):
        self.names.append(name)
        return name

    def clear(self):
        self.before.append(self.clear)
        return None

class Server(Hooks):
    def run(self):
        for f in self.before:
            self.wrap(f)()

    def run_one(self, key):
        return self.named[key](self)

    def wrap(self, f):
        for name in self.names:
            print(name)
        return f

class Other:
    def run(self):
        for f in self.before:
            f()
"""


def test_what_keeps_a_callable_leads_to_what_calls_it(edges_of: EdgesOf) -> None:
    assert edges_of("RunBy", {"a.py": HOOKS}) == {
        ("a.py#Hooks.add", "a.py#Server.run"): 0.8,
        ("a.py#Hooks.name", "a.py#Server.run_one"): 0.8,
    }


def test_a_receiver_of_unknown_type_is_told_by_the_name_of_the_field(edges_of: EdgesOf) -> None:
    files = {
        "a.py": HOOKS.partition("class Other")[0],
        "b.py": "def add(f):\n    later(lambda s: s.before.append(f))\n",
    }
    assert edges_of("RunBy", files)["b.py#add", "a.py#Server.run"] == 0.6


SIGNALS = {
    "events.py": "paid = Signal()\n",
    "send.py": "from events import paid\n\n\ndef pay(client):\n    paid.send(sender=pay)\n    client.send(1)\n",
    "listen.py": (
        "import events\nfrom outside import post_save, receiver\nfrom models import Order\n\n\n"
        "@receiver(events.paid)\ndef first(sender, **rest):\n    pass\n\n\n"
        "@events.paid.connect\ndef second(sender):\n    pass\n\n\n"
        "def third(sender):\n    pass\n\n\nevents.paid.connect(third)\n\n\n"
        "@receiver([post_save], sender=Order)\ndef saved(sender, instance):\n    pass\n\n\n"
        "@other(events.paid)\ndef fourth(sender):\n    pass\n"
    ),
    "models.py": "class Order:\n    total = 0\n",
    "tests/test_pay.py": "from events import paid\n\n\n@paid.connect\ndef heard(sender):\n    pass\n",
}


def test_signals_lead_to_those_who_listen(edges_of: EdgesOf) -> None:
    assert edges_of("Sends", SIGNALS) == {
        ("send.py#pay", "listen.py#first"): 0.9,
        ("send.py#pay", "listen.py#second"): 0.9,
        ("send.py#pay", "listen.py#third"): 0.9,
    }
    assert edges_of("HandledBy", SIGNALS) == {("models.py#Order", "listen.py#saved"): 0.8}


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("ForeignKey('User')", True),
        ("relationship('User', back_populates='orders')", True),
        ("CharField('User')", False),
    ],
)
def test_models_that_are_named_by_strings(edges_of: EdgesOf, field: str, expected: bool) -> None:
    text = f"class Order(Model):\n    user = models.{field}\n\n\nclass User(Model):\n    name = 1\n"
    assert (("a.py#Order", "a.py#User") in edges_of("References", {"a.py": text})) is expected


def test_a_list_of_patterns_imports_what_it_includes(edges_of: EdgesOf) -> None:
    files = {
        "site/urls.py": "urlpatterns = [path('shop/', include(('shop.urls', 'shop')))]\n",
        "shop/urls.py": "urlpatterns = []\n",
    }
    assert edges_of("Imports", files) == {("site/urls.py", "shop/urls.py"): 1.0}


NAMED = {
    "shop/__init__.py": "from shop.web import serve\n",
    "shop/web.py": (
        "class Gate:\n    def enter(self):\n        ask()\n\n\ndef serve():\n    ask()\n\n\nserver = Gate()\n"
    ),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MIDDLEWARE = ['shop.web.Gate']\n", {"shop/web.py#Gate": 0.9}),
        ("LOGGING = {'filters': {'a': {'()': 'shop.web.Gate.enter'}}}\n", {"shop/web.py#Gate.enter": 0.9}),
        ("ROOT_URLCONF = 'shop.web'\n", {"shop/web.py": 0.9}),
        ("run('shop.web:server')\n", {"shop/web.py#server": 0.9}),
        ("patch('shop.serve')\n", {"shop/web.py#serve": 0.9}),
        ("NAME = 'web.Gate'\n", {}),
        ("NAME = 'shop.web.Missing'\n", {}),
        ("NAME = 'shop.web.Gate.missing'\n", {}),
        ("NAME = 'shop:web'\n", {}),
        ("NAME = 'see shop.web.Gate'\n", {}),
        ("NAME = f'shop.{x}.Gate'\n", {}),
        ("NAME = 'shop'\n", {}),
        ("'''shop.web.Gate'''\nrun()\n", {}),
    ],
)
def test_strings_that_name_what_is_in_a_module(edges_of: EdgesOf, text: str, expected: dict[str, float]) -> None:
    references = edges_of("References", {**NAMED, "config/site.py": text})
    assert {
        end: confidence for (start, end), confidence in references.items() if start.startswith("config/site.py")
    } == expected


SETTINGS = {
    "site/settings/base.py": (
        "import os\n\nDEBUG = False\nSECRET_KEY = os.environ['KEY']\n# How many there are on a page.\nPAGE_SIZE = 20\n"
        "parts = load()\n\nif DEBUG:\n    CACHED = ['a']\n"
    ),
    "site/settings/dev.py": "from .base import *\nfrom .extra import *\n\nDEBUG = True\n",
    "site/settings/extra.py": "LIMIT = 7\n",
    "site/other.py": "PAGE_SIZE = 30\nLIMIT = 8\n",
    "tests/settings.py": "from site.settings.base import *\n\nPAGE_SIZE = 2\n",
}
IN_BASE = "site/settings/base.py#"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "from django.conf import settings\nrun(settings.PAGE_SIZE)\n", {IN_BASE + "PAGE_SIZE": 0.9}),
        ("a.py", "from django.conf import settings as s\nrun(s.CACHED[0].upper())\n", {IN_BASE + "CACHED": 0.9}),
        (
            "a.py",
            "from django.conf import settings\nrun(getattr(settings, 'LIMIT', 1))\n",
            {"site/settings/extra.py#LIMIT": 0.9},
        ),
        (
            "a.py",
            "from django.conf import settings\nrun(settings.DEBUG)\n",
            {IN_BASE + "DEBUG": 0.5, "site/settings/dev.py#DEBUG": 0.5},
        ),
        (
            "tests/test_a.py",
            "from django.conf import settings\nrun(settings.PAGE_SIZE)\n",
            {"tests/settings.py#PAGE_SIZE": 0.9},
        ),
        ("a.py", "from django.conf import settings\nrun(settings.MISSING)\n", {}),
        ("a.py", "from elsewhere import settings\nrun(settings.PAGE_SIZE)\n", {}),
    ],
)
def test_settings_lead_to_where_they_are_set(
    edges_of: EdgesOf, path: str, text: str, expected: dict[str, float]
) -> None:
    settings = edges_of("ReadsSetting", {**SETTINGS, path: text})
    assert {end: confidence for (start, end), confidence in settings.items() if start == path} == expected


def test_a_setting_that_many_files_set_leads_to_none_of_them(edges_of: EdgesOf) -> None:
    files = {f"site/settings/s{number}.py": "DEBUG = True\nSECRET_KEY = 'x'\n" for number in range(5)}
    read = {"a.py": "from django.conf import settings\nrun(settings.DEBUG)\n"}
    assert edges_of("ReadsSetting", {**files, **read}) == {}
