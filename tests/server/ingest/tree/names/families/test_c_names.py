"""Functions of one name stay apart by `static`; what no included header declares is not sure."""

from collections.abc import Callable, Mapping

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]
EdgesOf = Callable[..., dict[tuple[str, str], float]]

SHOP: Mapping[str, str] = {
    "include/shop.h": """\
#ifndef SHOP_H
#define SHOP_H

struct repo;

/* Serves. */
typedef struct service {
    struct line *first;
    int (*run)(struct service *self);
} service_t;

SHOP_API
int shop_open(service_t *service, const char *path);
void shop_close(service_t *service);
#define SHOP_MAX(a, b) ((a) > (b) ? (a) : (b))
static inline int shop_size(void) { return 1; }

#endif
""",
    "src/shop.c": """\
#include <stdio.h>
#include "shop.h"

static int helper(struct line *line)
{
    return SHOP_MAX(line->count, shop_size());
}

static int run(service_t *self)
{
    return helper(self->first);
}

static const struct ops table = { .open = shop_open, .run = run };

int shop_open(service_t *service, const char *path)
{
    int (*helper)(const char *) = 0;
    service->run = run;
    helper(path);
    return printf("%s" "x", path);
}

void shop_close(service_t *service)
{
    service->run(service);
}
""",
    "src/other.c": """\
#include "../include/shop.h"

static void helper(void)
{
    shop_close(0);
}

int main(void)
{
    helper();
    undeclared();
    return shop_open(0, "a");
}
""",
    "src/undeclared.c": """\
int undeclared(void)
{
    return 1;
}
""",
}


def test_nodes(analyse: Analyser) -> None:
    code = {path: text for path, text in SHOP.items() if not path.endswith(".toml")}
    analyses = [analyse(path, text) for path, text in code.items()]
    assert [item for analysis in analyses for item in analysis.file.skipped] == []
    nodes = [node for analysis in analyses for node in analysis.file.nodes]
    assert [(node.local_id, node.start_line, node.end_line, node.signature) for node in nodes] == [
        ("include/shop.h", 1, 18, ""),
        ("include/shop.h#service_t", 6, 10, "typedef struct service"),
        ("include/shop.h#shop_size", 16, 16, "static inline int shop_size(void)"),
        ("src/shop.c", 1, 27, ""),
        ("src/shop.c#helper", 4, 7, "static int helper(struct line *line)"),
        ("src/shop.c#run", 9, 12, "static int run(service_t *self)"),
        ("src/shop.c#shop_open", 16, 22, "int shop_open(service_t *service, const char *path)"),
        ("src/shop.c#shop_close", 24, 27, "void shop_close(service_t *service)"),
        ("src/other.c", 1, 13, ""),
        ("src/other.c#helper", 3, 6, "static void helper(void)"),
        ("src/other.c#main", 8, 13, "int main(void)"),
        ("src/undeclared.c", 1, 4, ""),
        ("src/undeclared.c#undeclared", 1, 4, "int undeclared(void)"),
    ]


def test_calls(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", SHOP) == {
        ("src/other.c#helper", "src/shop.c#shop_close"): 0.9,
        ("src/other.c#main", "src/other.c#helper"): 1.0,
        ("src/other.c#main", "src/shop.c#shop_open"): 0.9,
        ("src/other.c#main", "src/undeclared.c#undeclared"): 0.5,
        ("src/shop.c#helper", "include/shop.h"): 0.9,
        ("src/shop.c#helper", "include/shop.h#shop_size"): 0.9,
        ("src/shop.c#run", "src/shop.c#helper"): 1.0,
        ("src/shop.c#shop_close", "src/shop.c#run"): 0.8,
    }


def test_imports(edges_of: EdgesOf) -> None:
    assert edges_of("Imports", SHOP) == {("src/other.c", "include/shop.h"): 1.0, ("src/shop.c", "include/shop.h"): 0.9}


def test_implements(edges_of: EdgesOf) -> None:
    assert edges_of("Implements", SHOP) == {
        ("src/shop.c#shop_close", "include/shop.h"): 1.0,
        ("src/shop.c#shop_open", "include/shop.h"): 1.0,
    }


