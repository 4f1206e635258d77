"""What becomes a node in TypeScript and JavaScript beside plain declarations."""

from collections.abc import Callable

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]

BODY = "".join(f"    step{number}();\n" for number in range(5))


def symbols(analysis: CodeAnalysis) -> list[str]:
    return [node.symbol for node in analysis.file.nodes]


def test_handlers_and_test_cases_are_named_by_their_call(analyse: Analyser) -> None:
    text = (
        "const router = Router();\n"
        f"// Lists.\nrouter.get('/users', auth, async (req, res) => {{\n{BODY}}});\n"
        f"router.post('/a', wrap(async (req) => {{\n{BODY}}}));\n"
        f"queue.on('user.created', (event) => {{\n{BODY}}});\n"
        "router.get('/short', (req, res) => res.end());\n"
        f"setTimeout(() => {{\n{BODY}}}, 10);\n"
        f"app.use(async () => {{\n{BODY}}});\n"
    )
    analysis = analyse("routes.ts", text)
    assert symbols(analysis) == ["", "GET /users", "POST /a", "on: user.created"]
    users = analysis.file.nodes[1]
    assert (users.start_line, users.text.partition("\n")[0]) == (2, "// Lists.")
    assert users.signature == "router.get('/users', auth, async (req, res)"


def test_each_handler_of_a_chain_is_a_node(analyse: Analyser) -> None:
    text = f"router\n  .get('/a', (x) => {{\n{BODY}  }})\n  .post('/b', (x) => {{\n{BODY}  }});\n"
    nodes = analyse("routes.js", text).file.nodes
    assert [(node.symbol, node.start_line, node.end_line) for node in nodes[1:]] == [
        ("GET /a", 1, 8),
        ("POST /b", 9, 15),
    ]


def test_test_cases_stand_in_their_suites_and_short_ones_share(analyse: Analyser) -> None:
    text = (
        "describe('Users', () => {\n  const users = new Users();\n"
        f"  it('refuses an empty name', async () => {{\n{BODY}  }});\n"
        "  it('is short', () => {\n    users.list();\n  });\n"
        f"  it.each([1, 2])('takes %s', (n) => {{\n{BODY}  }});\n"
        "});\n"
        f"describe(Users.name, () => {{\n{BODY}}});\n"
    )
    analysis = analyse("users.test.ts", text)
    assert symbols(analysis) == [
        "",
        "describe: Users",
        "describe: Users.it: refuses an empty name",
        "describe: Users.it: takes %s",
        "describe: Users.name",
    ]
    assert analysis.facts is not None
    short = next(call for call in analysis.facts.calls if call.name == "list")
    assert short.from_key.endswith("#describe: Users")


def test_names_of_calls_hold_no_marks_of_ids_and_are_told_apart(analyse: Analyser) -> None:
    case = f"it('mails a@b.c\\n #1 ~2', () => {{\n{BODY}}});\n"
    ids = [node.local_id for node in analyse("a.test.ts", case + case).file.nodes]
    assert ids == ["a.test.ts", "a.test.ts#it: mails ab.c\\n 1 2", "a.test.ts#it: mails ab.c\\n 1 2~2"]


def test_functions_within_a_function_are_nodes_only_where_they_are_long(analyse: Analyser) -> None:
    inner = f"  const load = async () => {{\n{BODY}  }};\n"
    short = f"export function useUsers() {{\n{inner}  return {{ load }};\n}}\n"
    analysis = analyse("a.ts", short)
    assert symbols(analysis) == ["useUsers"] or symbols(analysis) == ["", "useUsers"]
    assert analysis.facts is not None
    local = next(item for item in analysis.facts.definitions if item.name == "load")
    assert "local" in local.traits
    assert local.key.endswith("#useUsers")
    filler = "".join(f"  also{number}();\n" for number in range(20))
    long = f"export function useUsers() {{\n{inner.replace(BODY, BODY * 2)}{filler}  return {{ load }};\n}}\n"
    assert "useUsers.load" in symbols(analyse("a.ts", long))


def test_types_of_fields_share_and_those_with_methods_do_not(analyse: Analyser) -> None:
    fields = "".join(f"  f{number}: string;\n" for number in range(12))
    text = (
        "export interface Props {\n  user: User;\n  onClose: () => void;\n}\n"
        "export interface Users {\n  find: (id: string) => Promise<User>;\n  save: (user: User) => void;\n}\n"
        "export type Port = {\n  send(text: string): void;\n};\n"
        f"export interface Wide {{\n{fields}}}\n"
        "export function close() {\n  return 1;\n}\n"
    )
    analysis = analyse("types.ts", text)
    assert symbols(analysis) == ["", "Users", "Users.find", "Users.save", "Port", "Port.send", "Wide", "close"]
    assert analysis.facts is not None
    definitions = {item.symbol: item for item in analysis.facts.definitions}
    assert "Props.onClose" not in definitions
    assert definitions["Users.find"].result == "Promise<User>"
    assert [parameter.type_name for parameter in definitions["Users.find"].parameters or ()] == ["string"]
    assert "abstract" in definitions["Port.send"].traits
    around = {analysis.facts.definitions[item.scope].name for item in analysis.facts.bindings if item.name == "user"}
    assert around == {"Props", "save"}


def test_overloads_belong_to_the_function_that_they_describe(analyse: Analyser) -> None:
    text = (
        "export function open(path: string): File;\nexport function open(path: number): File;\n"
        "export function open(path: any): File {\n  return find(path);\n}\n"
        "class A {\n  m(a: string): void;\n  m(a: any) {\n    run(a);\n  }\n}\n"
    )
    facts = analyse("a.ts", text).facts
    assert facts is not None
    assert [item.symbol for item in facts.definitions] == ["", "open", "A", "A.m"]
    declared = analyse("a.d.ts", "export function f(a: string): void;\nexport function f(a: number): void;\n").facts
    assert declared is not None
    assert [item.symbol for item in declared.definitions] == ["", "f"]


def test_every_variable_of_a_file_is_defined_and_none_of_a_function(analyse: Analyser) -> None:
    text = (
        "export const TOKEN = Symbol('t');\nexport const { a, b: c, d = 1 } = make();\nconst [first] = list();\n"
        "const { required } = require('./x');\nconst later = await import('./y');\n"
        "function f() {\n  const hidden = 1;\n  const [one] = list();\n}\n"
    )
    facts = analyse("a.ts", text).facts
    assert facts is not None
    assert [item.symbol for item in facts.definitions[1:]] == ["TOKEN", "a", "c", "d", "first", "f"]
