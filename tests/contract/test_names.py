"""Names instead of ids: what a text names, and which candidates an ambiguous one has, over the wire and in clients."""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

import grpc
import pytest
from typer.testing import CliRunner, Result

from groundwire.v1 import retrieval_pb2 as messages
from groundwire.v1 import retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import LIFECYCLE_ALL, AccessContext, IndexScope, NodeFilter
from groundwire_client import AsyncGroundwireClient, GroundwireClient, NameResolutionError
from groundwire_client.cli import app
from support.jsonl import edge, node
from support.program import Server, write_jsonl
from support.refusals import DENIED, INVALID, NOT_FOUND, Row, check_refused, with_fields
from support.storage import NewStorage

SCOPE = IndexScope(repository="names", branch="main")
Retrieval = retrieval_pb2_grpc.RetrievalServiceStub
Match = messages.NameMatch


def _declared(
    name: str, symbol: str, path: str, first: int, last: int, signature: str = "", **more: object
) -> dict[str, object]:
    record = node(
        name, "text", [], path=path, start_line=first, end_line=last, symbol=symbol, signature=signature, **more
    )
    return {key: value for key, value in record.items() if key != "vector"}


RECORDS = [
    _declared("Item.new", "Shop.TodoItem.TodoItem", "src/todo.cs", 7, 8, "public TodoItem()"),
    _declared("Item", "Shop.TodoItem", "src/todo.cs", 2, 9, "public class TodoItem"),
    _declared("Done", "Shop.TodoItem.Done", "src/todo.cs", 3, 5, "public void Done()"),
    _declared("Done~2", "Shop.TodoItem.Done", "src/todo.cs", 6, 6, "public void Done(int id)"),
    _declared("Undo", "Shop.TodoItem.Undo(System.Int32)", "src/todo.cs", 6, 6, "public void Undo(int id)"),
    _declared("View", "Shop.Views.Order", "src/views/todo.cs", 1, 4, "class Order"),
    _declared("Model", "Shop.Models.Order", "src/models/order.cs", 1, 4, "class Order"),
    _declared("Hidden", "Shop.Hidden.Invoice", "src/hidden/tax.cs", 1, 9, "class Invoice", acl_tags=["finance"]),
    _declared("Invoice", "Shop.Invoice", "src/tax.cs", 1, 9, "class Invoice"),
    _declared("orders|TABLE", "dbo.orders", "db/schema.sql", 1, 4, "CREATE TABLE dbo.orders (id INT)", kind="sql"),
    _declared("orders|PROC", "jobs.orders", "db/schema.sql", 6, 9, "CREATE PROCEDURE jobs.orders", kind="sql"),
    _declared("guide", "Guide > Install", "docs/guide.md", 1, 9, kind="md"),
    edge("cs::Done", "sql::orders|TABLE", "WritesTo", line=4),
    edge("cs::Item", "cs::Done", "Contains"),
]