def test_implemented_by(edges_of: EdgesOf) -> None:
    assert edges_of("ImplementedBy", SHOP) == {
        ("include/shop.h", "src/shop.c#shop_close"): 1.0,
        ("include/shop.h", "src/shop.c#shop_open"): 1.0,
    }


def test_references(edges_of: EdgesOf) -> None:
    assert edges_of("References", SHOP) == {
        ("include/shop.h", "include/shop.h#service_t"): 1.0,
        ("src/shop.c", "src/shop.c#run"): 1.0,
        ("src/shop.c", "src/shop.c#shop_open"): 1.0,
        ("src/shop.c#run", "include/shop.h#service_t"): 0.9,
        ("src/shop.c#shop_close", "include/shop.h#service_t"): 0.9,
        ("src/shop.c#shop_open", "include/shop.h#service_t"): 0.9,
        ("src/shop.c#shop_open", "src/shop.c#run"): 1.0,
    }


def test_of_several_bodies_of_one_declaration_none_is_sure(edges_of: EdgesOf) -> None:
    files = {
        "io.h": "int load(int x);\n",
        "posix.c": '#include "io.h"\nint load(int x) {\n  return x + 1;\n}\n',
        "windows.c": '#include "io.h"\nint load(int x) {\n  return x + 2;\n}\n',
    }
    assert set(edges_of("ImplementedBy", files).values()) == {0.5}


@pytest.mark.parametrize(
    ("head", "symbol"),
    [
        ("static inline __printf(2, 3) int noted(const char *a, const char *f, ...)", "noted"),
        ("static __always_inline __must_check int noted(int a)", "noted"),
        ("__attribute__((noinline)) static int noted(int a)", "noted"),
        ("static int __init noted(void)", "noted"),
        ("struct page * __ref noted(void)", "noted"),
        ("static __u32 noted(int a)", "noted"),
        ("SYSCALL_DEFINE2(noted, int, fd, const char *, name)", "SYSCALL_DEFINE2(noted, int, fd, const char *, name)"),
        ("TEST(Suite, noted)", "TEST(Suite, noted)"),
        ("DEFINE_NOTED(noted)", "DEFINE_NOTED(noted)"),
    ],
)
def test_macros_before_and_around_functions(edges_of: EdgesOf, analyse: Analyser, head: str, symbol: str) -> None:
    text = (
        "static int helper(void)\n{\n    int x = 1;\n    return x;\n}\n\n"
        f"{head}\n{{\n    int y = helper();\n    return y;\n}}\n\n"
        "int plain(void)\n{\n    int y = helper();\n    return y;\n}\n"
    )
    analysis = analyse("a.c", text)
    lines = {node.symbol: (node.start_line, node.end_line) for node in analysis.file.nodes[1:]}
    assert lines == {"helper": (1, 5), symbol: (7, 11), "plain": (13, 17)}
    assert edges_of("Calls", {"a.c": text}) == {(f"a.c#{symbol}", "a.c#helper"): 1.0, ("a.c#plain", "a.c#helper"): 1.0}


def test_a_macro_without_a_block_makes_no_function(analyse: Analyser) -> None:
    text = "DEFINE_LOCK(lock, 1);\nMODULE_AUTHOR(noted, a)\nstatic int data[] = {\n    1,\n    2,\n};\n"
    assert [node.symbol for node in analyse("a.c", text).file.nodes] == [""]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("return k ? left : right;", {"left", "right"}),
        ("handler h = k ? &left : (handler)right;", {"left", "right"}),
        ("o->run = (k ? left : 0);", {"left"}),
        ("return k ? k : 1;", set[str]()),
        ("return left_count;", set[str]()),
    ],
)
@pytest.mark.parametrize("path", ["a.c", "a.cpp"])
def test_functions_among_the_values_of_expressions(
    edges_of: EdgesOf, path: str, statement: str, named: set[str]
) -> None:
    functions = "".join(f"int {name}(int x)\n{{\n    int k = x;\n    return k;\n}}\n" for name in ("left", "right"))
    text = f"{functions}handler pick(struct ops *o)\n{{\n    int k = 1;\n    {statement}\n}}\n"
    assert {end.partition("#")[2] for _, end in edges_of("References", {path: text})} == named
