"""Every place of an answer has the link that the template of its index makes; without one the answer is as before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import grpc
import pytest
from google.protobuf.message import Message

from groundwire.v1 import index_pb2, index_pb2_grpc
from groundwire_client import AccessContext, GroundwireClient, IndexScope, SearchType, SourceLocation
from support.conversions import NOW
from support.jsonl import edge, node
from support.program import Server, write_jsonl
from support.storage import NewStorage, Storage

GITHUB = "https://git.example/web/blob/main/{path}#L{start_line}-L{end_line}"
AZURE = "https://dev.example/api/_git/api?path=/{path}&line={start_line}&lineEnd={end_line}&lineStyle=plain"
WEB, API, BARE = (IndexScope(repository=name, branch="main") for name in ("web", "api", "bare"))

PATHS = (
    "src/invoice.py",
    'src/a"><script>alert(1)</script>.py',
    "src/' onmouseover='alert(1).py",
    "src/with space #1?x=y&z.py",
    "src/100%41.py",
    "src/größe/日本.py",
    "src/back\\slash.py",
    "src/new\nline.py",
    "javascript:alert(1)",
    "//evil.example/x.py",
    "../../evil/x.py",
    "src/./x.py",
    "src/{start_line}.py",
    "",
)

UNNUMBERED = "docs/all of it.md"
"""The path of a node without lines."""


def records(path_of: Sequence[str]) -> list[dict[str, object]]:
    """A node for each path, one without lines, one that contains the first, and edges from each to the next."""
    nodes = [
        node(f"Invoice{number}", f"def invoice_{number}(order):\n    return total(order)\n", [1.0, number / 9, 0, 0],
             kind="py", path=path, start_line=10, end_line=11, symbol=f"invoice_{number}")
        for number, path in enumerate(path_of)
    ]  # fmt: skip
    others = [
        node("Overview", "invoice overview of all totals", [0.9, 0.0, 0.1, 0.0], kind="py", path=UNNUMBERED),
        node("Module", "module invoice total", [0.8, 0.1, 0.1, 0.0], kind="py", path=path_of[0], symbol="module",
             start_line=1, end_line=40),
        node("Margin", "secret invoice margin", [1.0, 0.0, 0.0, 0.0], kind="py", path="src/margin.py",
             start_line=1, end_line=1, acl_tags=["finance"]),
    ]  # fmt: skip
    calls = [edge(f"py::Invoice{number}", f"py::Invoice{number + 1}", "Calls") for number in range(len(path_of) - 1)]
    return [*nodes, *others, *calls, edge("py::Module", "py::Invoice0", "Contains")]


@pytest.fixture(scope="module")
def storage(new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory) -> Storage:
    """`web main` with links, and a version of the same records without them; `api main` with others; `bare main`."""
    folder = tmp_path_factory.mktemp("links")
    storage = new_storage(folder / "data")
    source = write_jsonl(folder / "records.jsonl", records(PATHS))
    for repository, version, template in (
        ("web", "unlinked", "auto"),
        ("web", "linked", GITHUB),
        ("api", "v1", AZURE),
        ("bare", "v1", "auto"),
    ):
        names = ("--repository", repository, "--branch", "main", "--version", version)
        storage.run_ok("index", source, *names, "--embedder", "none", "--link-template", template)
    return storage


@pytest.fixture(scope="module")
def server(storage: Storage) -> Iterator[Server]:
    with storage.server("--embedder", "none") as server:
        yield server


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[GroundwireClient]:
    with GroundwireClient(server.address, timeout=300) as client:
        yield client


def link(repository: str, path: str, first: int, last: int) -> str:
    """The oracle: what stands for the path and the lines at the two hosts."""
    if {"", ".", ".."} & set(path.split("/")) or repository == "bare":
        return ""
    if repository == "web":
        return f"https://git.example/web/blob/main/{quote(path)}" + (f"#L{first}-L{last}" if first else "")
    lines = f"&line={first}&lineEnd={last}" if first else ""
    return f"https://dev.example/api/_git/api?path=/{quote(path)}{lines}&lineStyle=plain"


@dataclass(frozen=True)
class Place:
    """A location of a response, and the id of the node that it is of."""

    node_id: str
    location: SourceLocation


def places(message: Message, node_id: str = "") -> list[Place]:
    """All locations of a message."""
    if isinstance(message, SourceLocation):
        return [Place(node_id, message)]
    all_places: list[Place] = []
    node_id = getattr(message, "id", "") or node_id
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else [value]:
                all_places += places(part, node_id)
    return all_places


def answers(client: GroundwireClient, scope: IndexScope | Sequence[IndexScope]) -> dict[str, Message]:
    """The answer of each method that tells places."""
    repositories = [scope.repository] if isinstance(scope, IndexScope) else [each.repository for each in scope]
    ids = [f"{repository}::main::py::Invoice{number}" for repository in repositories for number in range(len(PATHS))]
    vector = [1.0, 0.2, 0.1, 0.0]
    return {
        "search": client.search(scope, "invoice total", search_type=SearchType.SEARCH_TYPE_BM25, top_k=100),
        "resolve": client.resolve_nodes(scope, [f"invoice_{number}" for number in range(len(PATHS))]),
        "expand": client.expand(scope, ids[:1], max_depth=16, max_nodes=100),
        "paths": client.find_paths(scope, ids[:1], ids[5:6], max_hops=8),
        "fetch": client.fetch(scope, seed_ids=ids, budget_tokens=10_000),
        "query": client.query(scope, "invoice total", top_k=100, include_parents=True, query_vector=vector, now=NOW),
        "evidence": client.evidence(scope, "invoice total", 4_000, query_vector=vector, now=NOW).response,
    }


def test_every_place_has_its_link(client: GroundwireClient) -> None:
    for scope in (WEB, API):
        for name, answer in answers(client, scope).items():
            shown_places = places(answer)
            assert shown_places, name
            for place in shown_places:
                at = place.location
                assert at.url == link(scope.repository, at.path, at.start_line, at.end_line), name
                assert at.url == "" or at.url.startswith(("https://git.example/web/", "https://dev.example/api/"))
            assert {at.location.url == "" for at in shown_places} == {True, False} or name == "paths"


def test_several_indexes_make_their_own_links(client: GroundwireClient) -> None:
    for name, answer in answers(client, [WEB, API, BARE]).items():
        shown_places = places(answer)
        for place in shown_places:
            repository, at = place.node_id.partition("::")[0], place.location
            assert at.url == link(repository, at.path, at.start_line, at.end_line), name
        if name not in ("expand", "paths", "evidence"):  # which stay in one repository, or show equal texts once
            assert {place.node_id.partition("::")[0] for place in shown_places} == {"web", "api", "bare"}


def without_links(message: Message) -> Message:
    """The same message without its links, and without what tells its version and its time."""
    for place in places(message):
        place.location.ClearField("url")
    for field, value in message.ListFields():
        if field.name in ("index", "scope", "scopes"):
            message.ClearField(field.name)
        elif field.name == "meta":
            value.ClearField("took_ms")
        elif field.name in ("passages", "named"):
            for part in value:
                part.ClearField("scope")
    return message


def test_links_change_nothing_else(client: GroundwireClient) -> None:
    unlinked = IndexScope(repository="web", branch="main", active_index="unlinked")
    bare, linked = answers(client, unlinked), answers(client, WEB)
    for name, answer in bare.items():
        assert all(place.location.url == "" for place in places(answer)), name
        assert without_links(answer).SerializeToString() == without_links(linked[name]).SerializeToString(), name


def test_hidden_nodes_have_no_influence_on_links(client: GroundwireClient) -> None:
    finance = AccessContext(acl_tags_any=["finance"])
    public, privileged = (client.fetch(WEB, seed_ids=["web::main::py::Margin"], budget_tokens=100, access=access)
                          for access in (None, finance))  # fmt: skip
    assert places(public) == []
    assert [place.location.url for place in places(privileged)] == [link("web", "src/margin.py", 1, 1)]


def test_an_index_tells_its_template(server: Server, client: GroundwireClient) -> None:
    listed = {(index.repository, index.version): index.link_template for index in client.list_indexes().indexes}
    assert listed == {("web", "unlinked"): "", ("web", "linked"): GITHUB, ("api", "v1"): AZURE, ("bare", "v1"): ""}
    with grpc.insecure_channel(server.address) as channel:
        described = index_pb2_grpc.IndexServiceStub(channel).GetIndex(index_pb2.GetIndexRequest(scope=API))
    assert described.index.link_template == AZURE


@pytest.fixture(scope="module")
def of_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GroundwireClient]:
    """A client of a server over `web main` and `bare main` in a data folder, whose lines can be searched."""
    folder = tmp_path_factory.mktemp("lines")
    storage = Storage(folder / "data")
    source = write_jsonl(folder / "records.jsonl", records(PATHS))
    for repository, template in (("web", GITHUB), ("bare", "none")):
        names = ("--repository", repository, "--branch", "main", "--version", "v1", "--link-template", template)
        storage.run_ok("index", source, *names, "--embedder", "none")
    with storage.server("--embedder", "none") as server, GroundwireClient(server.address, timeout=300) as client:
        yield client


def test_matching_lines_and_their_files_have_links(of_folder: GroundwireClient) -> None:
    for scope in (WEB, BARE):
        response = of_folder.search_text(scope, "total", max_matches=100)
        assert {match.path for match in response.matches} >= set(PATHS[:8])
        for match in response.matches:
            lines = (match.line, match.end_line) if match.path != UNNUMBERED else (0, 0)
            assert match.url == link(scope.repository, match.path, *lines)
        assert [file.url for file in response.files] == [
            link(scope.repository, file.path, 0, 0) for file in response.files
        ]
    several = of_folder.search_text([WEB, BARE], "total", max_matches=100)
    assert {(match.scope.repository, match.url != "") for match in several.matches if match.path == PATHS[0]} == {
        ("web", True),
        ("bare", False),
    }


def test_a_match_of_several_lines_links_to_all_of_them(of_folder: GroundwireClient) -> None:
    response = of_folder.search_text(
        WEB, r"def invoice_0\(order\):\n +return", regex=True, multiline=True, max_matches=9
    )
    assert [match.url for match in response.matches] == [link("web", PATHS[0], 10, 11)]


def test_a_line_that_is_counted_within_its_text_links_to_the_file(of_folder: GroundwireClient) -> None:
    response = of_folder.search_text(WEB, "overview of all", max_matches=9)
    assert [(match.path, match.line, match.url) for match in response.matches] == [
        ("docs/all of it.md", 1, "https://git.example/web/blob/main/docs/all%20of%20it.md")
    ]


def test_the_path_of_a_source_tree_is_that_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / "shop" / "src" / "my app").mkdir(parents=True)
    (tmp_path / "shop" / "src" / "my app" / "tax #1.py").write_text("def rate():\n    return 19\n")
    storage = Storage(tmp_path / "data")
    names = ("--repository", "web", "--branch", "main", "--embedder", "none")
    storage.run_ok("index", tmp_path / "shop", *names, "--link-template", GITHUB)
    with storage.server("--embedder", "none") as server, GroundwireClient(server.address, timeout=300) as client:
        (name,) = client.resolve_nodes(WEB, ["rate"]).names
    assert [each.location.url for each in name.nodes] == [
        "https://git.example/web/blob/main/src/my%20app/tax%20%231.py#L1-L2"
    ]
