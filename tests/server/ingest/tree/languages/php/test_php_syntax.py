"""What the reader of PHP says of one file."""

from collections.abc import Callable

from groundwire_ingest.tree.code_facts import CodeAnalysis, CodeFacts

Analyser = Callable[[str, str], CodeAnalysis]


def facts_of(analysis: CodeAnalysis) -> CodeFacts:
    assert analysis.facts is not None
    return analysis.facts


def test_strings(analyse: Analyser) -> None:
    analysis = analyse("a.php", "<?php $a = 'x\\ny'; $b = \"z\\t\";\n")
    assert [literal.text for literal in analysis.literals] == ["x\\ny", "z\t"]


def test_html_around_php_is_text_of_the_file(analyse: Analyser) -> None:
    analysis = analyse(
        "a.php", "<h1>Orders</h1>\n<?php foreach ($a as $b): ?>\n<p><?= show($b) ?></p>\n<?php endforeach; ?>\n"
    )
    assert [node.symbol for node in analysis.file.nodes] == [""]
    assert [call.name for call in facts_of(analysis).calls] == ["show"]
