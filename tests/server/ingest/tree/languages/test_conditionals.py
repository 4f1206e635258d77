"""Conditions of a preprocessor whose branches hold halves of statements."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis
from groundwire_ingest.tree.languages.conditionals import MAX_NESTED, one_branch

Analyser = Callable[[str, str], CodeAnalysis]

C = """\
int run(int a)
{
%s
        go(a);
    }
    return a;
}

int next(int a)
{
    return run(a);
}
"""
CSHARP = """\
class Runner
{
    int Run(int a)
    {
%s
            Go(a);
        }
        return a;
    }

    int Next(int a)
    {
        return Run(a + 1);
    }
}
"""
SPLIT = [
    "#ifdef A\n    if (a) {\n#else\n    if (a > 1) {\n#endif",
    "#if A\n    if (a) {\n#elif B\n    if (a > 1) {\n#else\n    {\n#endif",
    "#if 0\n    while (a) {\n#else\n    if (a) {\n#endif",
    "    if (\n#if A\n    a) {\n#else\n    !a) {\n#endif",
    "#if A\n#if B\n    if (a) {\n#else\n    if (a > 2) {\n#endif\n#else\n    if (a > 1) {\n#endif",
]


@pytest.mark.parametrize("split", SPLIT)
@pytest.mark.parametrize(
    ("path", "code", "symbols"), [("a.c", C, {"run", "next"}), ("A.cs", CSHARP, {"Runner.Run", "Runner.Next"})]
)
def test_what_is_around_a_split_statement_is_read(
    analyse: Analyser, path: str, code: str, symbols: set[str], split: str
) -> None:
    analysis = analyse(path, code % split)
    assert analysis.file.skipped == ()
    assert symbols <= {node.symbol for node in analysis.file.nodes}
    text = "\n".join(node.text for node in analysis.file.nodes)
    assert all(line in text for line in split.splitlines())


def test_only_uneven_branches_are_left_out() -> None:
    whole = b"#if A\nint a(void) { return 1; }\n#else\nint b(void) { return '{'; } // {\n#endif\n"
    assert one_branch(whole) == whole
    uneven = b"#if A\nif (a) {\n#else\nif (b) {\n#endif\n}\n"
    assert one_branch(uneven) == b"     \nif (a) {\n     \n        \n      \n}\n"
    both = b"#if A\ndo {\n#endif\nx();\n#if A\n} while (0);\n#endif\n"
    assert one_branch(both) == b"     \ndo {\n      \nx();\n     \n} while (0);\n      \n"


def test_lines_and_length_stay_and_nonsense_is_left_alone() -> None:
    for source in (b"#endif\n", b"#else\n#endif\n{", b"#if A\n{", b"#if\n" * (MAX_NESTED + 1) + b"{\n"):
        assert one_branch(source) == source
    crlf = b"#if A\r\n{\r\n#endif\r\n"
    assert [len(line) for line in one_branch(crlf).split(b"\n")] == [len(line) for line in crlf.split(b"\n")]
