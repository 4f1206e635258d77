from collections.abc import Callable

from groundwire_ingest.tree.code_facts import Binding, CodeAnalysis, Import

Analyser = Callable[[str, str], CodeAnalysis]

MODULE = """\
import D, { a as b, type T } from './x';
import * as ns from "../y";
export { c as z } from './w';
export * from './v';
const { k, l: m } = require('./r');

/** Serves. */
@Injectable()
export default abstract class Service<T> extends Base<T> implements IService, ns.Other {
  private repo: Repo<T> = new Repo();
  constructor(private readonly http: Http) {
    super(http);
  }
  async find(id: string): Promise<void> {
    await this.http.get!(`users/${id}`);
    this.repo?.load();
  }
  handle = (event) => {
    this.find(event);
  };
  abstract stop(): void;
}

export interface IService extends A, B<C> {
  find(id: string): Promise<void>;
}

export const run = async (s: Service) => {
  const made = new Made();
  s.find("a" + 'b');
};

export const routes = {
  open() { return run(); },
  close: function () { return 1; },
};

const table = [
  1,
  2,
];

namespace Inner {
  export function deep() {}
}
export type U = A | B;
"""


def test_chunks(analyse: Analyser) -> None:
    nodes = analyse("src/service.ts", MODULE).file.nodes
    assert [(node.local_id.partition("#")[2], node.start_line, node.end_line, node.signature) for node in nodes] == [
        ("", 1, 46, ""),
        ("Service", 7, 22, "abstract class Service<T> extends Base<T> implements IService, ns.Other"),
        ("Service.constructor", 11, 13, "constructor(private readonly http: Http)"),
        ("Service.find", 14, 17, "async find(id: string): Promise<void>"),
        ("Service.handle", 18, 20, "handle = (event)"),
        ("Service.stop", 21, 21, "abstract stop(): void"),
        ("IService", 24, 26, "interface IService extends A, B<C>"),
        ("IService.find", 25, 25, "find(id: string): Promise<void>"),
        ("run", 28, 31, "run = async (s: Service)"),
        ("routes", 33, 36, "routes"),
        ("routes.open", 34, 34, "open()"),
        ("table", 38, 41, "table"),
        ("Inner", 43, 45, "namespace Inner"),
        ("Inner.deep", 44, 44, "function deep()"),
    ]
    assert {(node.kind, node.language) for node in nodes} == {("ts", "typescript")}


def test_imports_and_exports(analyse: Analyser) -> None:
    facts = analyse("a.ts", MODULE).facts
    assert facts is not None
    assert set(facts.imports) == {
        Import("./x", "default", "D", 1),
        Import("./x", "a", "b", 1),
        Import("./x", "T", "T", 1),
        Import("./x", "", "", 1),
        Import("../y", "", "ns", 2),
        Import("../y", "", "", 2),
        Import("./w", "c", "z", 3),
        Import("./v", "*", "", 4),
        Import("./r", "k", "k", 5),
        Import("./r", "l", "m", 5),
        Import("./r", "", "", 5),
        Import("./r", "default", "import::/r", 5),
        Import("", "Service", "default", 8),
    }


def test_bases_calls_variables_and_literals(analyse: Analyser) -> None:
    analysis = analyse("a.ts", MODULE)
    facts = analysis.facts
    assert facts is not None
    index = {definition.symbol: number for number, definition in enumerate(facts.definitions)}
    assert facts.definitions[index["Service"]].bases == ("Base<T>", "IService", "ns.Other")
    assert facts.definitions[index["IService"]].bases == ("A", "B<C>")
    assert {(call.receiver, call.name) for call in facts.calls if call.scope == index["Service.find"]} == {
        ("this.http", "get"),
        ("this.repo", "load"),
    }
    assert {(call.receiver, call.name, call.constructs) for call in facts.calls if call.scope == index["run"]} == {
        ("", "Made", True),
        ("s", "find", False),
    }
    assert {
        Binding(index["Service"], "repo", "Repo<T>", True),
        Binding(index["Service"], "http", "Http", True),
        Binding(index["run"], "s", "Service", True),
        Binding(index["run"], "made", "Made", False),
    } <= set(facts.bindings)
    assert [literal.text for literal in analysis.literals][-2:] == ["users/${id}", "ab"]


def test_javascript_of_common_js_and_prototypes(analyse: Analyser) -> None:
    text = (
        "const util = require('./util');\n"
        "function Cart(owner) { this.store = new Store(); }\n"
        "Cart.prototype.add = function (item) { util.check(item); };\n"
        "exports.open = function () {};\n"
        "module.exports = {\n  close: function () {},\n  renamed: Cart,\n};\n"
        "(function () {\n  function hidden() {}\n})();\n"
        "var settings = memo(() => {\n  a();\n  b();\n  c();\n});\n"
    )
    analysis = analyse("cart.js", text)
    assert [node.symbol for node in analysis.file.nodes] == [
        "",
        "Cart",
        "Cart.add",
        "open",
        "close",
        "hidden",
        "settings",
    ]
    assert {(node.kind, node.language) for node in analysis.file.nodes} == {("js", "javascript")}
    assert ("js::cart.js#Cart", "js::cart.js#Cart.add") in {
        (edge.from_key, edge.to_key) for edge in analysis.file.edges
    }
    assert analysis.facts is not None
    assert Binding(1, "store", "Store", False) in analysis.facts.bindings
    assert {Import("./util", "default", "util", 1), Import("", "Cart", "renamed", 5)} <= set(analysis.facts.imports)


def test_default_exports_without_a_name(analyse: Analyser) -> None:
    component = "export default {\n  name: 'x',\n  methods: {\n    load() { return 1; },\n  },\n};\n"
    assert [node.symbol for node in analyse("a.js", component).file.nodes] == ["default", "default.methods"]
    function = "export default function () {\n  go();\n}\n"
    assert [node.symbol for node in analyse("b.js", function).file.nodes] == ["", "default"]


def test_names_may_hold_a_dollar_sign(analyse: Analyser) -> None:
    analysis = analyse("a.ts", "const $go = ($el: Item) => $el.open();\nexport default $go;\n")
    assert analysis.facts is not None
    assert [definition.symbol for definition in analysis.facts.definitions] == ["", "$go"]
    assert analysis.facts.imports == (Import("", "$go", "default", 2),)
    assert analysis.facts.bindings == (Binding(1, "$el", "Item", True), Binding(1, "()", "", False, "$el.open()"))


def test_components_of_jsx_are_called_and_tags_are_not(analyse: Analyser) -> None:
    text = 'export const Page = () => {\n  return <div className="a"><Card.Title /><Button>x</Button></div>;\n};\n'
    for path in ("page.tsx", "page.jsx"):
        facts = analyse(path, text).facts
        assert facts is not None
        assert {(call.receiver, call.name) for call in facts.calls} == {("Card", "Title"), ("", "Button")}


def test_what_is_quoted_has_a_name_only_when_that_is_one(analyse: Analyser) -> None:
    text = (
        "declare module 'lib' { function f(): void; }\nexport const o = {\n  'a-b': () => 1,\n  'a b': () => 2,\n};\n"
        "declare module '"
    )
    analysis = analyse("a.ts", text)
    assert analysis.facts is not None
    assert [definition.symbol for definition in analysis.facts.definitions] == ["", "lib", "lib.f", "o", "o.a-b"]
    assert {definition.parent for definition in analysis.facts.definitions} == {-1, 0, 1, 3}
