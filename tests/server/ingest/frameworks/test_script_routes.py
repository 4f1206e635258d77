"""Routes of servers in TypeScript and JavaScript, and requests for them."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

HANDLERS = "export function list(req, res) {\n  res.json();\n}\nexport function one(req, res) {\n  res.json();\n}\n"


def answering(edges_of: EdgesOf, files: Mapping[str, str], url: str, verb: str = "get") -> dict[str, float]:
    """What answers a request from a test, by its node."""
    lines = f"  const a = 1;\n  const b = 2;\n\n  await server.{verb}('{url}');\n  check();\n"
    test = f"it('asks', async () => {{\n{lines}}});\n"
    edges = edges_of("Requests", {**files, "a.test.ts": test})
    return {end: confidence for (start, end), confidence in edges.items() if start.startswith("a.test.ts")}


def test_routers_and_their_mounts(edges_of: EdgesOf) -> None:
    files = {
        "handlers.js": HANDLERS,
        "users.js": (
            "const express = require('express');\nconst { list, one } = require('./handlers');\n"
            "const router = express.Router();\nrouter.get('/', guard, list);\n"
            "router.route('/:id').get(asyncHandler(one)).put(one.bind(null));\nmodule.exports = router;\n"
        ),
        "app.js": (
            "const express = require('express');\nconst users = require('./users');\nconst app = express();\n"
            "app.use('/api/users', users);\napp.use('/inline', require('./inline'));\n"
        ),
        "inline.js": (
            "const router = require('express').Router();\nrouter.get('/x', list);\n"
            "function list(req, res) {\n  res.json();\n}\n"
            "module.exports = router;\n"
        ),
    }
    assert edges_of("Routes", files) == {
        ("users.js", "handlers.js#list"): 0.9,
        ("users.js", "handlers.js#one"): 0.9,
        ("users.js#router", "handlers.js#list"): 0.9,
        ("users.js#router", "handlers.js#one"): 0.9,
        ("inline.js", "inline.js#list"): 0.9,
        ("inline.js#router", "inline.js#list"): 0.9,
    }
    assert answering(edges_of, files, "/api/users") == {"handlers.js#list": 0.9}
    assert answering(edges_of, files, "/api/users/7") == {"handlers.js#one": 0.9}
    assert answering(edges_of, files, "/inline/x") == {"inline.js#list": 0.9}
    assert answering(edges_of, files, "/users/7/more") == {}


@pytest.mark.parametrize("verb", ["get", "post"])
def test_a_handler_written_out_is_found_by_its_url_and_method(edges_of: EdgesOf, verb: str) -> None:
    body = "".join(f"  step{number}();\n" for number in range(5))
    files = {
        "stars.ts": f"const router = new Router();\nrouter.post('stars.create', auth(), async (ctx) => {{\n{body}}});\n"
        "export default router;\n",
        "api.ts": "import stars from './stars';\nconst api = new Koa();\napi.use('/', stars.routes());\n",
    }
    expected = {"stars.ts#POST stars.create": 0.8} if verb == "post" else {}
    assert answering(edges_of, files, "/api/stars.create", verb) == expected


def test_controllers(edges_of: EdgesOf) -> None:
    files = {
        "users.ts": (
            "@Controller('users')\nexport class UsersController {\n"
            "  @Get(':id')\n  @HttpCode(200)\n  find(@Param('id') id: string) {\n    return this.users.find(id);\n  }\n"
            "  @Post()\n  create() {\n    return this.users.create();\n  }\n"
            "  @Delete(paths.one)\n  remove() {\n    return this.users.remove();\n  }\n"
            "  helper() {\n    return this.users.help();\n  }\n}\n"
            "@Controller({ path: 'teams', version: '1' })\nclass Teams {\n  @Get()\n  all() {\n"
            "    return go();\n  }\n}\n"
        )
    }
    assert answering(edges_of, files, "/users/7") == {"users.ts#UsersController.find": 0.9}
    assert answering(edges_of, files, "/users", "post") == {"users.ts#UsersController.create": 0.9}
    assert answering(edges_of, files, "/api/v1/teams") == {"users.ts#Teams.all": 0.8}
    assert answering(edges_of, files, "/users", "delete") == {}


def test_clients_are_no_routers(edges_of: EdgesOf) -> None:
    files = {
        "client.ts": (
            "export function load(config) {\n  return axios.get('/users', config);\n}\n"
            "export function save(done) {\n  return $.post('/users', function () {\n    done();\n  });\n}\n"
        ),
        "mocks.ts": (
            "import { http } from 'msw';\nexport const handlers = [\n"
            "  http.get(`${env.API}/comments`, async () => {\n    return answer();\n  }),\n];\n"
        ),
    }
    assert edges_of("Routes", files) == {}
    assert answering(edges_of, files, "/comments") == {"mocks.ts#handlers": 0.9}
    assert answering(edges_of, files, "/app/comments") == {}


@pytest.mark.parametrize(
    ("path", "text", "url", "verb", "symbol"),
    [
        ("src/app/(shop)/users/[id]/route.ts", "export async function GET() {\n  go();\n}\n", "/users/7", "get", "GET"),
        ("app/users/route.ts", "export const POST = async () => {\n  go();\n};\n", "/users", "post", "POST"),
        ("app/users/route.ts", "export const POST = async () => {\n  go();\n};\n", "/users", "get", None),
        ("app/users/page.tsx", "export default function Users() {\n  return <b />;\n}\n", "/users", "goto", "Users"),
        (
            "pages/api/users/[...all].js",
            "export default function all() {\n  go();\n}\n",
            "/api/users/a/b",
            "get",
            "all",
        ),
        ("src/routes/users/+server.ts", "export function GET() {\n  go();\n}\n", "/users", "get", "GET"),
        ("src/pages/users.tsx", "export default function Users() {\n  return <b />;\n}\n", "/users", "goto", None),
        ("lib/route.ts", "export function GET() {\n  go();\n}\n", "/lib", "get", None),
    ],
)
def test_routes_by_the_names_of_files(
    edges_of: EdgesOf, path: str, text: str, url: str, verb: str, symbol: str | None
) -> None:
    assert answering(edges_of, {path: text}, url, verb) == ({f"{path}#{symbol}": 0.9} if symbol else {})


def test_routers_in_browsers(edges_of: EdgesOf) -> None:
    files = {
        "pages.tsx": "export function Home() {\n  return <b />;\n}\nexport function Team() {\n  return <b />;\n}\n",
        "late.tsx": "export default function Late() {\n  return <b />;\n}\n",
        "router.tsx": (
            "import { Home, Team } from './pages';\n"
            "export const routes = [\n  { path: '/home', component: Home },\n"
            "  { path: '/teams', children: [{ path: ':id', element: <Team /> }] },\n"
            "  { path: '/late', lazy: () => import('./late').then(convert) },\n"
            "  { path: './file', name: 'no route' },\n];\n"
            "export const tree = () => (\n  <Switch>\n    <Route path='/old' component={Home} />\n  </Switch>\n);\n"
        ),
    }
    assert edges_of("Routes", files) == {
        ("router.tsx#routes", "pages.tsx#Home"): 0.9,
        ("router.tsx#routes", "pages.tsx#Team"): 0.9,
        ("router.tsx#routes", "late.tsx#Late"): 0.9,
        ("router.tsx#tree", "pages.tsx#Home"): 0.9,
    }
    assert answering(edges_of, files, "/teams/7", "goto") == {"pages.tsx#Team": 0.9}