@pytest.fixture(scope="module")
def server(new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("names")
    storage = new_storage(folder / "data")
    records = write_jsonl(folder / "names.jsonl", RECORDS)
    more = write_jsonl(folder / "more.jsonl", [_declared("Invoice", "Shop.Invoice", "src/tax.cs", 1, 9)])
    for name, source in (("names", records), ("more", more)):
        storage.run_ok("index", source, "-r", name, "-b", "main", "--version", "v1", "--embedder", "none")
    with storage.server("--embedder", "none") as server:
        yield server


@pytest.fixture(scope="module")
def named(server: Server) -> Iterator[Retrieval]:
    with grpc.insecure_channel(server.address) as channel:
        yield retrieval_pb2_grpc.RetrievalServiceStub(channel)


def request(**fields: object) -> messages.ResolveNodesRequest:
    return with_fields(messages.ResolveNodesRequest(scope=SCOPE, names=["Order"], max_nodes=10), fields)


def _resolved(stub: Retrieval, *names: str, **fields: object) -> messages.ResolveNodesResponse:
    return stub.ResolveNodes(request(**{"names": names, **fields}), timeout=300)


def _found(stub: Retrieval, name: str, **fields: object) -> messages.ResolvedName:
    (resolved_name,) = _resolved(stub, name, **fields).names
    return resolved_name


def _local_ids(nodes: Iterable[messages.ResolvedNode]) -> list[str]:
    return [node.id.split("::")[3] for node in nodes]


@pytest.mark.parametrize(
    ("name", "ids", "match"),
    [
        ("names::main::cs::Item", "Item", Match.NAME_MATCH_ID),
        ("src/todo.cs:4", "Done", Match.NAME_MATCH_PLACE),
        ("./src/todo.cs:9", "Item", Match.NAME_MATCH_PLACE),
        ("src/todo.cs:2-9", "Item", Match.NAME_MATCH_PLACE),
        ("src/todo.cs:3-6", "Item", Match.NAME_MATCH_PLACE),
        ("src/todo.cs:6", "Done~2 Undo", Match.NAME_MATCH_PLACE),
        ("src/todo.cs", "Item", Match.NAME_MATCH_PLACE),
        ("db/schema.sql", "orders|PROC orders|TABLE", Match.NAME_MATCH_PLACE),
        ("order.cs:2", "Model", Match.NAME_MATCH_PLACE),
        ("src/todo.cs:99", "", Match.NAME_MATCH_UNSPECIFIED),
        (" Shop.TodoItem.Done ", "Done Done~2", Match.NAME_MATCH_SYMBOL),
        ("Shop.TodoItem.Undo", "Undo", Match.NAME_MATCH_SYMBOL),
        ("Shop::TodoItem#Undo()", "Undo", Match.NAME_MATCH_SYMBOL),
        ("TodoItem.Done", "Done Done~2", Match.NAME_MATCH_SYMBOL_END),
        ("TodoItem", "Item", Match.NAME_MATCH_SYMBOL_END),
        ("todoitem", "Item", Match.NAME_MATCH_FOLDED),
        ("TodoItem.TodoItem", "Item.new", Match.NAME_MATCH_SYMBOL_END),
        ("Install", "guide", Match.NAME_MATCH_SYMBOL_END),
        ("todoitem.done", "Done Done~2", Match.NAME_MATCH_FOLDED),
        ("orders table", "orders|TABLE", Match.NAME_MATCH_SIGNATURE),
        ("the orders table", "orders|TABLE", Match.NAME_MATCH_SIGNATURE),
        ("the TodoItem", "Item", Match.NAME_MATCH_SIGNATURE),
        ("the", "", Match.NAME_MATCH_UNSPECIFIED),
        ("the class TodoItem", "Item", Match.NAME_MATCH_SIGNATURE),
        ("orders nowhere", "", Match.NAME_MATCH_UNSPECIFIED),
        ("Item.Done", "", Match.NAME_MATCH_UNSPECIFIED),
        ("TodoItm", "", Match.NAME_MATCH_UNSPECIFIED),
        ("()", "", Match.NAME_MATCH_UNSPECIFIED),
    ],
)
def test_a_name_is_read_as_id_place_or_symbol(
    name: str, ids: str, match: messages.NameMatch.ValueType, named: Retrieval
) -> None:
    resolved = _found(named, name)
    assert _local_ids(resolved.nodes) == ids.split()
    assert (resolved.name, resolved.match, resolved.ambiguous, resolved.node_count) == (
        name,
        match,
        False,
        len(ids.split()),
    )


@pytest.mark.parametrize(("name", "ids"), [("Order", "Model View"), ("todo.cs:3", "Done View")])
def test_an_ambiguous_name_has_its_candidates(name: str, ids: str, named: Retrieval) -> None:
    resolved = _found(named, name)
    assert resolved.ambiguous
    assert _local_ids(resolved.nodes) == ids.split()
    narrowed = _found(named, name, filter=NodeFilter(path_prefixes=["src/views/"]))
    assert (narrowed.ambiguous, [node.id for node in narrowed.nodes]) == (False, ["names::main::cs::View"])


def test_a_candidate_says_what_it_is_and_where(named: Retrieval) -> None:
    (node, _) = _found(named, "Order").nodes
    assert (node.kind, node.symbol, node.signature) == ("cs", "Shop.Models.Order", "class Order")
    assert (node.citation, node.location.start_line) == ("src/models/order.cs:1-4", 1)


def test_a_hidden_node_is_no_candidate_and_makes_no_name_ambiguous(named: Retrieval) -> None:
    public, finance = (_found(named, "tax.cs:1", access=AccessContext(acl_tags_any=tags)) for tags in ([], ["finance"]))
    assert [node.id for node in public.nodes] == ["names::main::cs::Invoice"]
    assert not public.ambiguous
    assert finance.ambiguous
    assert not _found(named, "names::main::cs::Hidden").nodes
    assert not _found(named, "Hidden.Invoice").nodes


@pytest.mark.parametrize(
    ("name", "is_exact"),
    [
        ("names::main::cs::Item", True),
        ("src/todo.cs:4", True),
        ("Shop::TodoItem.Undo", True),
        ("TodoItem", False),
        ("order.cs:2", False),
        ("shop.todoitem", False),
        ("orders table", False),
        ("TodoItm", False),
    ],
)
def test_only_a_whole_id_path_or_symbol_is_exact(name: str, is_exact: bool, named: Retrieval) -> None:
    assert _found(named, name).exact is is_exact


def test_names_are_answered_in_their_order_from_one_version(named: Retrieval) -> None:
    response = _resolved(named, "Order", "TodoItem", "nothing", "TodoItem", max_nodes=1)
    assert (response.index, [name.name for name in response.names]) == (
        "v1",
        ["Order", "TodoItem", "nothing", "TodoItem"],
    )
    order, item, nothing, again = response.names
    assert (order.node_count, len(order.nodes), order.ambiguous) == (2, 1, True)
    assert item == again
    assert not nothing.nodes


def test_a_name_that_means_nothing_is_not_searched_for(named: Retrieval) -> None:
    """Nodes of similar names are a hint beside it; words of texts and foreign ids find none."""
    unknown = _found(named, "TodoItm")
    assert (unknown.match, list(unknown.nodes)) == (Match.NAME_MATCH_UNSPECIFIED, [])
    assert _local_ids(unknown.similar)[0] == "Item"
    assert not _found(named, "text").nodes
    assert not _found(named, "other::main::cs::Item").nodes
    assert not _found(named, "TodoItem").similar


def test_a_hidden_node_is_no_similar_name(named: Retrieval) -> None:
    hint = _found(named, "Hidden.Invoic")
    assert "Hidden" not in _local_ids(hint.similar)
    finance = _found(named, "Hidden.Invoic", access=AccessContext(acl_tags_any=["finance"]))
    assert _local_ids(finance.similar)[0] == "Hidden"


def test_of_several_indexes_a_name_means_the_nodes_of_all(named: Retrieval) -> None:
    """Nodes of two repositories differ, whatever their symbols; each says where it is."""
    both = [IndexScope(repository=name, branch="main") for name in ("more", "names")]
    response = _resolved(named, "Shop.Invoice", "TodoItem", scope=None, scopes=both)
    invoice, item = response.names
    assert [node.id for node in invoice.nodes] == ["more::main::cs::Invoice", "names::main::cs::Invoice"]
    assert [node.scope for node in invoice.nodes] == list(response.scopes)
    assert (invoice.ambiguous, item.ambiguous, response.index) == (True, False, "")
    assert [scope.active_index for scope in response.scopes] == ["v1", "v1"]


REFUSED = [
    Row("no name", request(names=None), INVALID, "FIELD_REQUIRED", "names"),
    Row("a blank name", request(names=["a", " "]), INVALID, "FIELD_REQUIRED", "names[1]"),
    Row("a long name", request(names=["a" * 2_049]), INVALID, "VALUE_OUT_OF_RANGE", "names[0]"),
    Row("too many names", request(names=["a"] * 101), INVALID, "VALUE_OUT_OF_RANGE", "names"),
    Row("no nodes", request(max_nodes=0), INVALID, "FIELD_REQUIRED", "max_nodes"),
    Row("too many nodes", request(max_nodes=201), INVALID, "VALUE_OUT_OF_RANGE", "max_nodes"),
    Row("no scope", request(scope=None), INVALID, "FIELD_REQUIRED", "scope"),
    Row("an absent scope", request(scope=IndexScope(repository="absent", branch="main")), NOT_FOUND, "SCOPE_NOT_FOUND"),
    Row("an absent version", request(scope=IndexScope(repository="names", branch="main", active_index="v0")),
        NOT_FOUND, "INDEX_NOT_FOUND"),
    Row("deleted nodes", request(lifecycle=LIFECYCLE_ALL), DENIED, "LIFECYCLE_NOT_GRANTED", "lifecycle"),
]  # fmt: skip


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.rule)
def test_what_is_refused(named: Retrieval, row: Row) -> None:
    check_refused(row, named.ResolveNodes)


