"""Code with random damage: whatever the parser makes of it, what the readers say of it must hold together."""

import random
from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis
from groundwire_ingest.tree.names.rules import TreeLayout
from groundwire_ingest.tree.resolve import resolve

Analyser = Callable[[str, str], CodeAnalysis]

CODE: dict[str, str] = {
    "a.py": """\
import a.b as c


@deco(1)
class A(B):
    x: C = C()

    def f(self, y: D) -> None:
        self.z = y
        self.z.g(f'{y} z' "a")


if a:
    def h(): pass
""",
    "A.cs": """\
using N;
namespace M
{
    [Table("t", Schema = "s")]
    class A<T> : B, C
    {
        D<T> d = new D();
        public int P { get; set; }
        void F(E e) { d?.G($"{e}", @"x"); m.Entity<A>().ToTable("t"); }
    }
}
""",
    "a.ts": """\
import D, { a as b } from './x';
export default class A<T> extends B implements C {
  private d = new D();
  constructor(private e: E) { super(); }
  f(x: G) { this.e.go(`${x}`); }
}
declare module 'm' { }
export const o = { p() { }, 'q': () => 1 };
module.exports = { r: a };
""",
    "a.jsx": """\
const x = require('./x').y;
function F() { this.a = new A(); }
F.prototype.g = function () { return <C.D a='1' />; };
(function () { function h() { } })();
module.exports = F;
""",
    "A.java": """\
package p;
import static q.R.s;
/** d */
@Table(name = "t")
class A<T> extends B implements C {
  D d = new D();
  A(E e) { super(e); this.f("x" + "y"); }
  enum G { H; void i() { } }
}
""",
    "a.go": """\
package a

import (
	b "c/d"
)

// T is.
type (
	T struct {
		U
		v *W
	}
	X interface{ Y() }
)

func (t *T) F(z b.Z) {
	q := &W{}
	t.v.G(`x`, q)
}
""",
}
CODE |= {
    "a.kt": """\
package a.b

import c.d.E as F

@Table("t")
class A<T>(private val repo: Repo) : B(repo), C by d {
    val x: X = X()
    override fun f(a: E): List<E> = repo.save("x$a ${a.b}") { it.go() }
    companion object { fun make() = A<E>(1) }
}

fun String.ext(n: Int?) { n!!.go(::f) }
""",
    "a.php": """\
<?php
namespace A\\B;
use C\\{D, E as F};
#[Route('/x')]
abstract class A extends B implements \\C {
    use T;
    /** @var G */
    private $g;
    function __construct(private D $d) { $this->h = new H("a$b"); }
    static function f(?E $e): self { return $e?->go([$this, 'x'], G::class); }
}
""",
    "a.rb": """\
require_relative 'x'
module A
  class B::C < D
    include E
    belongs_to :user
    attr_reader :x
    def f(a, b = 1, *c) = a.go { |i| i.z }
    def self.g
      @x = F.new("a#{b}")
      helper
    end
  end
end
""",
    "a.rs": """\
use crate::a::{b, C as D, e::*};
mod m { use super::*; }
/// doc
#[derive(Debug)]
pub struct A<'a, T: B> { x: &'a [C], y: Arc<T> }
impl<'a, T> B for A<'a, T> {
    fn f(&mut self, e: &dyn E) -> Self { self.x[0].go(e)?; let g = G::new(); Self { x: r"a" } }
}
macro_rules! h { () => {} }
""",
    "a.c": """\
#include "b.h"
typedef struct a { struct b *next; void (*go)(int); } a_t;
FOO_EXPORT
static int f(const a_t *x, ...);
#define MAX(a, b) ((a) > (b))
#ifdef X
int f(const a_t *x) { x->next->go(MAX(1, 2)); struct ops o = { .open = f }; return g("a" "b"); }
#endif
""",
    "a.cpp": """\
#include <b.hpp>
namespace a::b {
using c::D;
template <typename T> class FOO_API A final : public B, C<T> {
 public:
  explicit A(int x) : B(x) {}
  virtual void f(const E& e) = 0;
  std::unique_ptr<G> g_;
};
}
a::b::A<int>::~A() { auto x = std::make_unique<F>(1); F y{2}; g_->go([&](E e) { e.z(); }); }
TEST(X, Y) { EXPECT(R"(a)"); }
""",
}
PIECES = (
    "",
    "\n",
    "{",
    "}",
    "(",
    ")",
    '"',
    "'",
    "`",
    "class ",
    "def ",
    "\r\n",
    "/*",
    "#",
    "@x ",
    "é",
    "= ",
    "<",
    ":",
    "\t",
)


def damaged(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 8)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice((0, 1, 3, 20)))
        text = text[:start] + chance.choice((*PIECES, text[start:end] * 2)) + text[end:]
    return text


@pytest.mark.parametrize("path", CODE)
def test_analyses_hold_together(analyse: Analyser, path: str) -> None:
    chance = random.Random(path)
    for _ in range(100):
        text = damaged(CODE[path], chance)
        analysis = analyse(path, text)
        keys = {node.key for node in analysis.file.nodes}
        lines = text.split("\n")
        assert len(keys) == len(analysis.file.nodes)
        for node in analysis.file.nodes:
            assert 1 <= node.start_line <= node.end_line <= len(lines)
            assert node.text.strip()
        facts = analysis.facts
        if facts is None:
            assert not keys
            assert analysis.file.skipped
            continue
        assert keys >= {definition.key for definition in facts.definitions}
        assert keys >= {call.from_key for call in facts.calls} | {item.from_key for item in analysis.literals}
        members = {item.key for item in facts.definitions if item.construct == "callable"}
        outlines = {item.key for item in facts.definitions if item.construct != "callable"}
        outlines |= {edge.from_key for edge in analysis.file.edges}
        for node in analysis.file.nodes:
            if node.key in members - outlines:
                assert "\n".join(lines[node.start_line - 1 : node.end_line]).removesuffix("\r") == node.text
        edges = [*analysis.file.edges, *resolve([facts], TreeLayout()).edges]
        assert keys >= {edge.from_key for edge in edges}
