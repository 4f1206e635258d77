"""The file of routing rules: what it says, and how a broken one is told."""

from pathlib import Path

import pytest

from groundwire_server.domain.limits import MAX_TOP_K
from groundwire_server.domain.query.query import FusionMode, HybridParameters
from groundwire_server.domain.query.routing import RoutingRule
from groundwire_server.engine.routing_file import load_routing

WHOLE = """
rules:
  - name: support
    when: {process: [help, billing], doc_class: manual, repository: shop, branch: main}
    collections: [manuals, policies]
    parameters: {top_k: 10, min_sim: 0.25}
    fusion: weighted
    index: 2025-06-01_e5
  - name: everything else
    when: {workflow_id: w-1}
    collections: wiki
"""


def written(folder: Path, content: str) -> Path:
    path = folder / "routing.yaml"
    path.write_text(content, encoding="utf-8")
    return path


def test_a_file_gives_its_rules_in_order(tmp_path: Path) -> None:
    when = {"process": {"help", "billing"}, "doc_class": {"manual"}, "repository": {"shop"}, "branch": {"main"}}
    support = RoutingRule(
        "support",
        {name: frozenset(values) for name, values in when.items()},
        ("manuals", "policies"),
        HybridParameters(top_k=10, min_sim=0.25),
        FusionMode.WEIGHTED,
        "2025-06-01_e5",
    )
    rest = RoutingRule("everything else", {"workflow_id": frozenset({"w-1"})}, ("wiki",))
    assert load_routing(written(tmp_path, WHOLE), MAX_TOP_K) == (support, rest)


def test_no_rules_are_no_error(tmp_path: Path) -> None:
    assert load_routing(written(tmp_path, "rules: []"), MAX_TOP_K) == ()


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("name: support", "name: ''", "rules[0].name: "),
        ("name: everything else", "name: support", "rules[1].name: 'support': names an earlier rule"),
        ("    when: {workflow_id: w-1}\n", "", "rules[1].when: is required"),
        ("when: {workflow_id: w-1}", "when: {}", "rules[1].when: must hold process, doc_class or workflow_id"),
        ("when: {workflow_id: w-1}", "when: {repository: shop}", "rules[1].when: must hold process"),
        ("when: {workflow_id: w-1}", "when: {workflow_id: []}", "rules[1].when.workflow_id: "),
        ("when: {workflow_id: w-1}", "when: {workflow_id: ['']}", "rules[1].when.workflow_id[0]: "),
        ("when: {workflow_id: w-1}", "when: {workflow_id: 3}", "rules[1].when.workflow_id: is 3"),
        ("when: {workflow_id: w-1}", "when: {tenant_id: acme}", "rules[1].when.tenant_id: is no key"),
        ("when: {workflow_id: w-1}", "when: w-1", "rules[1].when: must be a mapping"),
        ("collections: wiki", "collections: []", "rules[1].collections: "),
        ("collections: wiki", "collection: wiki", "rules[1].collection: is no key"),
        ("collections: wiki", "access: {}", "rules[1].access: is no key"),
        ("top_k: 10", "top_k: 0", "rules[0].parameters.top_k: is 0; give 1 to 50"),
        ("top_k: 10", "top_k: 51", "rules[0].parameters.top_k: is 51; give 1 to 50"),
        ("top_k: 10", "top_k: many", "rules[0].parameters.top_k: is 'many'"),
        ("top_k: 10", "topk: 10", "rules[0].parameters.topk: is no key"),
        ("top_k: 10", "top_k: 10, max_candidates: 9", "rules[0].parameters.max_candidates: is 9; give at least 10"),
        ("min_sim: 0.25", "min_sim: 2", "rules[0].parameters.min_sim: is 2; give 0 to 1"),
        ("min_sim: 0.25", "min_sim: .nan", "rules.0.parameters.min_sim: .nan is no finite number"),
        ("fusion: weighted", "fusion: sum", "rules[0].fusion: is 'sum'"),
        ("index: 2025-06-01_e5", "index: ../v1", "rules[0].index: '../v1': must be 1 to 128 letters"),
        ("repository: shop", "repository: [shop, desk]", "rules[0].when.repository: must be one name"),
        (", branch: main", "", "rules[0].when.branch: must be one name where index is given"),
        (WHOLE, "rules: 3", "rules: is 3"),
        (WHOLE, "", "the file: must be a mapping of keys to values; see docs/routing.md"),
        (WHOLE, "rules: [", "is not YAML"),
    ],
)
def test_a_broken_file_is_told_by_place(tmp_path: Path, old: str, new: str, place: str) -> None:
    assert old in WHOLE
    with pytest.raises(ValueError, match=r".+") as caught:
        load_routing(written(tmp_path, WHOLE.replace(old, new)), 50)
    assert place in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_example_of_the_documentation_is_a_file_of_rules() -> None:
    example = Path(__file__).parents[3] / "deploy" / "routing.yaml"
    assert [rule.name for rule in load_routing(example, MAX_TOP_K)] == ["support", "incidents", "contracts"]