def _asked(server: Server, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "-r", "names", "-b", "main", "--server", server.address])


def test_commands_take_names(server: Server) -> None:
    paths = _asked(server, "paths", "--from", "TodoItem.Done", "--to", "orders table").stdout.splitlines()
    assert paths[:5] == [
        "--from TodoItem.Done",
        "  src/todo.cs:3-5  Shop.TodoItem.Done  cs: public void Done()",
        "  src/todo.cs:6  Shop.TodoItem.Done  cs: public void Done(int id)",
        "--to orders table",
        "  db/schema.sql:1-4  dbo.orders  sql: CREATE TABLE dbo.orders (id INT)",
    ]
    assert "path 1: 1 hops, confidence 1" in paths
    assert "Shop.TodoItem.Done  src/todo.cs:3-5" in _asked(server, "expand", "TodoItem").stdout
    assert _asked(server, "fetch", "src/todo.cs:9", "names::main::cs::View", "--ids").stdout.split() == [
        "names::main::cs::Item",
        "names::main::cs::View",
    ]
    searched = _asked(server, "paths", "--from", "TodoItem.Done", "--to-search", "some text").stdout
    assert "--to-search some text\n" in searched
    unnamed = _asked(server, "paths", "--from", "TodoItem.Done", "--to", "some text")
    assert (unnamed.exit_code, unnamed.stdout) == (1, "")
    assert unnamed.stderr.startswith("error: 'some text' names no node: give a symbol")
    assert "--to-search" in _asked(server, "paths", "--from", "TodoItem.Done").stderr


