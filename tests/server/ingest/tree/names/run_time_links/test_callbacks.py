"""Callables that one member keeps in a field, and that another takes out and calls."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

FILES = {
    "a.cs": """\
class Bus
{
    List<Action<int>> _handlers = new();
    Action<int> _one;
    event Action Changed;
    Store _store;
    void Register(Action<int> handler)
    {
        _handlers.Add(handler);
    }
    void Publish(int n)
    {
        foreach (var handler in _handlers) handler(n);
    }
    void SetOne(Action<int> handler, Store store)
    {
        _one = handler;
        this._store = store;
    }
    void RunOne(int n)
    {
        _one(n);
    }
    void RunOther(int n)
    {
        this._one?.Invoke(n);
    }
    void Save(int n)
    {
        _store.Save(n);
    }
}
class Other
{
    Action<int> _one;
    void RunOne(int n)
    {
        _one(n);
    }
}
""",
    "b.py": """\
class Bus:
    def __init__(self):
        self.handlers = []
        self.one = None
        self.store = Store(1)

    def register(self, handler):
        self.handlers.append(handler)

    def publish(self, n):
        for handler in self.handlers:
            handler(n)

    def set_one(self, handler, store):
        self.one = handler
        self.store = store

    def run_one(self, n):
        print(n)
        self.one(n)

    def save(self, n):
        self.store.save(n)


class Other:
    def run_one(self, n):
        self.one(n)
""",
    "c.ts": """\
export class Bus {
  private handlers: Array<(n: number) => void> = [];
  private one?: (n: number) => void;
  private store: Store;
  register(handler: (n: number) => void) {
    this.handlers.push(handler);
  }
  publish(n: number) {
    for (const handler of this.handlers) handler(n);
  }
  setOne(handler: (n: number) => void, store: Store) {
    this.one = handler;
    this.store = store;
  }
  runOne(n: number) {
    this.one?.(n);
  }
  runOther(n: number) {
    this.one.call(this, n);
  }
  save(n: number) {
    this.store.save(n);
  }
}
""",
    "d.java": """\
class Bus {
  private Consumer<Integer> one;
  private Store store;
  void setOne(Consumer<Integer> handler, Store store) {
    this.one = handler;
    this.store = store;
  }
  void runOne(int n) {
    int k = n;
    one.accept(k);
  }
  void save(int n) {
    int k = n;
    store.accept(k);
  }
}
""",
    "e.kt": """\
class Bus {
    private var one: ((Int) -> Unit)? = null
    fun setOne(handler: (Int) -> Unit) {
        println(1)
        one = handler
    }
    fun runOne(n: Int) {
        println(1)
        one?.invoke(n)
    }
}
""",
}
EXPECTED = {
    "a.cs": {("Register", "Publish"), ("SetOne", "RunOne"), ("SetOne", "RunOther")},
    "b.py": {("register", "publish"), ("set_one", "run_one")},
    "c.ts": {("register", "publish"), ("setOne", "runOne"), ("setOne", "runOther")},
    "d.java": {("setOne", "runOne")},
    "e.kt": {("setOne", "runOne")},
}


@pytest.mark.parametrize("path", FILES)
def test_what_keeps_a_callable_leads_to_what_calls_it(edges_of: EdgesOf, path: str) -> None:
    expected = {(f"{path}#Bus.{start}", f"{path}#Bus.{end}"): 0.8 for start, end in EXPECTED[path]}
    assert edges_of("RunBy", {path: FILES[path]}) == expected


def test_a_method_of_the_name_is_no_field(edges_of: EdgesOf) -> None:
    text = (
        "class Bus:\n    def keep(self, one):\n        print(one)\n        self.one = one\n\n"
        "    def one(self):\n        print(1)\n        print(2)\n\n"
        "    def run(self):\n        print(1)\n        self.one()\n"
    )
    assert edges_of("RunBy", {"a.py": text}) == {}
