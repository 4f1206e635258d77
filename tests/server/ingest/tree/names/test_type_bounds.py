"""Members that are called on values whose type is a type parameter with a bound."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[..., dict[tuple[str, str], float]]

CSHARP = """\
interface IRun
{
    int Go(int n);
}
class Decoy
{
    int Go(int n)
    {
        return n + 1;
    }
}
class Crate<TItem> where TItem : class, IRun, new()
{
    TItem item;
    int A()
    {
        return item.Go(1);
    }
    int B<T>(T t) where T : IRun
    {
        return t.Go(1);
    }
    int C(List<TItem> items)
    {
        foreach (var one in items) one.Go(1);
    }
    int D<T>(T t)
    {
        return t.Go(1);
    }
}
"""
JAVA = """\
interface Run {
  int go(int n);
}
class Decoy {
  int go(int n) {
    return n + 1;
  }
}
class Crate<T extends Run> {
  private T item;
  int a() {
    int k = 1;
    return item.go(k);
  }
  <U extends Comparable<U> & Run> int b(U u) {
    int k = 1;
    return u.go(k);
  }
  <U> int d(U u) {
    int k = 1;
    return u.go(k);
  }
}
"""
KOTLIN = """\
interface Run {
    fun go(n: Int): Int
}
class Decoy {
    fun go(n: Int): Int {
        return n + 1
    }
}
class Crate<T : Run>(private val item: T) {
    fun a(): Int {
        val k = 1
        return item.go(k)
    }
    fun <U> b(u: U): Int where U : Run {
        val k = 1
        return u.go(k)
    }
    fun <U> d(u: U): Int {
        val k = 1
        return u.go(k)
    }
}
"""
GO = """\
package m

type Run interface {
	Go(n int) int
}

type Decoy struct{}

func (d Decoy) Go(n string) int {
	return 1
}

type Crate[T Run] struct{ item T }

func (b *Crate[T]) A() int {
	k := 1
	return b.item.Go(k)
}

func B[T interface{ Run; ~int }](t T) int {
	k := 1
	return t.Go(k)
}

func D[T any](t T) int {
	k := 1
	return t.Go(k)
}
"""
RUST = """\
trait Run {
    fn go(&self, n: i32) -> i32;
}
struct Decoy;
impl Decoy {
    fn go(&self, n: i32) -> i32 {
        let k = n;
        k
    }
}
fn a<T: Clone + Run>(t: T) -> i32 {
    let k = 1;
    t.go(k)
}
fn b<T>(t: T) -> i32 where T: Run {
    let k = 1;
    t.go(k)
}
fn d<T>(t: T) -> i32 {
    let k = 1;
    t.go(k)
}
"""
PYTHON = """\
T = TypeVar("T", bound="Run")
V = TypeVar("V")


class Run:
    def go(self, n):
        print(n)
        k = n
        return k


class Decoy:
    def go(self, n):
        print(n)
        k = n
        return k


class Crate(Generic[T]):
    def __init__(self, item: T):
        self.item = item
        self.size = len(item.parts)

    def a(self):
        k = 1
        return self.item.go(k)


def b[U: Run](u: U) -> int:
    k = 1
    return u.go(k)


def d(v: V) -> int:
    k = 1
    return v.go(k)
"""


@pytest.mark.parametrize(
    ("path", "text", "member", "callers"),
    [
        ("a.cs", CSHARP, "IRun.Go", {"Crate.A", "Crate.B", "Crate.C"}),
        ("A.java", JAVA, "Run.go", {"Crate.a", "Crate.b"}),
        ("a.kt", KOTLIN, "Run.go", {"Crate.a", "Crate.b"}),
        ("a.go", GO, "Run.Go", {"Crate.A", "B"}),
        ("a.rs", RUST, "Run.go", {"a", "b"}),
        ("a.py", PYTHON, "Run.go", {"Crate.a", "b"}),
    ],
    ids=["csharp", "java", "kotlin", "go", "rust", "python"],
)
def test_a_member_of_a_bounded_type_parameter_is_that_of_the_bound(
    edges_of: EdgesOf, path: str, text: str, member: str, callers: set[str]
) -> None:
    calls = edges_of("Calls", {path: text}, {"": "m"})
    named = {(start.partition("#")[2], end.partition("#")[2]) for start, end in calls if end.lower().endswith(".go")}
    assert named == {(caller, member) for caller in callers}


def test_a_type_argument_says_more_than_the_bound(edges_of: EdgesOf) -> None:
    files: Mapping[str, str] = {
        "A.cs": (
            "class Entity\n{\n    void Save()\n    {\n        Log(1);\n    }\n}\n"
            "class Order : Entity\n{\n    void Ship()\n    {\n        Log(1);\n    }\n}\n"
            "class Store<T> where T : Entity\n{\n    T First()\n    {\n        return Find(1);\n    }\n}\n"
            "class User\n{\n    void Run(Store<Order> store)\n    {\n"
            "        store.First().Ship();\n        store.First().Save();\n    }\n}\n"
        )
    }
    calls = {end.partition("#")[2] for start, end in edges_of("Calls", files) if start == "A.cs#User.Run"}
    assert calls == {"Store.First", "Order.Ship", "Entity.Save"}
