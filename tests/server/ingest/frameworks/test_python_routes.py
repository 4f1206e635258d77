from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis, CodeFacts
from groundwire_ingest.tree.framework_facts import Mount
from groundwire_ingest.tree.languages.python.patterns import plain_pattern, regular_pattern

Analyser = Callable[[str, str], CodeAnalysis]


def facts_of(analyse: Analyser, text: str) -> CodeFacts:
    facts = analyse("app/urls.py", text).facts
    assert facts is not None
    return facts


def routes_of(analyse: Analyser, text: str) -> list[tuple[str, str, str, str]]:
    return [(item.method, item.pattern, item.handler, item.prefix_of) for item in facts_of(analyse, text).routes]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@app.route('/a/<int:id>')\ndef f(id): ...\n", [("", "/a/{id}", "", "app")]),
        (
            "@bp.route('/a', methods=['GET', 'POST'])\ndef f(): ...\n",
            [("GET", "/a", "", "bp"), ("POST", "/a", "", "bp")],
        ),
        ("@router.post('/a/{x:path}')\nasync def f(x): ...\n", [("POST", "/a/{x*}", "", "router")]),
        ("@router.get('')\nasync def f(x): ...\n", [("GET", "/", "", "router")]),
        ("@get('/a')\ndef f(): ...\n", [("GET", "/a", "", "")]),
        ("@cache.get('key')\ndef f(): ...\n", []),
        ("app.add_url_rule('/a', 'name', view_func=f)\n", [("", "/a", "f", "app")]),
        ("app.add_url_rule('/a', view_func=View.as_view('a'))\n", [("", "/a", "View", "app")]),
        ("app.router.add_post('/a', f)\n", [("POST", "/a", "f", "app")]),
        ("app.add_routes([web.get('/a/{id:\\\\d+}', f)])\n", [("GET", "/a/{id}", "f", "")]),
        ("routes = [Route('/a', endpoint=f, methods=['PUT'])]\n", [("PUT", "/a", "f", "routes")]),
        ("api.add_resource(Orders, '/a', '/b')\n", [("", "/a", "Orders", "api"), ("", "/b", "Orders", "api")]),
        (
            "app = Application([(r'/a/(\\w+)', OrderHandler), ('/etc', Path)])\n",
            [("", "/a/{group}", "OrderHandler", "")],
        ),
        ("urlpatterns = [path('a/<slug:s>/', views.f)]\n", [("", "/a/{s}", "views.f", "urlpatterns")]),
        ("urlpatterns += [path('a', login_required(V.as_view()))]\n", [("", "/a", "V", "urlpatterns")]),
        ("urlpatterns = [re_path(r'^a/(?P<y>[0-9]{4})/$', f)]\n", [("", "/a/{y}", "f", "urlpatterns")]),
        ("os.path.join('a', name)\n", []),
        ("registry.register('a', handler)\n", []),
    ],
)
def test_routes(analyse: Analyser, text: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert routes_of(analyse, text) == expected


def test_a_view_set_answers_for_a_collection_and_its_items(analyse: Analyser) -> None:
    assert routes_of(analyse, "router.register(r'users', UserViewSet, basename='u')\n") == [
        ("", "/users", "UserViewSet", "router"),
        ("GET", "/users", "UserViewSet.list", "router"),
        ("POST", "/users", "UserViewSet.create", "router"),
        ("", "/users/{pk}", "UserViewSet", "router"),
        ("GET", "/users/{pk}", "UserViewSet.retrieve", "router"),
        ("PUT", "/users/{pk}", "UserViewSet.update", "router"),
        ("PATCH", "/users/{pk}", "UserViewSet.partial_update", "router"),
        ("DELETE", "/users/{pk}", "UserViewSet.destroy", "router"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bp = Blueprint('a', __name__, url_prefix='/a')\n", [Mount(0, "bp", "/a", 1, "", "own")]),
        ("bp = Blueprint('a', __name__)\n", []),
        ("app.register_blueprint(views.bp)\n", [Mount(0, "views.bp", "", 1, "app")]),
        ("app.register_blueprint(bp, url_prefix='/b')\n", [Mount(0, "bp", "/b", 1, "app", "instead")]),
        ("app.include_router(r.router, prefix='/b/')\n", [Mount(0, "r.router", "/b", 1, "app")]),
        ("app.include_router(r.router, prefix=settings.V1)\n", [Mount(0, "r.router", "", 1, "app")]),
        ("app.mount('/b', other)\n", [Mount(0, "other", "/b", 1, "app")]),
        ("routes = [Mount('/b', routes=inner)]\n", [Mount(0, "inner", "/b", 1, "routes")]),
        (
            "urlpatterns = [path('b/', include('shop.urls'))]\n",
            [Mount(0, "shop/urls.urlpatterns", "/b", 1, "urlpatterns")],
        ),
        (
            "urlpatterns = [path('b/', include(router.urls))]\n",
            [Mount(0, "router", "/b", 1, "urlpatterns"), Mount(0, "router.urls.urlpatterns", "/b", 1, "urlpatterns")],
        ),
    ],
)
def test_mounts(analyse: Analyser, text: str, expected: list[Mount]) -> None:
    assert list(facts_of(analyse, text).mounts) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("/a/<name>", "/a/{name}"),
        ("/<any(x, y):kind>/b", "/{kind}/b"),
        ("/<path:rest>", "/{rest*}"),
        ("/{id:int}.{ext}", "/{id}.{ext}"),
    ],
)
def test_patterns_with_parameters(written: str, expected: str) -> None:
    assert plain_pattern(written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r"^a/(?P<y>[0-9]{4})/(?P<m>(0|1)\d)/$", "a/{y}/{m}/"),
        (r"^a(?:/page-\d+)?/?$", "a/"),
        (r"^a/(.*)$", "a/{group*}"),
        (r"^a\.json$", "a.json"),
        ("^a/(unclosed", "a/unclosed"),
    ],
)
def test_patterns_that_are_regular_expressions(written: str, expected: str) -> None:
    assert regular_pattern(written).replace("(", "") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("client.get('/a/1?x=2')\n", ("/a/1", "GET", True, False)),
        ("client.post(f'{base}/a/{id}')\n", ("/a/{}", "POST", True, True)),
        ("client.open('/a', method='PUT')\n", ("/a", "PUT", True, False)),
        ("requests.request('DELETE', 'http://localhost:80/a')\n", ("/a", "DELETE", True, False)),
        ("client.get('/a/' + name)\n", ("/a/{}", "GET", True, False)),
        ("url = base + '/a'\n", ("/a", "", False, True)),
        ("url = '/a/%s' % name\n", ("/a/{}", "", False, False)),
        ("client.get('https://elsewhere.org/a')\n", None),
        ("text = 'either/or'\n", None),
        ("@app.get('/a')\ndef f(): ...\n", None),
        ("def f():\n    '/a'\n", None),
    ],
)
def test_requests(analyse: Analyser, text: str, expected: tuple[str, str, bool, bool] | None) -> None:
    requests = [(item.url, item.method, item.is_sent, item.has_base) for item in facts_of(analyse, text).requests]
    assert requests == ([expected] if expected else [])
