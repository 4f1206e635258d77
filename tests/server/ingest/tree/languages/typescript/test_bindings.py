"""What variables of TypeScript and JavaScript are bound to, and what the code names."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import RETURNED, Binding, CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]


def bindings_in(analysis: CodeAnalysis, symbol: str) -> dict[str, Binding]:
    """The variables of one definition by name, the first of each."""
    facts = analysis.facts
    assert facts is not None
    by_name: dict[str, Binding] = {}
    for binding in facts.bindings:
        if facts.definitions[binding.scope].symbol == symbol:
            by_name.setdefault(binding.name, binding)
    return by_name


@pytest.mark.parametrize(
    ("statement", "name", "expected"),
    [
        ("const a: Map<string, User[]> = x;", "a", ("Map<string,Array<User>>", "", False)),
        ("const a = await users.find(id);", "a", ("", "users.find()", False)),
        ("const a = new Store<User>();", "a", ("Store<User>", "", False)),
        ("const a = x as unknown as User;", "a", ("User", "", False)),
        ("const a = [1] as const;", "a", ("", "", False)),
        ("const a = make() satisfies Made;", "a", ("", "make()", False)),
        ("const a = b ?? c;", "a", ("", "b", False)),
        ("const a = b && c;", "a", ("", "", False)),
        ("const a = ok ? users.one : two;", "a", ("", "users.one", False)),
        ("const { a } = useUsers();", "a", ("", "useUsers().a", False)),
        ("const { x: { a } } = b;", "a", ("", "b.x.a", False)),
        ("const { ...a } = b;", "a", ("", "", False)),
        ("const [a, setA] = useState<User>();", "a", ("User", "", False)),
        ("const [b, a] = await Promise.all([one(), two()]);", "a", ("", "two()", False)),
        ("const [a] = users.list();", "a", ("", "users.list()", True)),
        ("const a = users[0];", "a", ("", "users", True)),
        ("const a = inject(Users);", "a", ("Users", "", False)),
        ("const a = container.get<Users>(TOKEN);", "a", ("Users", "", False)),
        ("const a = container.get<Users>(Users);", "a", ("Users", "", False)),
        ("const a = map.get(key);", "a", ("", "map.get()", False)),
        ("for (const a of users) {}", "a", ("", "users", True)),
        ("for (const a in users) {}", "a", ("", "", False)),
        ("users.forEach((a) => a.x());", "a", ("", "users", True)),
        ("users.map(a => a.x());", "a", ("", "users", True)),
        ("users.find().then((a) => a.x());", "a", ("", "users.find()", False)),
        ("db.$transaction(async (a) => a.x());", "a", ("", "db", False)),
        ("pipe(users, A.map((a) => a.x()));", "a", ("", "users", True)),
        ("emit((a) => a.x());", "a", ("", "", False)),
        ("const a = (x: User) => x;", "a", None),
    ],
)
def test_variables(analyse: Analyser, statement: str, name: str, expected: tuple[str, str, bool] | None) -> None:
    binding = bindings_in(analyse("a.ts", f"function f() {{\n  {statement}\n}}\n"), "f").get(name)
    assert (binding and (binding.type_name, binding.value, binding.is_item)) == expected


def test_parameters(analyse: Analyser) -> None:
    text = (
        "class C<T extends Base> {\n"
        "  constructor(private readonly users: Users, @Inject(X) public x: Y, plain: Z) {\n    run(this);\n  }\n"
        "  m({ user, ctx: context }: { user: User; ctx: Context }, { id }: Props, item: T, ...rest: Z[]) {\n"
        "    run();\n  }\n}\n"
        "function js(a, { b }) {\n  run();\n}\n"
    )
    analysis = analyse("a.ts", text)
    fields = bindings_in(analysis, "C")
    assert {name: binding.type_name for name, binding in fields.items()} == {"users": "Users", "x": "Y"}
    assert "plain" in bindings_in(analysis, "C.constructor")
    variables = bindings_in(analysis, "C.m")
    assert (variables["user"].type_name, variables["context"].type_name, variables["item"].type_name) == (
        "User",
        "Context",
        "Base",
    )
    assert variables["id"].value == "Props.id"
    assert {"a", "b"} <= set(bindings_in(analysis, "js"))


def test_fields_that_methods_set(analyse: Analyser) -> None:
    text = (
        "class C {\n  static model = User;\n  private repo = inject(Repo);\n"
        "  constructor(users: Users) {\n    this.users = users;\n    this.store = new Store();\n"
        "    this.first = users.first();\n    go();\n  }\n}\n"
    )
    fields = bindings_in(analyse("a.ts", text), "C")
    assert {name: binding.type_name or binding.value for name, binding in fields.items()} == {
        "model": "User",
        "repo": "Repo",
        "users": "Users",
        "store": "Store",
    }


def test_what_functions_return(analyse: Analyser) -> None:
    text = (
        "function one() {\n  if (a) {\n    return;\n  }\n  return users.first();\n}\n"
        "const two = () => users.all();\n"
        "function three(): User {\n  return x.y();\n}\n"
        "function four() {\n  xs.map((x) => {\n    return x.z();\n  });\n}\n"
        "function five() {\n  const load = () => 1;\n  return { load, team: user.team };\n}\n"
    )
    analysis = analyse("a.ts", text)
    results = {name: bindings_in(analysis, name).get(RETURNED) for name in ("one", "two", "three", "four", "five")}
    assert {name: binding and binding.value for name, binding in results.items()} == {
        "one": "users.first()",
        "two": "users.all()",
        "three": None,
        "four": None,
        "five": "five",
    }
    assert bindings_in(analysis, "five")["team"].value == "user.team"


def test_references(analyse: Analyser) -> None:
    text = (
        "import { Users, guard, TOKEN, Unused } from './x';\n"
        "@Module({ providers: [Users, { provide: TOKEN, useClass: Users }], guard })\n"
        "class C extends Base<Arg> implements Port {\n"
        "  @Column(() => Other)\n  other: Map<string, Value>;\n"
        "  m(local: Typed) {\n    run(guard, local);\n    return this.users.name;\n  }\n}\n"
    )
    facts = analyse("a.ts", text).facts
    assert facts is not None
    references = {(item.role, item.name) for item in facts.references}
    assert {("value", "Users"), ("value", "TOKEN"), ("value", "guard"), ("value", "this.users.name")} <= references
    assert {("type", "Arg"), ("type", "Map"), ("type", "Value"), ("type", "Typed")} <= references
    assert {("decorator", "Module"), ("decorator", "Column")} <= references
    assert not {"Unused", "Base", "Port", "C", "local"} & {name for _, name in references}
