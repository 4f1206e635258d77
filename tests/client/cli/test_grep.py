"""`grep`: what is asked, and the lines that are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundwire.v1 import retrieval_pb2, scope_pb2

if TYPE_CHECKING:
    from client.cli.conftest import Run
    from client.conftest import FakeServer

SCOPE = scope_pb2.IndexScope(repository="shop", branch="main")
MATCH = retrieval_pb2.LineMatch(
    path="src/Tax.cs", line=3, end_line=4, column=5, length=9, text="int rate = \x1b[31m", text_column=1,
    before=["{"], after=["}"], node_id="shop::main::cs::Tax",
)  # fmt: skip


def test_every_option_reaches_the_server(server: FakeServer, run: Run) -> None:
    server.answer(retrieval_pb2.SearchTextResponse(index="v1", complete=True))
    done = run(
        "grep", "ra.e", "-e", "-i", "-w", "-U", "-m", "7", "-C", "2", "--language", "csharp", "--path", "./src/"
    )  # fmt: skip
    assert done.code == 0, done.stderr
    (request,) = [sent for sent in server.actions if isinstance(sent, retrieval_pb2.SearchTextRequest)]
    assert request == retrieval_pb2.SearchTextRequest(
        scope=SCOPE,
        filter=scope_pb2.NodeFilter(languages=["csharp"], path_prefixes=["src/"]),
        pattern="ra.e",
        regex=True,
        ignore_case=True,
        whole_words=True,
        multiline=True,
        max_matches=7,
        context_lines=2,
    )
    assert "nothing matches" in done.stdout


def test_lines_are_printed_as_editors_read_them(server: FakeServer, run: Run) -> None:
    server.answer(retrieval_pb2.SearchTextResponse(matches=[MATCH], line_count=9, file_count=2, index="v1"))
    assert run("grep", "rate").stdout == (
        "src/Tax.cs-2-{\n"
        "src/Tax.cs:3:5:int rate = \N{SYMBOL FOR ESCAPE}[31m\n"
        "src/Tax.cs-5-}\n"
        "lines: 9; files: 2; index: v1; shown are the first 1; --max-matches shows more\n"
    )


def test_a_line_whose_beginning_was_cut_says_so(server: FakeServer, run: Run) -> None:
    cut = retrieval_pb2.LineMatch(
        path="a.txt", line=1, end_line=1, column=701, length=3, text="x tax y", text_column=601
    )
    server.answer(
        retrieval_pb2.SearchTextResponse(matches=[cut], line_count=1, file_count=1, complete=True, index="v1")
    )
    assert run("grep", "tax").stdout.startswith("a.txt:1:701:…x tax y\n")


def test_ids_are_those_of_the_nodes_that_hold_the_lines(server: FakeServer, run: Run) -> None:
    server.answer(retrieval_pb2.SearchTextResponse(matches=[MATCH, MATCH], line_count=2, file_count=1, index="v1"))
    assert run("grep", "rate", "--ids").stdout == "shop::main::cs::Tax\n"
