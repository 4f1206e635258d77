"""Registrations and messages of TypeScript, and the tables of its models."""

from collections.abc import Callable, Mapping

import pytest

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.file_analysis import EntityMapping

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]
Resolver = Callable[[Mapping[str, str]], list[SourceEdge | EntityMapping]]

PORT = (
    "export const USERS = Symbol('users');\n"
    "export interface Users {\n  find(): void;\n}\n"
    "export class StoredUsers implements Users {\n  find() {\n    load();\n  }\n}\n"
    "export class FakeUsers implements Users {\n  find() {\n    fake();\n  }\n}\n"
)


@pytest.mark.parametrize(
    "registration",
    [
        "const providers = [{ provide: USERS, useClass: StoredUsers }];",
        "container.register(USERS, { useClass: StoredUsers });",
        "container.registerSingleton(USERS, StoredUsers);",
        "container.bind<Users>(USERS).to(StoredUsers);",
        "container.register('Users', { useClass: StoredUsers });",
        "const p = [{ provide: USERS, useFactory: () => new StoredUsers() }];",
    ],
)
def test_registrations(edges_of: EdgesOf, registration: str) -> None:
    asks = "'Users'" if "'Users'" in registration else "USERS"
    files = {
        "users.ts": PORT,
        "module.ts": f"import {{ USERS, StoredUsers, Users }} from './users';\n{registration}\n",
        "app.ts": (
            "import { USERS, Users } from './users';\n"
            f"export class App {{\n  constructor(@Inject({asks}) private users: Users) {{}}\n"
            "  run() {\n    this.users.find();\n  }\n}\n"
        ),
    }
    assert edges_of("Registers", files) == {("module.ts", "users.ts#StoredUsers"): 0.9}
    assert edges_of("Injects", files)["app.ts#App", "users.ts#StoredUsers"] == 0.9
    calls = edges_of("Calls", files)
    assert calls["app.ts#App.run", "users.ts#StoredUsers.find"] == 0.9
    assert calls["app.ts#App.run", "users.ts#FakeUsers.find"] == 0.5


def test_an_object_without_a_token_registers_nothing(edges_of: EdgesOf) -> None:
    files = {
        "users.ts": PORT,
        "a.ts": "import { StoredUsers } from './users';\nrun({ provide: 1, useClass: StoredUsers });\n",
    }
    assert edges_of("Registers", files) == {}


def test_keys_of_decorators_and_names_of_strategies(edges_of: EdgesOf) -> None:
    files = {
        "roles.ts": "export const Roles = (...roles: string[]) => SetMetadata('roles', roles);\n",
        "jwt.ts": "export class Jwt extends PassportStrategy(Strategy, 'jwt-refresh') {\n"
        "  validate() {\n    go();\n  }\n}\n",
        "guard.ts": (
            "export class RolesGuard {\n  canActivate(context) {\n"
            "    return this.reflector.get('roles', context);\n  }\n}\n"
            "export class Refresh extends AuthGuard('jwt-refresh') {}\n"
            "export class Other extends AuthGuard('jwt') {}\n"
        ),
    }
    assert edges_of("Injects", files) == {
        ("guard.ts#RolesGuard.canActivate", "roles.ts#Roles"): 0.9,
        ("guard.ts#Refresh", "jwt.ts#Jwt"): 0.9,
    }


def test_messages_by_type(edges_of: EdgesOf) -> None:
    files = {
        "create.ts": (
            "export class CreateUser {\n  constructor(readonly name: string) {}\n}\n"
            "@CommandHandler(CreateUser)\nexport class CreateUserHandler {\n"
            "  async execute(command: CreateUser) {\n    store(command);\n  }\n}\n"
        ),
        "created.ts": "export class UserCreated {\n  id: string;\n}\n",
        "mail.ts": (
            "import { UserCreated } from './created';\nexport class Mail {\n"
            "  @OnEvent(UserCreated.name, { async: true })\n  handle(event: UserCreated) {\n    send(event);\n  }\n}\n"
        ),
        "app.ts": (
            "import { CreateUser } from './create';\nimport { UserCreated } from './created';\n"
            "export class App {\n  create() {\n    return this.bus.execute(new CreateUser('a'));\n  }\n"
            "  done() {\n    this.addEvent(new UserCreated());\n  }\n}\n"
        ),
    }
    assert edges_of("Sends", files) == {
        ("app.ts#App.create", "create.ts#CreateUserHandler.execute"): 0.9,
        ("app.ts#App.done", "mail.ts#Mail.handle"): 0.9,
    }
    assert edges_of("HandledBy", files) == {
        ("create.ts#CreateUser", "create.ts#CreateUserHandler.execute"): 1.0,
        ("created.ts#UserCreated", "mail.ts#Mail.handle"): 1.0,
    }


