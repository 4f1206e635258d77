"""Which files an access rule reaches, what several rules demand together, and that nothing of a file escapes them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.nodes.node import NodeAccess
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import LateFacts, SourceEdge, SourceNode, StatedAccess
from groundwire_ingest.tree.access_rules import PUBLIC, AccessRule, AccessRules
from groundwire_ingest.tree.source import TreeSource
from groundwire_server.domain.access.access import AccessContext, may_see

FINANCE = NodeAccess(acl_tags=("finance",))


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def decided(path: str, *rules: AccessRule) -> NodeAccess:
    access_rules = AccessRules(rules)
    access_rules.decide([path])
    return access_rules.demand_of(path)


def nodes_of(root: Path, *rules: AccessRule) -> list[SourceNode]:
    nodes: dict[str, SourceNode] = {}
    for record in TreeSource(root, access=rules).read():
        if isinstance(record, SourceNode):
            nodes[record.key] = record
        elif isinstance(record, LateFacts):
            nodes[record.key] = record.added_to(nodes[record.key])
    return list(nodes.values())


@pytest.mark.parametrize(
    ("pattern", "path", "reached"),
    [
        ("payroll/**", "payroll/a/b.py", True),
        ("payroll/", "payroll/a/b.py", True),
        ("payroll", "apps/payroll/b.py", True),
        ("/payroll", "apps/payroll/b.py", False),
        ("*.sql", "db/tables/x.sql", True),
        ("payroll/*.py", "payroll/a.py", True),
        ("payroll/*.py", "payroll/a/b.py", False),
        ("payroll/", "payroll", False),
        ("Payroll/", "payroll/a.py", False),
    ],
)
def test_a_rule_reaches_what_a_line_of_gitignore_would(pattern: str, path: str, reached: bool) -> None:
    rule = AccessRule(pattern, FINANCE, allow_no_match=True)
    assert decided(path, rule) == (FINANCE if reached else PUBLIC)


def test_rules_that_fit_a_file_add_up_in_any_order() -> None:
    rules = (
        AccessRule("*", NodeAccess(acl_tags=("staff", "finance"), clearance_level=1)),
        AccessRule("payroll/", NodeAccess(tenant_id="acme", acl_tags=("finance", "audit"), clearance_level=3)),
        AccessRule("*.py", NodeAccess(classification_labels=("pii",))),
        AccessRule("payroll/a.py", NodeAccess(classification_labels=("secret",), clearance_level=2)),
    )
    expected = NodeAccess("acme", ("finance",), ("pii", "secret"), 3)
    assert decided("payroll/a.py", *rules) == decided("payroll/a.py", *reversed(rules)) == expected


_names = st.lists(st.sampled_from("abc"), unique=True, max_size=3)
_demands = st.builds(
    NodeAccess,
    tenant_id=st.sampled_from(["", "x", "y"]),
    acl_tags=_names.map(tuple),
    classification_labels=_names.map(tuple),
    clearance_level=st.integers(0, 2),
)
_callers = st.builds(
    AccessContext,
    tenant_id=st.sampled_from(["", "x", "y"]),
    acl_tags_any=_names.map(frozenset),
    classification_labels_all=_names.map(frozenset),
    clearance_level=st.integers(0, 2),
)


@given(st.lists(_demands, max_size=3), _callers)
def test_who_sees_a_file_meets_every_rule_that_fits_it(demands: list[NodeAccess], caller: AccessContext) -> None:
    try:
        demanded = decided("a.py", *(AccessRule("a.py", demand) for demand in demands))
    except IngestError:
        return
    assert not may_see(demanded, caller) or all(may_see(demand, caller) for demand in demands)


@given(_demands, _demands, _callers)
def test_what_a_node_tells_of_another_file_its_readers_may_see_there(
    demand: NodeAccess, other: NodeAccess, caller: AccessContext
) -> None:
    rules = AccessRules([AccessRule("a.py", demand), AccessRule("b.py", other)])
    rules.decide(["a.py", "b.py"])
    if rules.may_read("a.py")("b.py") and may_see(demand, caller):
        assert may_see(other, caller)


@pytest.mark.parametrize(
    "demands",
    [
        (NodeAccess(acl_tags=("finance",)), NodeAccess(acl_tags=("hr",))),
        (NodeAccess(tenant_id="a"), NodeAccess(tenant_id="b")),
    ],
)
def test_rules_that_together_let_nobody_in_are_refused(demands: Sequence[NodeAccess]) -> None:
    with pytest.raises(IngestError, match=r"^payroll/a\.py: .* 'payroll/' .* and '\*\.py' .* no caller could"):
        decided("payroll/a.py", AccessRule("payroll/", demands[0]), AccessRule("*.py", demands[1]))


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("", "is a blank or a comment"),
        ("# x", "is a blank or a comment"),
        ("a[", "nothing closes"),
        ("!a", "with `!`"),
        ("\udcff", "not UTF-8"),
        ("./payroll/", "matches no path"),
        ("../shop/payroll/", "matches no path"),
        ("apps//payroll", "matches no path"),
        ("/", "matches no path"),
    ],
)
def test_a_pattern_that_is_none_is_refused(pattern: str, problem: str) -> None:
    with pytest.raises(IngestError, match=problem):
        AccessRules([AccessRule(pattern, FINANCE)])


def test_a_rule_that_matches_nothing_is_refused_unless_that_is_allowed(tmp_path: Path) -> None:
    write(tmp_path, {"payroll/a.py": "def pay(): return 1\n", "ignored/b.py": "x = 1\n", ".gitignore": "ignored/\n"})
    rules = [AccessRule(path, FINANCE) for path in ("payrol/**", "ignored/", "payroll/**")]
    with pytest.raises(IngestError, match=r"the access rules 'payrol/\*\*', 'ignored/'; correct the pattern"):
        nodes_of(tmp_path, *rules)
    allowed = [AccessRule(rule.path, FINANCE, allow_no_match=True) for rule in rules]
    assert {node.path: node.access.acl_tags for node in nodes_of(tmp_path, *allowed)} == {"payroll/a.py": ("finance",)}


def test_without_rules_a_tree_states_no_access(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def f(): return 1\n"})
    assert {node.access for node in nodes_of(tmp_path)} == {StatedAccess()}


def test_every_node_of_a_file_demands_what_its_rules_do_and_no_other_node(tmp_path: Path) -> None:
    body = "".join(f"    total += {number}\n" for number in range(900))
    write(
        tmp_path,
        {
            "payroll/pay.py": f"class Pay:\n    def pay(self, total):\n{body}        return total\n",
            "payroll/tables.sql": "CREATE TABLE dbo.Salary (id INT);\nCREATE VIEW dbo.V AS SELECT id FROM dbo.Salary;",
            "payroll/README.md": "# Pay\n\nText.\n\n## More\n\nText.\n",
            "payroll/settings.json": '{"Salary": {"Bonus": "' + "x" * 2_000 + '"}}',
            "payroll/Page.razor": '@page "/pay"\n<h1>Pay</h1>\n@code {\n    private int Total() { return 1; }\n}\n',
            "payroll/compose.yaml": "services:\n  pay:\n    image: pay\n",
            "shop.py": "from payroll.pay import Pay\n\n\ndef shop():\n    return Pay().pay('SELECT id FROM dbo.V')\n",
        },
    )
    nodes = nodes_of(tmp_path, AccessRule("payroll/**", FINANCE))
    assert {node.path for node in nodes} == {
        *(f"payroll/{name}" for name in ("pay.py", "tables.sql", "README.md", "settings.json", "Page.razor")),
        "payroll/compose.yaml",
        "shop.py",
    }
    for node in nodes:
        tags = ("finance",) if node.path.startswith("payroll/") else ()
        assert node.access == StatedAccess("", tags, (), 0), node.key


def test_an_edge_from_a_public_node_to_a_protected_one_ends_at_a_node_that_is_protected(tmp_path: Path) -> None:
    write(tmp_path, {"payroll/pay.py": "def pay(): return 1\n"})
    write(tmp_path, {"shop.py": "from payroll.pay import pay\n\n\ndef f(): pay()\n"})
    records = list(TreeSource(tmp_path, access=[AccessRule("payroll/", FINANCE)]).read())
    tags = {record.key: record.access.acl_tags for record in records if isinstance(record, SourceNode)}
    calls = [(e.from_key, e.to_key) for e in records if isinstance(e, SourceEdge) and e.edge_type == "Calls"]
    assert [(tags[start], tags[end]) for start, end in calls] == [((), ("finance",))]


def test_who_may_not_see_some_definitions_of_an_object_sees_the_links_of_a_tree_without_them(tmp_path: Path) -> None:
    table = "CREATE TABLE dbo.Tax (Id int)\nGO\n"
    rate = "CREATE TABLE dbo.Rate (Id int REFERENCES dbo.Tax(Id))\nGO\n"
    view = "CREATE VIEW dbo.Due AS SELECT Id FROM dbo.Tax\nGO\n"
    files = {
        **{f"{folder}/{number}.sql": table for folder in ("a", "b", "c", "d") for number in (1, 2, 3)},
        "b/alter.sql": "ALTER TABLE dbo.Tax ADD Due int\n",
        "b/rate.sql": rate,
        "d/rate.sql": rate,
        "d/due.sql": view,
        "e/due.sql": view,
        "e/due.py": "def due(db):\n    return db.run('SELECT Id FROM dbo.Tax')\n",
    }
    demands = {"a/": ("one",), "b/": ("two",), "c/": ("one",)}
    rules = [AccessRule(path, NodeAccess(acl_tags=tags)) for path, tags in demands.items()]

    def links(name: str, left: Mapping[str, str], tags: Sequence[str] = ()) -> set[tuple[str, str, str]]:
        """The edges that a caller with these tags sees, by the places of their ends: ids tell of other definitions."""
        used = [rule for rule in rules if any(path.startswith(rule.path) for path in left)]
        records = list(TreeSource(write(tmp_path / name, left), access=used).read())
        places = {
            record.key: record.origin
            for record in records
            if isinstance(record, SourceNode) and (not record.access.acl_tags or {*record.access.acl_tags} & {*tags})
        }
        edges = (record for record in records if isinstance(record, SourceEdge))
        return {
            (places[edge.from_key], edge.edge_type, places[edge.to_key])
            for edge in edges
            if edge.from_key in places and edge.to_key in places
        }

    seen: list[int] = []
    for number, tags in enumerate([(), ("one",), ("two",), ("one", "two")]):
        hidden = tuple(path for path, (tag,) in demands.items() if tag not in tags)
        left = {path: text for path, text in files.items() if not path.startswith(hidden)}
        visible_links = links(f"all{number}", files, tags)
        assert visible_links == links(f"left{number}", left, tags)
        seen.append(len([edge for edge in visible_links if edge[1] == "RedefinedBy" and "rate" not in edge[0]]))
    assert seen == [3, 9, 6, 13]


def test_a_public_node_does_not_name_the_protected_members_that_it_implements(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "payroll/secret.go": "package p\n\ntype SecretPayer interface {\n\tPay(amount int) error\n}\n",
            "open/open.go": "package p\n\ntype OpenPayer interface {\n\tPay(amount int) error\n}\n",
            "shop/shop.go": "package p\n\ntype Till struct{ sum int }\n\n"
            "func (t *Till) Pay(amount int) error {\n\tt.sum += amount\n\treturn nil\n}\n",
        },
    )
    (tmp_path / "go.mod").write_text("module p\n")

    def prefix(*rules: AccessRule) -> str:
        nodes = (node for node in nodes_of(tmp_path, *rules) if node.path == "shop/shop.go")
        return next(node.context_prefix for node in nodes if node.symbol.endswith("Pay"))

    assert "SecretPayer.Pay" in prefix()
    context_prefix = prefix(AccessRule("payroll/", FINANCE))
    assert "OpenPayer.Pay" in context_prefix
    assert "SecretPayer" not in context_prefix
    assert "SecretPayer.Pay" in prefix(AccessRule("payroll/", FINANCE), AccessRule("shop/", FINANCE))


def test_a_public_node_does_not_name_what_is_generated_from_a_protected_file(tmp_path: Path) -> None:
    rpc = "rpc AddItem (Item) returns (Item);"
    proto = f'syntax = "proto3";\npackage shop;\nservice Basket {{\n  {rpc}\n}}\nmessage Item {{}}\n'
    method = "    def AddItem(self, request):\n        self.items.append(request)\n        return request\n"
    server = f"from basket_pb2_grpc import BasketServicer\n\n\nclass Server(BasketServicer):\n{method}"
    write(tmp_path, {"basket.proto": proto, "server.py": server})

    def prefix(*rules: AccessRule) -> str:
        prefixes = {node.local_id: node.context_prefix for node in nodes_of(tmp_path, *rules)}
        return prefixes["server.py#Server.AddItem"]

    assert "implements BasketServicer.AddItem" in prefix()
    assert "implements" not in prefix(AccessRule("*.proto", FINANCE))


def test_a_public_component_does_not_name_what_a_protected_file_of_imports_does(tmp_path: Path) -> None:
    imports = "@namespace Payroll\n@inherits SalaryPage\n@implements IBonus\n@inject SalaryClient Client\n"
    write(tmp_path, {"_Imports.razor": imports, "pages/Page.razor": "<p>x</p>\n@code { int Total() { return 1; } }\n"})
    hidden = ("Payroll", "Salary", "Bonus")
    for rules, named in (((), True), ((AccessRule("_Imports.razor", FINANCE),), False)):
        nodes = [node for node in nodes_of(tmp_path, *rules) if node.path == "pages/Page.razor"]
        assert len(nodes) > 1
        assert any(word in repr(nodes) for word in hidden) is named


def test_a_public_file_has_no_service_that_only_a_protected_file_names(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "ops/compose.yaml": "services:\n  secret-service:\n    build: ../shop\n",
            "shop/shop.py": "def shop():\n    return 1\n",
            "shop/Dockerfile": "FROM scratch\n",
        },
    )

    def services(*rules: AccessRule) -> set[str]:
        return {node.service_name for node in nodes_of(tmp_path, *rules) if node.path == "shop/shop.py"}

    assert services() == {"secret-service"}
    assert services(AccessRule("ops/", FINANCE)) == {""}
    assert services(AccessRule("ops/", FINANCE), AccessRule("shop/", FINANCE)) == {"secret-service"}
