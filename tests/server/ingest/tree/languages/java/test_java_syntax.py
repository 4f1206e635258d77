from collections.abc import Callable

from groundwire_ingest.tree.code_facts import Binding, CodeAnalysis, Import
from groundwire_ingest.tree.framework_facts import TableMapping

Analyser = Callable[[str, str], CodeAnalysis]

SERVICE = """\
package com.shop;

import com.shop.data.Repo;
import static com.shop.util.Text.trim;
import com.shop.model.*;

/** Serves. */
@Entity
@Table(name = "invoices", schema = "billing")
public class Service<T> extends Base<T> implements Closer, Opener<T> {
  private final Repo<T> repo = new Repo<>();
  @Inject
  public Service(Repo repo) {
    super(repo);
  }
  // Runs.
  @Override
  public int run(int first, String... rest) {
    repo.find("a" + "b");
    this.check();
    super.run(1);
    var made = new Made(1);
    for (Line line : lines()) { line.save(); }
    return Text.of(1).length();
  }
  enum State {
    OPEN, CLOSED;
    void flip() { }
  }
  abstract void stop();
}
"""


def test_chunks(analyse: Analyser) -> None:
    nodes = analyse("Service.java", SERVICE).file.nodes
    assert [(node.symbol, node.start_line, node.end_line, node.signature) for node in nodes] == [
        ("com.shop.Service", 7, 31, "public class Service<T> extends Base<T> implements Closer, Opener<T>"),
        ("com.shop.Service.Service", 12, 15, "public Service(Repo repo)"),
        ("com.shop.Service.run", 16, 25, "public int run(int first, String... rest)"),
        ("com.shop.Service.State", 26, 29, "enum State"),
        ("com.shop.Service.State.flip", 28, 28, "void flip()"),
        ("com.shop.Service.stop", 30, 30, "abstract void stop()"),
    ]
    assert {(node.kind, node.language) for node in nodes} == {("java", "java")}


def test_imports_bases_calls_variables_and_tables(analyse: Analyser) -> None:
    facts = analyse("Service.java", SERVICE).facts
    assert facts is not None
    assert facts.imports == (
        Import("com.shop.data", "Repo", "Repo", 3),
        Import("com.shop.util.Text", "trim", "trim", 4),
        Import("com.shop.model", "*", "", 5),
    )
    index = {definition.symbol: number for number, definition in enumerate(facts.definitions)}
    service, run = index["com.shop.Service"], index["com.shop.Service.run"]
    assert facts.definitions[service].bases == ("Base<T>", "Closer", "Opener<T>")
    assert {(call.receiver, call.name, call.constructs) for call in facts.calls if call.scope == run} == {
        ("repo", "find", False),
        ("this", "check", False),
        ("super", "run", False),
        ("", "Made", True),
        ("", "lines", False),
        ("line", "save", False),
        ("Text", "of", False),
        ("Text.of()", "length", False),
    }
    assert {
        Binding(service, "repo", "Repo<T>", True),
        Binding(run, "made", "Made", False),
        Binding(run, "line", "Line", True),
    } <= set(facts.bindings)
    assert facts.mappings == (
        TableMapping("java::Service.java#com.shop.Service", service, "", "billing.invoices", 1.0),
    )


def test_literals_and_text_blocks(analyse: Analyser) -> None:
    text = 'class A {\n  String a = "x\\ty" +\n    "z";\n  String b = """\n    select 1\n    """;\n}\n'
    assert [literal.text for literal in analyse("A.java", text).literals] == ["x\tyz", "\n    select 1\n    "]
