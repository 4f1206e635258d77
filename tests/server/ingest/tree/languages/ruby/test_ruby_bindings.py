"""What the reader of Ruby says of one file."""

from collections.abc import Callable

from groundwire_ingest.tree.code_facts import CodeAnalysis, CodeFacts

Analyser = Callable[[str, str], CodeAnalysis]


def facts_of(analysis: CodeAnalysis) -> CodeFacts:
    assert analysis.facts is not None
    return analysis.facts


def test_strings(analyse: Analyser) -> None:
    analysis = analyse("a.rb", "a = 'x\\ny'\nb = \"z\\t\"\n")
    assert [literal.text for literal in analysis.literals] == ["x\\ny", "z\t"]


def test_associations_of_rails(analyse: Analyser) -> None:
    text = (
        "class Order < Base\n  belongs_to :user\n  has_many :line_items\n  has_many :entries\n"
        '  has_one :payer, class_name: "Shop::User"\nend\n'
    )
    types = {item.name: item.type_name for item in facts_of(analyse("order.rb", text)).bindings}
    assert types == {"user": "User", "line_items": "Array<LineItem>", "entries": "Array<Entry>", "payer": "Shop.User"}
