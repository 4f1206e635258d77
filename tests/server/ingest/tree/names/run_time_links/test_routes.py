"""Routes with the prefixes of their routers, and the requests that they answer, in whatever language either is."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

FLASK = {
    "shop/__init__.py": (
        "from flask import Flask\nfrom . import orders, users\n\n\ndef create_app():\n    app = Flask(__name__)\n"
        "    app.register_blueprint(orders.bp)\n    app.register_blueprint(users.bp, url_prefix='/people')\n"
        "    app.add_url_rule('/', view_func=orders.home)\n    return app\n"
    ),
    "shop/orders.py": (
        "bp = Blueprint('orders', __name__, url_prefix='/orders')\n\n\n"
        "@bp.get('/')\ndef listed():\n    pass\n\n\n@bp.post('/')\ndef create():\n    pass\n\n\n"
        "@bp.route('/<int:id>')\ndef shown(id):\n    pass\n\n\n@bp.route('/new')\ndef new():\n    pass\n\n\n"
        "def home():\n    pass\n"
    ),
    "shop/users.py": (
        "bp = Blueprint('users', __name__, url_prefix='/users')\n\n\n@bp.route('/me')\ndef me():\n    pass\n"
    ),
}


def requests(edges_of: EdgesOf, files: Mapping[str, str], body: str, path: str = "tests/test_a.py") -> dict[str, float]:
    """The confidence of each `Requests` edge from a function, by its end."""
    edges = edges_of("Requests", {**files, path: f"def test_a(client):\n    {body}\n"})
    return {end: confidence for (start, end), confidence in edges.items() if start == f"{path}#test_a"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("client.get('/orders')", {"shop/orders.py#listed": 0.9}),
        ("client.post('/orders/')", {"shop/orders.py#create": 0.9}),
        ("client.get('/orders/7')", {"shop/orders.py#shown": 0.9}),
        ("client.get(f'/orders/{id}?full=1')", {"shop/orders.py#shown": 0.9}),
        ("client.get('/orders/new')", {"shop/orders.py#new": 0.9}),
        ("client.get('/people/me')", {"shop/users.py#me": 0.9}),
        ("client.get('/users/me')", {}),
        ("client.get('/')", {"shop/orders.py#home": 0.9}),
        ("url = '/orders/new'", {"shop/orders.py#new": 0.8}),
        ("url = base + '/orders/new'", {"shop/orders.py#new": 0.5}),
        ("client.get(base + '/new')", {"shop/orders.py#new": 0.8}),
        ("client.get('/new')", {"shop/orders.py#new": 0.5}),
        ("name = '/'", {}),
        ("client.get('https://elsewhere.org/orders')", {}),
        ("client.delete('/orders')", {}),
        ("client.get(f'/{a}/{b}')", {}),
    ],
)
def test_the_route_that_answers_a_request(edges_of: EdgesOf, body: str, expected: dict[str, float]) -> None:
    assert requests(edges_of, FLASK, body) == expected


def test_what_registers_a_handler_leads_to_it(edges_of: EdgesOf) -> None:
    routes = edges_of("Routes", FLASK)
    of_code = {ends: value for ends, value in routes.items() if not ends[0].endswith("#bp")}
    assert of_code == {("shop/__init__.py#create_app", "shop/orders.py#home"): 0.9}


def test_a_router_with_a_node_leads_to_its_handlers(edges_of: EdgesOf) -> None:
    routes = edges_of("Routes", FLASK)
    assert {ends: value for ends, value in routes.items() if ends[0].endswith("#bp")} == {
        ("shop/orders.py#bp", "shop/orders.py#create"): 0.9,
        ("shop/orders.py#bp", "shop/orders.py#listed"): 0.9,
        ("shop/orders.py#bp", "shop/orders.py#new"): 0.9,
        ("shop/orders.py#bp", "shop/orders.py#shown"): 0.9,
        ("shop/users.py#bp", "shop/users.py#me"): 0.9,
    }


def test_routers_within_routers(edges_of: EdgesOf) -> None:
    files = {
        "app/main.py": "from app.api import api\n\napp = FastAPI()\napp.include_router(api, prefix='/v1')\n",
        "app/api.py": (
            "from app import items\n\n"
            "api = APIRouter(prefix='/api')\napi.include_router(items.router, prefix='/items')\n"
        ),
        "app/items.py": (
            "router = APIRouter()\n\n\n@router.get('/{id}')\ndef read(id):\n    pass\n\n\n"
            "@router.delete('/{id}')\ndef delete(id):\n    pass\n"
        ),
    }
    assert requests(edges_of, files, "client.get('/v1/api/items/1')") == {"app/items.py#read": 0.9}
    assert requests(edges_of, files, "client.delete('/v1/api/items/1')") == {"app/items.py#delete": 0.9}
    assert requests(edges_of, files, "client.get('/v1/items/1')") == {}


def test_included_patterns_and_classes_that_answer(edges_of: EdgesOf) -> None:
    files = {
        "site/urls.py": "urlpatterns = [path('shop/', include('shop.urls'))]\n",
        "shop/urls.py": (
            "from shop import views\n\nurlpatterns = [\n    path('orders/<int:pk>/', views.OrderView.as_view()),\n"
            "    path('help/', views.help),\n]\n"
        ),
        "shop/views.py": (
            "class OrderView(Base):\n    def post(self, request, pk):\n        return save(pk)\n\n\n"
            "class Base:\n    def get(self, request, pk):\n        return load(pk)\n\n\ndef help(request):\n    pass\n"
        ),
    }
    assert edges_of("Routes", files) == {
        ("shop/urls.py#urlpatterns", "shop/views.py#OrderView"): 0.9,
        ("shop/urls.py#urlpatterns", "shop/views.py#OrderView.post"): 0.9,
        ("shop/urls.py#urlpatterns", "shop/views.py#Base.get"): 0.9,
        ("shop/urls.py#urlpatterns", "shop/views.py#help"): 0.9,
    }
    assert requests(edges_of, files, "client.post('/shop/orders/3/')") == {"shop/views.py#OrderView.post": 0.9}
    assert requests(edges_of, files, "client.get('/shop/orders/3/')") == {"shop/views.py#Base.get": 0.9}
    assert requests(edges_of, files, "client.get('/orders/3/')") == {}


def test_routers_that_are_mounted_on_each_other_end(edges_of: EdgesOf) -> None:
    files = {
        "a.py": (
            "a = APIRouter()\nb = APIRouter()\na.include_router(b, prefix='/b')\nb.include_router(a, prefix='/a')\n"
            "a.include_router(a, prefix='/c')\n\n\n@a.get('/x')\ndef x():\n    pass\n"
        )
    }
    assert requests(edges_of, files, "client.get('/c/x')") == {"a.py#x": 0.9}


APPS = {
    "one/app.py": "app = Flask('one')\n\n\n@app.get('/status')\ndef status():\n    pass\n",
    "two/app.py": "app = Flask('two')\n\n\n@app.get('/status')\ndef status():\n    pass\n",
}


def test_of_several_applications_the_nearest_answers(edges_of: EdgesOf) -> None:
    body = "client.get('/status')"
    assert requests(edges_of, APPS, body, "two/tests/test_a.py") == {"two/app.py#status": 0.9}
    assert requests(edges_of, APPS, body, "tests/test_a.py") == {"one/app.py#status": 0.5, "two/app.py#status": 0.5}


def test_a_pattern_that_fits_everything_is_sure_only_nearby(edges_of: EdgesOf) -> None:
    files = {"web/app.py": "app = Flask('a')\n\n\n@app.get('/<page>')\ndef page(page):\n    pass\n"}
    assert requests(edges_of, files, "client.get('/about')", "web/test_a.py") == {"web/app.py#page": 0.9}
    assert requests(edges_of, files, "client.get('/about')", "tests/test_a.py") == {"web/app.py#page": 0.5}
    rest = {"app.py": "app = FastAPI()\n\n\n@app.get('/{rest:path}')\ndef rest(rest):\n    pass\n"}
    assert requests(edges_of, rest, "client.get('/about')") == {}


TESTS = {
    "tests/test_b.py": (
        "def test_b(app):\n    @app.route('/b')\n    def b():\n        pass\n\n\n"
        "def make():\n    app = Flask('x')\n    @app.route('/c')\n    def c():\n        pass\n\n\n"
        "def test_c(client):\n    client.get('/b')\n    client.get('/c')\n"
    )
}


def test_what_a_test_serves_is_for_that_test_alone(edges_of: EdgesOf) -> None:
    assert edges_of("Requests", TESTS) == {("tests/test_b.py#test_c", "tests/test_b.py#make"): 0.9}
    assert requests(edges_of, TESTS, "client.get('/b')") == {}
    assert requests(edges_of, TESTS, "client.get('/c')") == {}
    assert requests(edges_of, TESTS, "client.get('/c')", "app/main.py") == {}


DJANGO = {
    "shop/urls.py": (
        "from django.urls import path\nfrom shop import views\n\napp_name = 'shop'\nurlpatterns = [\n"
        "    path('', views.listed, name='index'),\n"
        "    path('<int:id>/', views.OrderView.as_view(), name='order'),\n]\n"
    ),
    "shop/views.py": (
        "def listed(request):\n    pass\n\n\nclass OrderView(View):\n    def get(self, request):\n        load()\n"
        "        log()\n"
    ),
    "blog/urls.py": (
        "from django.urls import path\nfrom blog import views\n\nurlpatterns = [path('', views.front, name='index')]\n"
    ),
    "blog/views.py": "def front(request):\n    pass\n",
}


BLUEPRINTS = {
    name: (
        f"bp = Blueprint('{name[0]}', __name__)\n\n\n@bp.route('/{name}', methods=['GET', 'POST'])\ndef index():\n"
        "    pass\n"
    )
    for name in ("one/views.py", "two/views.py")
}
ONE = {"one/views.py": BLUEPRINTS["one/views.py"]}
ANY_METHOD = {**ONE, "three/views.py": "bp = Blueprint('t', __name__)\n\n\n@bp.route('/')\ndef index():\n    pass\n"}


@pytest.mark.parametrize(
    ("files", "path", "body", "expected"),
    [
        (BLUEPRINTS, "one/links.py", "url_for('.index')", {"one/views.py#index": 0.9}),
        (BLUEPRINTS, "links.py", "url_for('..index')", {}),
        (BLUEPRINTS, "links.py", "url_for('o.index')", {}),
        (ANY_METHOD, "links.py", "url_for('one.index')", {"one/views.py#index": 0.9}),
        (ONE, "links.py", "url_for('o.index')", {"one/views.py#index": 0.5}),
    ],
)
def test_a_name_may_leave_out_the_blueprint_or_give_it_another_name_than_its_file(
    edges_of: EdgesOf, files: Mapping[str, str], path: str, body: str, expected: dict[str, float]
) -> None:
    assert requests(edges_of, files, body, path) == expected


@pytest.mark.parametrize(
    ("files", "body", "expected"),
    [
        (FLASK, "url_for('orders.shown', id=7)", {"shop/orders.py#shown": 0.9}),
        (FLASK, "redirect(url_for('users.me'))", {"shop/users.py#me": 0.9}),
        (FLASK, "url_for('static', filename='a.css')", {}),
        (FLASK, "redirect('/people/me')", {"shop/users.py#me": 0.9}),
        (DJANGO, "reverse('shop:order', args=[7])", {"shop/views.py#OrderView": 0.9}),
        (DJANGO, "redirect('shop:index')", {"shop/views.py#listed": 0.9}),
        (DJANGO, "redirect('blog:index')", {"blog/views.py#front": 0.9}),
        (DJANGO, "redirect('index')", {"blog/views.py#front": 0.5, "shop/views.py#listed": 0.5}),
        (DJANGO, "reverse('admin:index', args=[name])", {}),
        (DJANGO, "reverse('other:order')", {"shop/views.py#OrderView": 0.5}),
        (DJANGO, "reverse(name)", {}),
        (DJANGO, "reverse()", {}),
    ],
)
def test_a_request_may_name_a_route(
    edges_of: EdgesOf, files: Mapping[str, str], body: str, expected: dict[str, float]
) -> None:
    assert requests(edges_of, files, body) == expected


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        ("app = Starlette(routes=[Route('/x', endpoint=View, name='orders')])", {"app.py#View": 0.9}),
        ("router.add_api_route('/x', endpoint=View, name='orders')", {"app.py#View": 0.9}),
        ("app.add_url_rule('/x', 'orders', View)", {"app.py#View": 0.9}),
        ("app.add_url_rule('/x', endpoint='orders', view_func=View)", {"app.py#View": 0.9}),
        ("app.add_url_rule('/x', view_func=View.as_view('orders'))", {"app.py#View": 0.9}),
        ("app.add_url_rule('/x', view_func=View)", {}),
    ],
)
def test_the_name_of_a_route_is_where_it_is_registered(
    edges_of: EdgesOf, route: str, expected: dict[str, float]
) -> None:
    files = {"app.py": f"class View:\n    def run(self):\n        pass\n\n\n{route}\n"}
    assert requests(edges_of, files, "url_for('orders')") == expected


def test_a_handler_inside_a_function_is_named_by_its_own_name(edges_of: EdgesOf) -> None:
    files = {"app.py": "def create_app():\n    @app.route('/x')\n    def shown():\n        pass\n\n    return app\n"}
    assert requests(edges_of, files, "url_for('shown')") == {"app.py#create_app": 0.9}
    assert requests(edges_of, files, "url_for('create_app')") == {}


def test_a_handler_of_another_language_is_not_named(edges_of: EdgesOf) -> None:
    java = '@RestController\nclass Shop {\n  @GetMapping("/shop")\n  String index() {\n    return found();\n  }\n}\n'
    assert requests(edges_of, {"shop/Shop.java": java}, "redirect('index')") == {}
    assert requests(edges_of, {"shop/Shop.java": java}, "client.get('/shop')")


def test_a_request_from_another_language(edges_of: EdgesOf) -> None:
    files = {**FLASK, "web/api.ts": "export function load(id: string) {\n  return fetch(`${base}/orders/${id}`);\n}\n"}
    assert edges_of("Requests", files) == {("web/api.ts#load", "shop/orders.py#shown"): 0.9}


def test_routers_within_routers_many_times_over_cost_no_more_than_their_mounts(edges_of: EdgesOf) -> None:
    routers = "".join(f"r{number} = APIRouter()\n" for number in range(12))
    mounts = "".join(
        f"r{number}.include_router(r{number + 1}, prefix='/a')\n" for number in range(11) for _ in range(8)
    )
    text = f"from fastapi import APIRouter\n\n{routers}{mounts}\n\n@r11.get('/x')\ndef shown():\n    pass\n"
    edges = requests(edges_of, {"a.py": text}, f"client.get('{'/a' * 10}/x')")
    assert edges == {"a.py#shown": 0.9}


CONTROLLER = (
    '@RequestMapping("/orders/{id}")\nclass Lines {\n  @GetMapping("/lines")\n  List<Line> lines() {\n'
    "    return found();\n  }\n}\n"
)


@pytest.mark.parametrize(
    ("path", "text", "asks"),
    [
        ("Lines.java", CONTROLLER, False),
        ("Lines.kt", '@RequestMapping("/orders/{id}")\nclass Lines {\n  fun lines() = found()\n}\n', False),
        ("Lines.cs", '[Audited, Route("/orders/{id}")]\nclass Lines {\n  int Count() => 3;\n}\n', False),
        ("lines.php", '<?php\n#[Route("/orders/{id}")]\nclass Lines {\n  function all() {}\n}\n', False),
        ("lines.rs", '#[get("/orders/{id}")]\nasync fn lines() -> Lines {\n    found()\n}\n', False),
        ("api.java", '@FeignClient(path = "/orders/{id}")\ninterface Api {\n  Order order();\n}\n', False),
        ("api.java", '@FeignClient("shop")\ninterface Api {\n  @GetMapping("/orders/{id}")\n  Order one();\n}\n', True),
        ("Api.kt", 'interface Api {\n  @GET("/orders/{id}")\n  suspend fun one(): Order\n}\n', True),
        ("Api.cs", 'interface IApi {\n  [Get("/orders/{id}")]\n  Task<Order> One();\n}\n', True),
        ("test_a.py", '@pytest.mark.parametrize("url", ["/orders/7"])\ndef test_a(url):\n    ask(url)\n', True),
    ],
)
def test_what_an_annotation_declares_is_no_request(edges_of: EdgesOf, path: str, text: str, asks: bool) -> None:
    edges = edges_of("Requests", {**FLASK, f"web/{path}": text})
    assert any(start.startswith(f"web/{path}") for start, _ in edges) == asks
