"""The Python client and the command line at a running server, on either backend."""

import asyncio
import json
import warnings
from collections.abc import Callable

import pytest
import typer
from typer.testing import CliRunner, Result

from groundwire.tokens import TokenCounter
from groundwire_cli.version_commands import activate, delete, indexes
from groundwire_client import (
    AccessContext,
    AsyncGroundwireClient,
    GroundwireClient,
    IndexScope,
    NotFoundError,
    Retriever,
    SearchType,
    UnknownValueWarning,
)
from groundwire_client.cli import register as register_client
from groundwire_pipelines.cli import register as register_pipelines
from support.program import Server
from support.storage import Storage

SCOPE = IndexScope(repository="shop", branch="texts")
MAIN = IndexScope(repository="shop", branch="main")
WHERE = ("-r", "shop", "-b", "texts")
TOTAL = "shop::texts::cs::Invoice.Total"
PAIR = "shop::main::cs::Invoice.Create", "shop::main::cs::Invoice.Total"
C_SHARP = {"language": "c_sharp"}


def printed_by(server: Server, *arguments: str) -> tuple[str, str]:
    """What a command that succeeds prints, and tells beside it."""
    commands = typer.Typer()
    register_client(commands)
    register_pipelines(commands)
    result = CliRunner().invoke(commands, [*arguments, *WHERE, "--server", server.address])
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def upkeep(server: Server, *arguments: str) -> Result:
    """How a command for versions ends at the server."""
    commands = typer.Typer()
    for command in (indexes, activate, delete):
        commands.command()(command)
    return CliRunner().invoke(commands, [*arguments, "--server", server.address])


def test_evidence_is_the_same_from_both_clients(server: Server) -> None:
    async def evidence() -> object:
        async with AsyncGroundwireClient(server.address, timeout=300) as client:
            return await client.evidence(SCOPE, "invoice total")

    with GroundwireClient(server.address, timeout=300) as client:
        evidence_of_client = client.evidence(SCOPE, "invoice total")
        narrowed = client.evidence(SCOPE, "invoice total", filter={"language": "csharp", "is_test": False})
        small = client.evidence(SCOPE, "invoice total", 200)
    assert asyncio.run(evidence()) == evidence_of_client
    best = evidence_of_client.texts[0]
    assert (evidence_of_client.scope.active_index, evidence_of_client.weak) == ("v1", "")
    assert (best.id, best.number, best.citation, best.is_match) == (TOTAL, 1, "src/Totals.cs", True)
    assert best.text == "decimal TotalOf(Invoice invoice) => invoice.Lines.Sum();"
    assert "src/InvoiceService.cs:3-9" in evidence_of_client.citations
    assert evidence_of_client.used_tokens == TokenCounter().count(evidence_of_client.rendered)
    assert {text.path for text in narrowed.texts} == {"src/InvoiceService.cs"}
    assert small.texts[0].id == TOTAL
    assert small.used_tokens <= 200


def test_evidence_of_a_scope_that_is_not_there(server: Server) -> None:
    with GroundwireClient(server.address, timeout=300) as client, pytest.raises(NotFoundError):
        client.evidence(IndexScope(repository="shop", branch="absent"), "invoice")


def test_the_names_of_an_index_are_those_that_the_caller_sees(server: Server) -> None:
    with GroundwireClient(server.address, timeout=300) as client:
        public = client.get_index(MAIN)
        finance = client.get_index(MAIN, access=AccessContext(acl_tags_any=["finance"]))
    assert list(public.kinds) == ["cs", "sql"]
    assert list(public.languages) == ["csharp", "tsql"]
    assert list(public.edge_types) == list(finance.edge_types) == ["Calls", "Executes", "WritesTo"]
    assert list(public.folders) == ["db/", "src/"]
    assert list(finance.folders) == ["db/", "src/"]


def test_a_kind_and_its_language_mean_the_same_in_a_filter(server: Server) -> None:
    with GroundwireClient(server.address, timeout=300) as client:
        ids_by_filter = [
            [match.id for match in client.query(SCOPE, "invoice", filter=narrowing).matches]
            for narrowing in ({"kind": "cs"}, {"kind": "csharp"}, {"language": "csharp"}, {"language": "cs"})
        ]
    assert ids_by_filter[0]
    assert ids_by_filter[1:] == [ids_by_filter[0]] * 3


def test_a_path_that_leads_nowhere_is_told(server: Server) -> None:
    warning = "no active node has a path that begins with 'srx/'; did you mean 'src/'? There are: db/, src/"
    with GroundwireClient(server.address, timeout=300) as client:
        with pytest.warns(UnknownValueWarning) as warned:
            client.query(MAIN, "invoice", retrievers=[Retriever.RETRIEVER_BM25_CODE], filter={"path_prefix": "srx/"})
        assert [str(warned_of.message) for warned_of in warned] == [warning]


