"""Calls and references of TypeScript and JavaScript that follow from what values are."""

from collections.abc import Callable, Mapping

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

SERVICE = (
    "export interface Users {\n  find(id: string): Promise<User>;\n}\n"
    "export class User {\n  get name() {\n    return this.first + this.last;\n  }\n"
    "  rename(to: string) {\n    go(to);\n  }\n}\n"
    "export class StoredUsers implements Users {\n"
    "  async find(id: string): Promise<User> {\n    return load(id);\n  }\n"
    "  async all(): Promise<User[]> {\n    return load();\n  }\n}\n"
)


def test_calls_go_through_interfaces_results_and_items(edges_of: EdgesOf) -> None:
    app = (
        "import { Users, StoredUsers } from './users';\n"
        "export class App {\n"
        "  constructor(private readonly users: Users, private stored: StoredUsers) {}\n"
        "  async run() {\n    const user = await this.users.find('1');\n    user.rename('a');\n  }\n"
        "  async each() {\n    const all = await this.stored.all();\n    all.forEach((one) => one.rename('b'));\n  }\n"
        "  async first() {\n    for (const one of await this.stored.all()) one.rename('c');\n  }\n"
        "}\n"
    )
    calls = edges_of("Calls", {"users.ts": SERVICE, "app.ts": app})
    assert calls == {
        ("app.ts#App.run", "users.ts#Users.find"): 0.9,
        ("app.ts#App.run", "users.ts#StoredUsers.find"): 0.8,
        ("app.ts#App.run", "users.ts#User.rename"): 0.8,
        ("app.ts#App.each", "users.ts#StoredUsers.all"): 0.9,
        ("app.ts#App.each", "users.ts#User.rename"): 0.8,
        ("app.ts#App.first", "users.ts#StoredUsers.all"): 0.9,
        ("app.ts#App.first", "users.ts#User.rename"): 0.8,
    }


def test_members_of_what_a_function_returns(edges_of: EdgesOf) -> None:
    files = {
        "team.ts": (
            "export function useTeam() {\n  const load = () => {\n    fetchTeam();\n  };\n  const save = keep;\n"
            "  return { load, save };\n}\nexport function keep() {\n  store();\n}\n"
        ),
        "stores.ts": (
            "import { Documents } from './documents';\n"
            "export class Root {\n  documents: Documents;\n}\n"
            "export default function useStores(): Root {\n  return root;\n}\n"
        ),
        "documents.ts": "export class Documents {\n  fetchAll() {\n    go();\n  }\n}\n",
        "page.tsx": (
            "import { useTeam } from './team';\nimport useStores from './stores';\n"
            "export function Page() {\n  const { load, save: done } = useTeam();\n"
            "  const { documents } = useStores();\n"
            "  load();\n  done();\n  documents.fetchAll();\n  return <List fetch={documents.fetchAll} />;\n}\n"
        ),
    }
    calls = edges_of("Calls", files)
    assert ("page.tsx#Page", "team.ts#useTeam") in calls
    assert calls["page.tsx#Page", "team.ts#keep"] == 0.8
    assert calls["page.tsx#Page", "documents.ts#Documents.fetchAll"] == 0.8
    assert edges_of("References", files)["page.tsx#Page", "documents.ts#Documents.fetchAll"] == 0.8


def test_a_local_variable_hides_what_is_imported(edges_of: EdgesOf) -> None:
    files = {
        "lib.ts": "export function load() {\n  go();\n}\nexport function save() {\n  go();\n}\n",
        "app.ts": (
            "import { load, save } from './lib';\n"
            "export function one(load) {\n  load();\n  save();\n}\n"
            "export function two() {\n  const save = () => 1;\n  save();\n  load();\n}\n"
        ),
    }
    assert edges_of("Calls", files) == {("app.ts#one", "lib.ts#save"): 1.0, ("app.ts#two", "lib.ts#load"): 1.0}


def test_what_is_passed_listed_and_read(edges_of: EdgesOf) -> None:
    files = {
        "lib.ts": (
            "export class Guard {\n  canActivate() {\n    return check();\n  }\n}\n"
            "export const TOKEN = Symbol('token');\nexport function handler() {\n  go();\n}\n"
            "export function Roles(...roles: string[]) {\n  return keep(roles);\n}\n"
        ),
        "app.ts": (
            "import { Guard, TOKEN, handler, Roles } from './lib';\n"
            "export class App {\n"
            "  @Roles('admin')\n  @UseGuards(Guard)\n  list() {\n    register(handler);\n    return [TOKEN];\n  }\n}\n"
            "export const lazy = {\n  page: () => import('./page'),\n};\n"
        ),
        "page.tsx": "export default function Page() {\n  return <b />;\n}\n",
    }
    assert edges_of("References", files) == {
        ("app.ts#App.list", "lib.ts#Guard"): 1.0,
        ("app.ts#App.list", "lib.ts#Guard.canActivate"): 1.0,
        ("app.ts#App.list", "lib.ts#handler"): 1.0,
        ("app.ts#App.list", "lib.ts#TOKEN"): 1.0,
        ("app.ts#lazy.page", "page.tsx#Page"): 1.0,
    }
    assert edges_of("DecoratedBy", files) == {("app.ts#App.list", "lib.ts#Roles"): 1.0}


def test_exports_through_wrappers_and_values(edges_of: EdgesOf) -> None:
    files = {
        "client.ts": "class Client {\n  post(path: string) {\n    return send(path);\n  }\n}\n"
        "export const client = new Client();\n",
        "star.tsx": "function Star() {\n  return <b />;\n}\nexport default observer(Star);\n",
        "app.tsx": (
            "import { client } from './client';\nimport Star from './star';\n"
            "export function App() {\n  client.post('/x');\n  return <Star />;\n}\n"
        ),
    }
    calls = edges_of("Calls", files)
    assert calls["app.tsx#App", "client.ts#Client.post"] == 0.8
    assert ("app.tsx#App", "star.tsx#Star") in calls


def test_generic_bases_say_what_inherited_fields_are(edges_of: EdgesOf) -> None:
    files = {
        "base.ts": "export class Base<T, M> {\n  mapper: M;\n  protected item: T;\n"
        "  save(item: T) {\n    go();\n  }\n}\n",
        "users.ts": (
            "import { Base } from './base';\n"
            "class User {\n  rename() {\n    go();\n  }\n}\nclass Mapper {\n  map() {\n    go();\n  }\n}\n"
            "export class Users extends Base<User, Mapper> {\n"
            "  run() {\n    this.mapper.map();\n    this.item.rename();\n    this.save(1);\n  }\n}\n"
        ),
    }
    assert edges_of("Calls", files) == {
        ("users.ts#Users.run", "users.ts#Mapper.map"): 0.8,
        ("users.ts#Users.run", "users.ts#User.rename"): 0.8,
        ("users.ts#Users.run", "base.ts#Base.save"): 0.9,
    }
