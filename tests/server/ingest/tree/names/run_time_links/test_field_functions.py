"""Functions that code puts into fields, and calls of what is in a field."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[..., dict[tuple[str, str], float]]

CSHARP = """\
class Options
{
    public Action<int> OnSave { get; set; }
    public event EventHandler Changed;
    void Fire()
    {
        var n = 1;
        Changed?.Invoke(this, n);
    }
}
class Shop
{
    void Saved(int n)
    {
        var m = n;
        Use(m);
    }
    void HasChanged(object sender, int n)
    {
        var m = n;
        Use(m);
    }
    void Start()
    {
        var options = new Options { OnSave = Saved };
        options.Changed += HasChanged;
    }
    void Run(Options options)
    {
        var n = 1;
        options.OnSave(n);
    }
}
"""
PYTHON = """\
class Options:
    on_save: Callable[[int], None]


def saved(n):
    m = n
    return m


def start():
    run(Options(on_save=saved))


def run(options: Options):
    n = 1
    options.on_save(n)
"""
GO = """\
package shop

type Options struct {
	OnSave func(int)
	load   func(int)
}

func saved(n int) {
	m := n
	use(m)
}

func loaded(n int) {
	m := n
	use(m)
}

func start() {
	options := Options{OnSave: saved}
	options.load = loaded
	all := []Options{{OnSave: saved}}
	run(options, all)
}

func run(options Options, all []Options) {
	options.load(1)
	options.OnSave(1)
}
"""
TYPESCRIPT = """\
interface Options { onSave: (n: number) => void; label: string }
function saved(n: number) {
  const m = n;
  return m;
}
export function run(options: Options) {
  const n = 1;
  options.onSave(n);
}
export function start() {
  const n = 1;
  run({ onSave: saved, label: "x" });
}
"""
TSX = """\
interface Props { onPick: (n: number) => void; label: string }
export function Picker({ onPick, label }: Props) {
  const n = 1;
  return <button onClick={() => onPick(n)}>{label}</button>;
}
function picked(n: number) {
  const m = n;
  return m;
}
export function Page() {
  const n = 1;
  return <Picker onPick={picked} label="x" />;
}
"""
RUST = """\
struct Options { on_save: fn(i32) -> i32 }
fn saved(n: i32) -> i32 {
    let m = n;
    m
}
fn start() {
    let options = Options { on_save: saved };
    run(&options);
}
fn run(options: &Options) {
    let n = 1;
    (options.on_save)(n);
}
"""
C = """\
struct file_ops {
    int (*open)(int fd);
};
static int my_open(int fd)
{
    int n = fd;
    return n;
}
static const struct file_ops ops = {
    .open = my_open,
};
int run(struct file_ops *files, int fd)
{
    int n = fd;
    return files->open(n);
}
"""


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.cs", CSHARP, {("Options.Fire", "Shop.HasChanged"), ("Shop.Run", "Shop.Saved")}),
        ("a.py", PYTHON, {("run", "saved")}),
        ("a.go", GO, {("run", "saved"), ("run", "loaded")}),
        ("a.ts", TYPESCRIPT, {("run", "saved")}),
        ("a.tsx", TSX, {("Picker", "picked")}),
        ("a.rs", RUST, {("run", "saved")}),
        ("a.c", C, {("run", "my_open")}),
    ],
)
def test_a_call_of_a_field_leads_to_the_function_in_it(
    edges_of: EdgesOf, path: str, text: str, expected: set[tuple[str, str]]
) -> None:
    calls = edges_of("Calls", {path: text})
    for start, end in expected:
        assert calls[f"{path}#{start}", f"{path}#{end}"] == 0.8


@pytest.mark.parametrize(
    ("addition", "expected"),
    [
        ("def other():\n    Options(on_save=lambda n: n)\n", {"a.py#saved": 0.5}),
        (
            "def stored(n):\n    m = n\n    return m\n\n\ndef other():\n    Options(on_save=stored)\n",
            {"a.py#saved": 0.5, "a.py#stored": 0.5},
        ),
        (
            "".join(f"def stored{n}(n):\n    m = n\n    return m\n\n\n" for n in range(3))
            + "def other():\n"
            + "".join(f"    Options(on_save=stored{n})\n" for n in range(3)),
            {},
        ),
    ],
)
def test_a_field_that_is_set_to_several_functions_leads_to_none_for_sure(
    edges_of: EdgesOf, addition: str, expected: dict[str, float]
) -> None:
    calls = edges_of("Calls", {"a.py": f"{PYTHON}\n\n{addition}"})
    assert {end: confidence for (start, end), confidence in calls.items() if start == "a.py#run"} == expected


def test_a_function_of_a_test_is_called_by_tests_only(edges_of: EdgesOf) -> None:
    test = "from a import Options, run\n\n\ndef stored(n):\n    m = n\n    return m\n\n\ndef test_run():\n"
    files: Mapping[str, str] = {
        "a.py": PYTHON,
        "test_a.py": f"{test}    options = Options(on_save=stored)\n    options.on_save(1)\n",
    }
    calls = edges_of("Calls", files)
    assert calls["a.py#run", "a.py#saved"] == 0.8
    assert ("a.py#run", "test_a.py#stored") not in calls
    assert calls["test_a.py#test_run", "test_a.py#stored"] == 0.5


def test_a_method_of_the_name_is_no_field(edges_of: EdgesOf) -> None:
    text = (
        "class Options:\n    def on_save(self, n):\n        m = n\n        return m\n\n\n"
        "def saved(n):\n    m = n\n    return m\n\n\n"
        "def start(options: Options):\n    options.on_save = saved\n    options.on_save(1)\n"
    )
    assert ("a.py#start", "a.py#saved") not in edges_of("Calls", {"a.py": text})


API = """\
export interface Api { load(id: string): Promise<void>; size: number }
export const api: Api = {
  size: 1,
  async load(id) {
    const n = 1;
    await fetch(id);
  },
};
export function use(other: Api) {
  const n = 1;
  return other.load("x");
}
"""


@pytest.mark.parametrize(
    "text", [API, API.replace("api: Api", "api").replace("};", "} satisfies Api;")], ids=["annotation", "satisfies"]
)
def test_an_object_of_a_stated_type_implements_it(edges_of: EdgesOf, text: str) -> None:
    assert edges_of("Inherits", {"a.ts": text}) == {("a.ts#api", "a.ts#Api"): 1.0}
    assert edges_of("ImplementedBy", {"a.ts": text})["a.ts#Api", "a.ts#api.load"] == 0.9
    assert edges_of("Calls", {"a.ts": text})["a.ts#use", "a.ts#api.load"] == 0.8