def test_python_warns_of_unknown_values_where_nothing_is_found(server: Server) -> None:
    message = "no active node has the language 'c_sharp'; did you mean 'csharp'? There are: csharp, tsql"
    calls: list[Callable[[GroundwireClient], object]] = [
        lambda client: client.search(MAIN, "invoice", search_type=SearchType.SEARCH_TYPE_BM25, filter=C_SHARP),
        lambda client: client.query(MAIN, "invoice", retrievers=[Retriever.RETRIEVER_BM25_CODE], filter=C_SHARP),
        lambda client: client.fetch(MAIN, ["shop::main::cs::Invoice.Create"], filter=C_SHARP),
        lambda client: client.expand(MAIN, ["shop::main::cs::Invoice.Create"], filter=C_SHARP),
        lambda client: client.find_paths(MAIN, [PAIR[0]], [PAIR[1]], filter=C_SHARP),
    ]
    with GroundwireClient(server.address, timeout=300) as client:
        for call in calls:
            with pytest.warns(UnknownValueWarning) as warned:
                call(client)
            assert [(str(warned_of.message), warned_of.filename) for warned_of in warned] == [(message, __file__)]
        with pytest.warns(UnknownValueWarning, match="no edge between active nodes has the type 'Call'"):
            client.expand(MAIN, [PAIR[0]], edge_allowlist=["Call"])

    async def searched() -> None:
        async with AsyncGroundwireClient(server.address, timeout=300) as asynchronous:
            await asynchronous.search(MAIN, "invoice", search_type=SearchType.SEARCH_TYPE_BM25, filter=C_SHARP)

    with pytest.warns(UnknownValueWarning, match="did you mean 'csharp'"):
        asyncio.run(searched())


def test_nothing_is_asked_of_values_where_something_is_found(server: Server) -> None:
    with GroundwireClient(server.address, timeout=300) as client, warnings.catch_warnings(action="error"):
        client.search(MAIN, "invoice", search_type=SearchType.SEARCH_TYPE_BM25, filter={"kind": ["cs", "csharp"]})
    with (
        GroundwireClient(server.address, timeout=300, check_values=False) as client,
        warnings.catch_warnings(action="error"),
    ):
        client.search(MAIN, "invoice", search_type=SearchType.SEARCH_TYPE_BM25, filter=C_SHARP)


def test_a_search_prints_path_and_lines(server: Server) -> None:
    output, notes = printed_by(server, "search", "CreateInvoice", "--type", "bm25")
    assert "src/InvoiceService.cs:3-9\n" in output
    assert notes == ""
    hit = json.loads(printed_by(server, "search", "CreateInvoice", "--type", "bm25", "--json")[0])["hits"][0]
    assert {key: hit["location"][key] for key in ("path", "start_line", "end_line")} == {
        "path": "src/InvoiceService.cs",
        "start_line": 3,
        "end_line": 9,
    }


def test_names_that_an_index_does_not_have_are_told(server: Server) -> None:
    _, notes = printed_by(server, "query", "invoice", "--kind", "csx", "--kind", "sql", "--language", "CSharp")
    assert notes.splitlines() == [
        "note: no active node has the kind 'csx'; did you mean 'cs'? There are: cs, sql",
        "note: no active node has the language 'CSharp'; did you mean 'csharp'? There are: csharp, tsql",
    ]
    output, notes = printed_by(server, "run", "quick_evidence", "invoice", "--kind", "sq", "--kind", "sql")
    assert "db/Invoice_Create.sql" in output
    assert "note: no active node has the kind 'sq'; did you mean 'sql'? There are: cs, sql\n" in notes
    edges = ("--edge-type", "Call", "--edge-type", "executes", "--edge-type", "Nothing")
    assert printed_by(server, "expand", TOTAL, *edges)[1].splitlines() == [
        "note: no edge between active nodes has the type 'Call'; did you mean 'Calls'? "
        "There are: Calls, Executes, WritesTo",
        "note: no edge between active nodes has the type 'Nothing'. There are: Calls, Executes, WritesTo",
    ]


def test_versions_are_listed_activated_and_deleted_at_a_server(server: Server, shop: Storage) -> None:
    in_storage = json.loads(shop.run_ok("indexes", "--json"))
    listed = json.loads(upkeep(server, "indexes", "--json").stdout)
    assert [entry["version"] for entry in listed] == ["old", "v1", "v1"], "of the vault nothing is public"
    assert listed[0].keys() == in_storage[0].keys()
    assert [entry["created"] for entry in listed] == [
        entry["created"] for entry in in_storage if entry["branch"] != "vault"
    ]
    cleared = json.loads(upkeep(server, "indexes", "--json", "--acl-tag", "vault").stdout)
    assert [entry["branch"] for entry in cleared] == ["main", "main", "texts", "vault"]
    where = ("-r", "shop", "-b", "main")
    assert upkeep(server, "activate", "old", *where).stdout == "old is active; before it was v1\n"
    assert upkeep(server, "activate", "v1", *where).stdout == "v1 is active; before it was old\n"
    refused = upkeep(server, "delete", "v1", *where)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith("error: INDEX_ACTIVE: ")


def test_administration_needs_the_operators_leave(platform_server: Server) -> None:
    for command in ("activate", "delete"):
        refused = upkeep(platform_server, command, "v0", "-r", "platform", "-b", "main")
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert refused.stderr.startswith("error: ADMINISTRATION_DISABLED: ")
