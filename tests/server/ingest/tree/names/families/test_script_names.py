from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

APP = {
    "src/app.ts": (
        "import Service, { helper as help, type Options } from './service';\n"
        "import * as tools from './tools';\n"
        "import { renamed } from './barrel';\n"
        "import { Outside } from 'outside';\n"
        "import './side.js';\n\n"
        "export class App extends Service {\n"
        "  constructor(private readonly svc: Service, other: Options) {\n    super();\n    help();\n  }\n"
        "  run() {\n"
        "    this.svc.start();\n"
        "    this.start();\n"
        "    super.stop();\n"
        "    tools.cut();\n"
        "    renamed();\n"
        "    const made = new Service();\n"
        "    made.stop();\n"
        "    new Outside().start();\n"
        "  }\n"
        "}\n"
    ),
    "src/service.ts": (
        "export default class Service {\n  start() {\n  }\n  stop() {\n  }\n}\n"
        "export function helper() {\n}\nexport interface Options {\n  a: string;\n}\n"
    ),
    "src/tools/index.ts": "export const cut = () => {\n  return 1;\n};\n",
    "src/barrel.ts": "export * from './more';\n",
    "src/more.ts": "function original() {\n}\nexport { original as renamed };\n",
    "src/side.ts": "console.log('side');\n",
}


def test_calls(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", APP) == {
        ("src/app.ts#App.constructor", "src/service.ts#helper"): 1.0,
        ("src/app.ts#App.run", "src/service.ts#Service.start"): 0.9,
        ("src/app.ts#App.run", "src/service.ts#Service.stop"): 0.9,
        ("src/app.ts#App.run", "src/tools/index.ts#cut"): 1.0,
        ("src/app.ts#App.run", "src/more.ts#original"): 0.9,
        ("src/app.ts#App.run", "src/service.ts#Service"): 1.0,
    }


def test_imports_and_bases(edges_of: EdgesOf) -> None:
    assert edges_of("Imports", APP) == {
        ("src/app.ts#App", "src/service.ts"): 1.0,
        ("src/app.ts#App", "src/tools/index.ts"): 1.0,
        ("src/app.ts#App", "src/barrel.ts"): 1.0,
        ("src/app.ts#App", "src/side.ts"): 1.0,
        ("src/barrel.ts", "src/more.ts"): 1.0,
    }
    assert edges_of("Inherits", APP) == {("src/app.ts#App", "src/service.ts#Service"): 1.0}


def test_common_js_and_prototypes(edges_of: EdgesOf) -> None:
    files = {
        "main.js": (
            "const Cart = require('./cart');\nconst { open, shut: close } = require('./door');\n"
            "const make = require('./make');\n\n"
            "function run() {\n  const cart = new Cart();\n  cart.add();\n  open();\n  close();\n  make();\n}\n"
        ),
        "cart.js": (
            "function Cart() {\n  this.door = 1;\n}\n"
            "Cart.prototype.add = function () {\n  this.check();\n};\n"
            "Cart.prototype.check = function () {\n};\nmodule.exports = Cart;\n"
        ),
        "door.js": "exports.open = function () {\n};\nfunction shut() {\n}\nmodule.exports = { shut };\n",
        "make.js": "module.exports = function () {\n  return 1;\n};\n",
    }
    assert edges_of("Calls", files) == {
        ("main.js#run", "cart.js#Cart"): 1.0,
        ("main.js#run", "cart.js#Cart.add"): 0.8,
        ("main.js#run", "door.js#open"): 1.0,
        ("main.js#run", "door.js#shut"): 1.0,
        ("main.js#run", "make.js#default"): 1.0,
        ("cart.js#Cart.add", "cart.js#Cart.check"): 1.0,
    }


def test_components_are_called(edges_of: EdgesOf) -> None:
    files = {
        "page.tsx": "import { Button } from './button';\nexport const Page = () => {\n  return <Button />;\n};\n",
        "button.jsx": "export function Button() {\n  return <b />;\n}\n",
    }
    assert edges_of("Calls", files) == {("page.tsx#Page", "button.jsx#Button"): 1.0}


@pytest.mark.parametrize(
    ("specifier", "path", "confidence"),
    [
        ("./m", "a/b/m.ts", 1.0),
        ("./m.js", "a/b/m.ts", 1.0),
        ("./m", "a/b/m.d.ts", 1.0),
        ("../m", "a/m/index.jsx", 1.0),
        ("../../m", "m.mjs", 1.0),
        ("@/lib/m", "a/src/lib/m.ts", 0.9),
        ("a/lib/m", "a/lib/m.ts", 0.9),
        ("m", "m.ts", None),
        ("../../../m", "m.ts", None),
    ],
)
def test_module_paths(edges_of: EdgesOf, specifier: str, path: str, confidence: float | None) -> None:
    files = {"a/b/c.ts": f"import {{ f }} from '{specifier}';\n", path: "export function f() {\n}\n"}
    assert edges_of("Imports", files) == ({} if confidence is None else {("a/b/c.ts", path): confidence})


def test_re_export_cycles_end(edges_of: EdgesOf) -> None:
    files = {
        "a.ts": "export * from './b';\nimport { x } from './b';\nx();\n",
        "b.ts": "export * from './a';\nexport { x } from './a';\nexport { x as default };\n",
    }
    assert edges_of("Calls", files) == {}