def test_commands_list_candidates_and_similar_names(server: Server) -> None:
    ambiguous = _asked(server, "expand", "Order")
    assert (ambiguous.exit_code, ambiguous.stdout) == (1, "")
    assert ambiguous.stderr.splitlines() == [
        "error: 'Order' is ambiguous: give the place of one of these, more of its name, or a narrower filter",
        "  src/models/order.cs:1-4  Shop.Models.Order  cs: class Order",
        "  src/views/todo.cs:1-4  Shop.Views.Order  cs: class Order",
    ]
    unknown = _asked(server, "fetch", "TodoItm")
    assert (unknown.exit_code, unknown.stdout) == (1, "texts: 0; tokens: 0; index: v1\n")
    assert unknown.stderr.startswith("error: 'TodoItm' names no node: give a symbol such as")
    assert "  src/todo.cs:2-9  Shop.TodoItem  cs: public class TodoItem\n" in unknown.stderr


def test_clients_take_names_and_stay_at_one_version(server: Server) -> None:
    async def expanded() -> object:
        async with AsyncGroundwireClient(server.address, timeout=300) as client:
            return await client.expand(SCOPE, ["TodoItem"])

    with GroundwireClient(server.address, timeout=300) as client:
        (resolution,) = client.resolve(SCOPE, ["src/views/todo.cs:2"])
        walked = client.expand(SCOPE, ["TodoItem"])
        response = client.find_paths(SCOPE, ["Shop.TodoItem"], ["orders table"])
        fetched = client.fetch(SCOPE, ["Invoice", "names::main::cs::Absent"])
        with pytest.raises(NameResolutionError) as ambiguous:
            client.fetch(SCOPE, ["Order"], filter={"kind": "cs"})
        (narrowed,) = client.fetch(SCOPE, ["Order"], filter={"path_prefix": "src/views/"}).texts
    with GroundwireClient(server.address, timeout=300) as client:
        both = [IndexScope(repository=name, branch="main") for name in ("names", "more")]
        of_both = client.expand(both, ["TodoItem", "more::main::cs::Invoice"])
        with pytest.raises(NameResolutionError, match="names no node"):
            client.find_paths(SCOPE, ["Shop.TodoItem"], ["other::main::cs::Item of words"])
    assert list(of_both.seed_ids) == ["names::main::cs::Item", "more::main::cs::Invoice"]
    assert (resolution.ids, resolution.index) == (("names::main::cs::View",), "v1")
    assert asyncio.run(expanded()) == walked
    assert list(walked.seed_ids) == ["names::main::cs::Item"]
    assert [len(path.hops) for path in response.paths] == [2]
    assert [text.id for text in fetched.texts] == ["names::main::cs::Invoice"]
    assert [left.id for left in fetched.skipped] == ["names::main::cs::Absent"]
    assert [node.id for node in ambiguous.value.candidates] == ["names::main::cs::Model", "names::main::cs::View"]
    assert narrowed.id == "names::main::cs::View"