def test_messages_by_name(edges_of: EdgesOf) -> None:
    files = {
        "names.ts": "export const Events = {\n  Paid: 'order.paid',\n};\n",
        "handlers.ts": (
            "import { Events } from './names';\n"
            "export class Handlers {\n  @OnEvent('user.created')\n  created() {\n    one();\n  }\n"
            "  @MessagePattern(Events.Paid)\n  paid() {\n    two();\n  }\n"
            "  listen() {\n    this.bus.on('team:left', this.left);\n    this.bus.on('error', this.left);\n  }\n"
            "  left() {\n    three();\n  }\n"
            "  watch(id: string) {\n    return this.pubsub.asyncIterator(`team/${id}/updated`);\n  }\n}\n"
        ),
        "senders.ts": (
            "import { Events } from './names';\n"
            "export class Senders {\n  created() {\n    this.events.emit('user.created', 1);\n  }\n"
            "  paid() {\n    this.client.send(Events.Paid, 1);\n  }\n"
            "  left() {\n    this.bus.emit('team:left');\n  }\n"
            "  failed() {\n    this.bus.emit('error', 1);\n  }\n"
            "  updated(team: Team) {\n    this.pubsub.publish(`team/${team.id}/updated`, team);\n  }\n"
            "  unheard() {\n    this.bus.emit('nobody.listens');\n  }\n}\n"
        ),
    }
    assert edges_of("Sends", files) == {
        ("senders.ts#Senders.created", "handlers.ts#Handlers.created"): 0.8,
        ("senders.ts#Senders.paid", "handlers.ts#Handlers.paid"): 0.8,
        ("senders.ts#Senders.left", "handlers.ts#Handlers.left"): 0.8,
        ("senders.ts#Senders.updated", "handlers.ts#Handlers.watch"): 0.8,
    }


@pytest.mark.parametrize(
    ("source", "key", "table", "confidence"),
    [
        ("@Entity('users')\nexport class User {\n  id: number;\n}\n", "#User", "users", 1.0),
        ("@Entity({ name: 'users' })\nexport class User {\n  id: number;\n}\n", "#User", "users", 1.0),
        ("@Entity()\nexport class UserRole {\n  id: number;\n}\n", "#UserRole", "user_role", 0.8),
        ("@Table({ tableName: 'users' })\nclass User {\n  id: number;\n}\n", "#User", "users", 1.0),
        ("export const users = pgTable('users', {\n  id: 1,\n  name: 2,\n});\n", "#users", "users", 1.0),
        ("class User {\n  static tableName = 'users';\n}\n", "#User", "users", 1.0),
        ("class User {\n  static get tableName() {\n    return 'users';\n  }\n}\n", "#User", "users", 1.0),
        ("class User {\n  a = 1;\n}\nUser.init({}, { tableName: 'users' });\n", "#User", "users", 1.0),
        ("const c = sequelize.define('user', {}, { tableName: 'users' });\n", "", "users", 1.0),
    ],
)
def test_tables(resolved: Resolver, source: str, key: str, table: str, confidence: float) -> None:
    mappings = [item for item in resolved({"a.ts": source}) if isinstance(item, EntityMapping)]
    assert EntityMapping(f"ts::a.ts{key}", table, confidence) in mappings


def test_what_only_looks_like_a_table_maps_to_none(resolved: Resolver) -> None:
    source = "console.table('users');\nclass A {\n  name = 'users';\n}\nmodule.define('x', { name: 'y' });\n"
    assert [item for item in resolved({"a.ts": source}) if isinstance(item, EntityMapping)] == []
