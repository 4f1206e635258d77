"""Routers that are mounted elsewhere: their prefixes, and what their patterns match while these are not known."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[..., dict[tuple[str, str], float]]

CHI = (
    "package users\n\nfunc Show(w W, r *R) {}\n\n"
    'func Routes() chi.Router {\n\tr := chi.NewRouter()\n\tr.Get("/{id}", Show)\n\treturn r\n}\n'
)
ASK = 'package client\n\nfunc ask() {\n\thttp.Get("http://shop:80/users/7")\n\tlog("/seven")\n\thttp.Get("http://shop:80/seven")\n}\n'
EXPRESS = "const router = express.Router()\nrouter.get('/:id', show)\nfunction show(req) {\n  return req\n}\n"
SCRIPT_ASK = "function ask() {\n  fetch('/users/7')\n  log('/seven')\n  fetch('/seven')\n}\n"
CSHARP = (
    "namespace Shop;\nstatic class UserRoutes\n{\n"
    "    public static RouteGroupBuilder MapUsers(this RouteGroupBuilder group)\n    {\n"
    '        group.MapGet("/{id}", Show);\n        return group;\n    }\n'
    "    static X Show(int id)\n    {\n        return Find(id);\n    }\n}\n"
)
CSHARP_ASK = (
    'class Client\n{\n    X One() => http.GetAsync("/users/7");\n    X Two() => Log("/seven");\n'
    '    X Three() => http.GetAsync("/seven");\n}\n'
)


def handlers_asked(edges_of: EdgesOf, files: Mapping[str, str]) -> set[str]:
    """The handlers that requests lead to."""
    return {end.partition("#")[2] for _, end in edges_of("Requests", files, {"": "example.com/shop"})}


@pytest.mark.parametrize(
    ("files", "mount", "handler"),
    [
        (
            {"users/users.go": CHI, "client/client.go": ASK},
            {
                "main.go": 'package main\n\nimport "example.com/shop/users"\n\nfunc main() {\n'
                '\tr := chi.NewRouter()\n\tr.Mount("/users", users.Routes())\n}\n'
            },
            "Show",
        ),
        (
            {"users.js": EXPRESS + "module.exports = router\n", "ask.js": SCRIPT_ASK},
            {"main.js": "const users = require('./users')\nconst app = express()\napp.use('/users', users)\n"},
            "show",
        ),
        (
            {"UserRoutes.cs": CSHARP, "Client.cs": CSHARP_ASK},
            {"Program.cs": 'using Shop;\napp.MapGroup("/users").WithTags("users").MapUsers();\n'},
            "Shop.UserRoutes.Show",
        ),
        (
            {"UserRoutes.cs": CSHARP, "Client.cs": CSHARP_ASK},
            {"Program.cs": 'using Shop;\nvar group = app.MapGroup("/users");\nUserRoutes.MapUsers(group);\n'},
            "Shop.UserRoutes.Show",
        ),
    ],
    ids=["chi", "express", "extension method", "static method"],
)
def test_a_pattern_of_holes_counts_below_a_known_prefix_only(
    edges_of: EdgesOf, files: Mapping[str, str], mount: Mapping[str, str], handler: str
) -> None:
    assert handlers_asked(edges_of, files) == set()
    assert handlers_asked(edges_of, {**files, **mount}) == {handler}


def test_a_string_that_nothing_sends_matches_no_pattern_of_holes(edges_of: EdgesOf) -> None:
    app = "app = Flask('a')\n\n\n@app.get('/<page>')\ndef page(page):\n    pass\n"
    assert handlers_asked(edges_of, {"web/app.py": app, "web/a.py": "def a():\n    log('/about')\n"}) == set()
    assert handlers_asked(edges_of, {"web/app.py": app, "web/a.py": "def a():\n    client.get('/about')\n"}) == {"page"}


COMPONENT = "export class Shown {\n  show() {\n    return 1;\n  }\n  other() {\n    return 2;\n  }\n}\n"
ANGULAR = {
    "shown.ts": COMPONENT,
    "users/users.routes.ts": (
        "import { Shown } from '../shown';\nexport const ROUTES: Routes = [\n"
        "  { path: ':id', component: Shown },\n  { path: 'new/form', component: Shown },\n];\n"
    ),
    "ask.ts": "function ask(router) {\n  router.navigate('/seven');\n  log('/eight');\n}\n",
}


@pytest.mark.parametrize(
    "root",
    [
        "const routes: Routes = [\n"
        "  { path: 'users', loadChildren: () => import('./users/users.routes').then((m) => m.ROUTES) },\n];\n",
        "const routes: Routes = [\n"
        "  { path: 'users', loadChildren: () => import('./users/users.module').then((m) => m.UsersModule) },\n];\n",
    ],
)
def test_routes_that_angular_loads_have_the_path_that_loads_them(edges_of: EdgesOf, root: str) -> None:
    module = (
        "import { ROUTES } from './users.routes';\n"
        "@NgModule({ imports: [CommonModule, RouterModule.forChild(ROUTES)] })\n"
        "export class UsersModule {\n  a = 1;\n}\n"
    )
    ask = "function ask(router) {\n  router.navigate('/users/new/form');\n  router.navigate('/users/7');\n}\n"
    files = {**ANGULAR, "users/users.module.ts": module, "app.routes.ts": root}
    assert handlers_asked(edges_of, files) == set()
    assert handlers_asked(edges_of, {**files, "ask.ts": ask}) == {"Shown"}
