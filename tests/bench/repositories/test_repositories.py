"""Tables of questions and relations, what answers a place, and the figures that follow."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import create_autospec

import pytest

import bench.repositories
from bench.repositories.baseline import LINES, bm25_ranking, chunks_of
from bench.repositories.commits import MOST_FILES, is_source
from bench.repositories.declarations import declares
from bench.repositories.figures import Evidence, Found, evidence_of, files_found_by, found_by
from bench.repositories.indexing import exported_nodes
from bench.repositories.places import Piece, answers, lies_in_file
from bench.repositories.relations import Reached, ahead_on_server, ids_of, measure_relations
from bench.repositories.report import BASELINE, SetFigures, grids
from bench.repositories.tables import (
    Change,
    Place,
    Question,
    Relation,
    Revision,
    TableError,
    read_changes,
    read_questions,
    read_relations,
    read_revision,
    read_tables,
)
from bench.repositories.wire import rankings
from bench.shared.programs import build_index, run
from groundwire_client import (
    ExpandDebug,
    ExpandDependencyTreeResponse,
    GroundwireClient,
    IndexScope,
    ReachedNode,
    SearchHit,
    SearchNodesResponse,
    SearchType,
)

SETS = Path(bench.repositories.__file__).with_name("sets")
BASKET, ORDER = Place("src/basket.py", "add"), Place("src/order.py", "Order")
QUESTION = Question("Who adds?", ((BASKET, Place("src/cart.py", "put")), (ORDER,)))
CHANGE = Change("Add to the basket twice", ("src/basket.py", "src/cart.py"))
ADD = Piece("src/basket.py", "Basket.add", "def add(self): ...")
OTHER = Piece("src/basket.py", "Basket.remove", "def remove(self): add()")
ORDERS = Piece("src/order.py", "Order", "class Order: ...")


def test_questions_have_places_and_places_have_alternatives(tmp_path: Path) -> None:
    table = tmp_path / "questions.tsv"
    table.write_text("1\tWho adds?\tsrc/basket.py#add|src/cart.py#put;src/order.py#Order\n\n2\tRead?\tREADME.md#\n")
    assert read_questions(table) == [QUESTION, Question("Read?", ((Place("README.md", ""),),))]
    assert QUESTION.primary == (BASKET, Place("src/cart.py", "put"))


def test_phrasings_belong_to_the_questions_of_their_order(tmp_path: Path) -> None:
    (tmp_path / "questions.tsv").write_text("1\tWho adds?\tsrc/basket.py#add|src/cart.py#put;src/order.py#Order\n")
    (tmp_path / "phrasings.tsv").write_text("1\tadd item to basket\tBasket.add\tput into the cart\n")
    (question,) = read_tables(tmp_path).questions
    assert question == replace(QUESTION, phrasings=("add item to basket", "Basket.add"))
    (tmp_path / "phrasings.tsv").write_text("1\ta\tb\tc\n2\ta\tb\tc\n")
    with pytest.raises(TableError, match="2 lines for 1 questions"):
        read_tables(tmp_path)


def test_relations_lead_from_one_place_to_another(tmp_path: Path) -> None:
    table = tmp_path / "relations.tsv"
    table.write_text("src/basket.py#add\tsrc/order.py#Order\tdirect call\twhen the basket is full\n")
    assert read_relations(table) == [Relation((BASKET,), (ORDER,), "direct call")]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is empty"),
        ("1\tWho adds?\n", "questions.tsv:1: 2 columns"),
        ("1\tWho adds?\ta#b\n2\tWho?\tbasket.py\n", "questions.tsv:2: 'basket.py' is no place"),
        ("1\tWho adds?\t#add\n", "questions.tsv:1: '#add' is no place"),
        ("1\tWho adds?\t ;\n", "questions.tsv:1: no place"),
    ],
)
def test_a_table_that_breaks_a_rule_is_refused_with_the_line(tmp_path: Path, content: str, problem: str) -> None:
    table = tmp_path / "questions.tsv"
    table.write_text(content)
    with pytest.raises(TableError, match=problem):
        read_questions(table)


def test_subjects_of_commits_have_files(tmp_path: Path) -> None:
    table = tmp_path / "commits.tsv"
    table.write_text("1\tAdd to the basket twice\tsrc/basket.py;src/cart.py\n")
    assert read_changes(table) == [CHANGE]
    table.write_text("1\tAdd to the basket twice\t;\n")
    with pytest.raises(TableError, match=r"commits\.tsv:1: no file"):
        read_changes(table)


def test_a_set_may_have_subjects_of_commits_alone(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"no questions\.tsv, relations\.tsv or commits\.tsv"):
        read_tables(tmp_path)
    (tmp_path / "commits.tsv").write_text("1\tAdd to the basket twice\tsrc/basket.py;src/cart.py\n")
    tables = read_tables(tmp_path)
    assert (tables.questions, tables.relations, tables.changes) == ([], [], [CHANGE])
    (tmp_path / "questions.tsv").write_text("1\tRead?\tREADME.md#\n")
    assert len(read_tables(tmp_path).questions) == 1


def test_a_revision_says_what_a_set_is_made_of(tmp_path: Path) -> None:
    file = tmp_path / "REVISION"
    file.write_text("shop/shop 12ab MIT\nsrc\n:(exclude)src/gen\n")
    assert read_revision(file) == Revision("shop/shop", "12ab", "MIT", ("src", ":(exclude)src/gen"))
    file.write_text("shop/shop 12ab MIT\n")
    assert read_revision(file).pathspecs == (".",)
    file.write_text("")
    with pytest.raises(TableError, match="REVISION:1: '': write repository, commit and licence"):
        read_revision(file)


@pytest.mark.parametrize(
    ("piece", "is_answer"),
    [
        (ADD, True),
        (Piece("shop/src/basket.py", "shop.Basket.add", ""), True),
        (Piece("other_src/basket.py", "Basket.add", ""), False),
        (Piece("src/order.py", "Order.add", ""), False),
        (OTHER, False),
        (Piece("src/basket.py", "Basket", "class Basket:\n    def add(self): ..."), True),
        (Piece("src/basket.py", "Basket.address", "def address(self): ..."), False),
        (Piece("src/cart.py", "put", ""), True),
    ],
)
def test_a_piece_answers_that_lies_in_the_file_and_is_or_declares_the_symbol(piece: Piece, is_answer: bool) -> None:
    assert answers(piece, QUESTION.primary) is is_answer


def test_every_piece_of_a_file_answers_the_file() -> None:
    assert answers(OTHER, (Place("basket.py", ""),))
    assert lies_in_file(OTHER, QUESTION.primary)
    assert not lies_in_file(ORDERS, QUESTION.primary)


@pytest.mark.parametrize("symbol", ["Shop.Basket<T>.Add", "Shop.Basket.Add(int, List<Shop.Item>)", "Basket.Add<T>"])
def test_type_parameters_and_arguments_are_no_part_of_a_name(symbol: str) -> None:
    assert answers(Piece("Basket.cs", symbol, ""), (Place("Basket.cs", "Add"),))


@pytest.mark.parametrize(
    ("path", "text", "is_declared"),
    [
        ("a.py", "    async def name(x):", True),
        ("a.py", "class name(Base):", True),
        ("a.py", "name: int = 3", True),
        ("a.py", "    name = Proxy()", True),
        ("a.py", "    name=3,", False),
        ("a.py", "    name: bool = True,", False),
        ("a.py", "    self.name = 3", False),
        ("a.py", "    return name(x)", False),
        ("A.cs", "    private static Key name(string id) => id;", True),
        ("A.cs", "    public Dictionary<string, int> name { get; set; }", True),
        ("A.cs", "    public async Task<T> name<T>(T value)", True),
        ("A.cs", "    public const int name = 3;", True),
        ("A.cs", "public sealed record name(int Id);", True),
        ("A.cs", "    public name(int id)", True),
        ("A.cs", "    return name(id);", False),
        ("A.cs", "    var x = await name(id);", False),
        ("A.cs", "    await name(id);", False),
        ("A.cs", "    Save(order, name(id));", False),
        ("A.cs", "    // see name(id)", False),
        ("A.cs", "using Shop.name;", False),
        ("a.ts", "export const name = 3", True),
        ("a.ts", "  function name() {", True),
        ("a.ts", "  name() {", True),
        ("a.ts", "  name<T>(id: number, then: (row: Row) => void): Promise<T> {", True),
        ("a.ts", "  name(\n    id: number,\n    deep = false,\n  ): Promise<Row> {", True),
        ("a.ts", "  private async name(id: number) {", True),
        ("a.ts", "  name(id: number): Row;", True),
        ("a.ts", "  name: (id: number) => Row;", True),
        ("a.ts", "  name(id);", False),
        ("a.ts", "  name(\n    id,\n  );", False),
        ("a.ts", "  name(id, () => {", False),
        ("a.ts", "  name(function () {", False),
        ("a.ts", "  if (name(id)) {", False),
        ("a.go", "func name(id int) error {", True),
        ("a.go", "func (s *Store) name(id int) error {", True),
        ("a.go", "func (*Store) name() {", True),
        ("a.go", "func name[T any](id T) {", True),
        ("a.go", "type name interface {", True),
        ("a.go", "\tname(ctx context.Context, id int) (*Row, error)", True),
        ("a.go", "\tname = 30 * time.Second", True),
        ("a.go", "\tname string = 3", True),
        ("a.go", "\t\tname = 3", False),
        ("a.go", "\tname(ctx, id)", False),
        ("a.go", "\treturn name(id)", False),
        ("a.go", "\tdefer name(id)", False),
        ("a.go", "\tgo name(id)", False),
        ("a.go", "\tif name {", False),
        ("a.go", "\tfor range name {", False),
        ("a.go", "\tif row := name(id); row != nil {", False),
        ("a.prisma", "model name {", True),
        ("a.sh", "name() {", True),
        ("a.sh", "name", False),
        ("a.proto", "  rpc name (Request) returns (Reply);", True),
        ("a.sql", "CREATE TABLE name (", True),
        ("a.sql", 'create table if not exists "name" (', True),
        ("a.sql", "CREATE UNIQUE INDEX `name` ON row (id);", True),
        ("a.sql", "CREATE INDEX row_id ON name (id);", False),
        ("a.sql", "INSERT INTO name (id)", False),
        ("a.sql", "  FOREIGN KEY (a) REFERENCES name (id)", False),
    ],
)
def test_a_declaration_is_told_by_the_look_of_its_line(path: str, text: str, is_declared: bool) -> None:
    assert declares(f"first line\n{text}\nlast line\n", path, "name") is is_declared


@pytest.mark.parametrize("folder", sorted(SETS.iterdir()), ids=lambda folder: folder.name)
def test_the_sets_of_this_repository_are_whole(folder: Path) -> None:
    revision, tables = read_revision(folder / "REVISION"), read_tables(folder)
    assert len(revision.commit) == 40
    assert revision.pathspecs != (".",)
    assert len(tables.changes) >= 20 or len(tables.questions) >= 20
    assert all(1 <= len(change.paths) <= MOST_FILES for change in tables.changes)
    assert all(is_source(path) for change in tables.changes for path in change.paths)
    if tables.questions:
        assert len(tables.questions) >= 20
        assert len(tables.relations) >= 40 or not tables.relations


def values(figures: Found) -> list[float]:
    return list(figures.values())


def test_the_figures_of_a_ranking() -> None:
    assert values(found_by([ADD, ORDERS], QUESTION)) == [1.0, 1.0, 1.0, 1.0, 1.0]
    assert values(found_by([OTHER, ORDERS, ADD], QUESTION)) == [1.0, 1.0, 1.0, 1 / 3, 1.0]
    assert values(found_by([ORDERS] * 5 + [ADD], QUESTION)) == [0.0, 0.0, 0.5, 1 / 6, 1.0]
    assert values(found_by([OTHER] * 10 + [ADD], QUESTION)) == [0.0, 1.0, 0.0, 0.0, 1.0]
    assert values(found_by([OTHER] * 50 + [ADD], QUESTION)) == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert values(found_by([], QUESTION)) == [0.0, 0.0, 0.0, 0.0, 0.0]


def test_the_figures_of_a_ranking_for_the_subject_of_a_commit() -> None:
    cart = Piece("src/cart.py", "Cart", "class Cart: ...")
    assert values(files_found_by([ADD, ORDERS], CHANGE)) == [1.0, 1.0, 1.0]
    assert values(files_found_by([ORDERS, cart], CHANGE)) == [1.0, 1.0, 0.5]
    assert values(files_found_by([ORDERS] * 5 + [cart], CHANGE)) == [0.0, 1.0, 1 / 6]
    assert values(files_found_by([ORDERS] * 10 + [ADD], CHANGE)) == [0.0, 1.0, 0.0]
    others = [Piece(f"src/{number}.py", "", "") for number in range(5)]
    assert values(files_found_by([*others, ADD], CHANGE)) == [0.0, 0.0, 1 / 6]
    assert values(files_found_by([Piece("shop/src/cart.py", "", "")], CHANGE)) == [0.0, 0.0, 0.0]
    assert values(files_found_by([], CHANGE)) == [0.0, 0.0, 0.0]


def test_the_figures_of_evidence() -> None:
    assert evidence_of([ORDERS], 12, 9, QUESTION) == Evidence(False, places_found=1, places=2, tokens=12, text_tokens=9)
    assert evidence_of([ORDERS, ADD], 12, 9, QUESTION) == Evidence(
        True, places_found=2, places=2, tokens=12, text_tokens=9
    )


def test_a_class_that_holds_a_method_does_not_stand_for_it() -> None:
    whole = Piece("src/basket.py", "Basket", "class Basket:\n    def add(self): ...\n    size: int = 3")
    nodes = {"class": whole, "add": ADD, "order": ORDERS}
    assert ids_of(nodes, (BASKET,)) == ["add"]
    assert ids_of(nodes, (Place("src/basket.py", "size"), ORDER)) == ["class", "order"]


def test_relations_are_found_by_one_edge_or_by_two_ahead() -> None:
    nodes = {"add": ADD, "other": OTHER, "order": ORDERS}
    there, back = Relation((BASKET,), (ORDER,), "call"), Relation((ORDER,), (BASKET,), "call")
    near = {"add": {"order": 1}}
    assert measure_relations(lambda start: near.get(start, {}), nodes, [there, back]) == [
        Reached("call", by_one=True, by_two=True),
        Reached("call", by_one=False, by_two=False),
    ]
    far = {"add": {"other": 1, "order": 2}}
    assert measure_relations(lambda start: far.get(start, {}), nodes, [there]) == [
        Reached("call", by_one=False, by_two=True)
    ]


def test_the_server_says_what_lies_ahead_of_a_node() -> None:
    walked = (
        ReachedNode(id="add", depth=0),
        ReachedNode(id="other", depth=1, parent_id="add"),
        ReachedNode(id="order", depth=2, parent_id="other"),
    )
    client = create_autospec(GroundwireClient, instance=True)
    client.expand.return_value = ExpandDependencyTreeResponse(
        seed_ids=("add",),
        nodes=walked,
        edges=(),
        debug=ExpandDebug(seed_count=1, expanded_count=3, edges_count=2, truncated=False, reason="ok"),
        index="v1",
    )
    assert ahead_on_server(client, IndexScope(repository="shop", branch="main"))("add") == {"other": 1, "order": 2}
    client.expand.assert_called_once_with(
        IndexScope(repository="shop", branch="main"), ["add"], max_depth=2, max_nodes=2_000, edge_allowlist=["*"]
    )


def test_a_search_is_asked_for_fifty_nodes() -> None:
    client = create_autospec(GroundwireClient, instance=True)
    client.search.return_value = SearchNodesResponse(
        hits=(SearchHit(id="order", score=2.0, rank=1), SearchHit(id="add", score=1.0, rank=2)), index="v1", exact=True
    )
    nodes = {"add": ADD, "order": ORDERS}
    assert rankings(client, IndexScope(repository="shop", branch="main"), nodes)["bm25"](QUESTION) == [ORDERS, ADD]
    client.search.assert_called_once_with(
        IndexScope(repository="shop", branch="main"), "Who adds?", search_type=SearchType.SEARCH_TYPE_BM25, top_k=50
    )


@pytest.mark.slow
def test_an_index_gives_its_nodes_by_canonical_id(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "basket.py").write_text("def add():\n    return size()\n\n\ndef size():\n    return 3\n")
    scope = build_index(tmp_path / "src", "shop", tmp_path / "data", "none")
    assert scope == IndexScope(repository="shop", branch="main")
    nodes = dict(exported_nodes("shop", tmp_path / "data", tmp_path / "nodes.jsonl"))
    add = nodes["shop::main::py::basket.py#add"]
    assert (add["path"], add["start_line"], add["text"]) == ("basket.py", 1, "def add():\n    return size()")


def test_a_program_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"git rev-parse nothing failed: fatal: .*nothing"):
        run(["git", "rev-parse", "nothing"])


def test_the_baseline_ranks_chunks_of_files(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "basket.py").write_text("# apples\n" * LINES + "# pears\n")
    (tmp_path / "order.py").write_text("# cherries\n")
    (tmp_path / "picture.bin").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.py").write_text("\n")
    chunks = chunks_of(tmp_path)
    assert [chunk.path for chunk in chunks] == ["order.py", "src/basket.py", "src/basket.py"]
    ranking = bm25_ranking(chunks, 50)("where are the pears?")
    assert ranking[0] == chunks[2]
    assert len(ranking) == 3


def test_the_tables_compare_with_the_baseline_and_count_by_kind() -> None:
    good, poor = found_by([ADD, ORDERS], QUESTION), found_by([OTHER] * 10 + [ADD], QUESTION)
    figures = SetFigures(
        name="shop",
        nodes=1_234,
        rankings={"Query": [good, good], BASELINE: [poor, poor]},
        changes={"Query": [], BASELINE: []},
        evidence={"evidence": [Evidence(True, 2, 3, 3_000, 2_500), Evidence(False, 0, 1, 4_001, 2_501)]},
        relations=[Reached("call", True, True), Reached("use", False, True)],
        relations_shown=1,
    )
    questions, differences, evidence, relations = grids([figures], 4_000)
    assert questions.title == "shop, 1,234 nodes: 2 questions"
    assert questions.headings == ["search", "method@5", "file@5", "items@5", "MRR@10", "primary@50"]
    assert questions.rows[0] == ["Query", *["1.000"] * 5]
    assert differences.rows == [
        [
            "Query",
            *[f"{difference:+.3f} [{difference:+.3f}, {difference:+.3f}]" for difference in (1.0, 0.0, 1.0, 1.0, 0.0)],
        ]
    ]
    assert evidence.rows == [["shop", "evidence", "0.50", "0.50", "4,001", "1.40"]]
    assert relations.rows == [
        ["all", "2", "1", "2"],
        ["call", "1", "1", "1"],
        ["use", "1", "0", "1"],
        ["shown by evidence of 4,000 tokens", "2", "1", ""],
    ]


def test_subjects_of_commits_are_counted_together_as_well_and_what_nobody_asked_has_no_table() -> None:
    good, poor = files_found_by([ORDERS, ADD], CHANGE), files_found_by([ORDERS] * 10 + [ADD], CHANGE)
    nothing: dict[str, list[Found]] = {"Query": [], BASELINE: []}
    shop = SetFigures("shop", 12, nothing, {"Query": [good], BASELINE: [poor]}, {}, [], 0)
    till = replace(shop, name="till", changes={"Query": [poor] * 3, BASELINE: [poor] * 3})
    of_shop, _, of_till, _, of_all, differences = grids([shop, till], 4_000)
    assert of_shop.title == "shop, 12 nodes: 1 subjects of commits"
    assert of_till.rows == [["Query", "0.000", "1.000", "0.000"], [BASELINE, "0.000", "1.000", "0.000"]]
    assert of_all.title == "2 sets: 4 subjects of commits"
    assert of_all.rows[0] == ["Query", "0.250", "1.000", "0.125"]
    assert differences.rows[0][0] == "Query"
    assert differences.rows[0][1].startswith("+0.250 [+0.000, ")


@pytest.mark.parametrize("folder", sorted(SETS.glob("*/objects.tsv")), ids=lambda path: path.parent.name)
def test_the_objects_of_a_set_have_a_question_and_a_current_definition(folder: Path) -> None:
    rows = [line.split("\t") for line in folder.read_text(encoding="utf-8").splitlines()]
    assert [row[0] for row in rows] == [str(number) for number in range(1, 51)]
    assert all(len(row) == 5 and all(row) for row in rows)
