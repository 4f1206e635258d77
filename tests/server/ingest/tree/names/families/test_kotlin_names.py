"""Kotlin beside Java: an extension is found by its import, a script of Gradle sees nothing of the rest."""

from collections.abc import Callable, Mapping

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]
EdgesOf = Callable[..., dict[tuple[str, str], float]]

SHOP: Mapping[str, str] = {
    "src/shop/Service.kt": """\
package com.shop

import com.shop.data.Repo
import com.shop.text.slug
import com.shop.model.*

/** Serves. */
@Marked
class Service<T>(private val repo: Repo, count: Int = 1) : Base(repo), Closer {
    val line: Line = Line(1)
    private val made = Line(2)

    init {
        start()
    }

    constructor(count: Int) : this(Repo(), count)

    // Runs.
    override fun run(invoice: Invoice, vararg rest: String): List<Invoice> {
        repo.save(invoice)?.touch()
        this.made.settle()
        helper { it.go() }
        super.begin()
        invoice.number.slug()
        val other = Repo()
        other.save(invoice)
        unknown.touch()
        for (item in rest) item.length
        return listOf(invoice)
    }

    fun plain() = made

    companion object {
        fun of(repo: Repo): Service<Int> {
            return Service(repo)
        }
    }
}

fun main() {
    Service.of(Repo()).plain()
    listOf(1).map(::report)
}

fun report(number: Int) = println(number)
""",
    "src/shop/Base.kt": """\
package com.shop

annotation class Marked

interface Closer {
    fun close()
    fun run(invoice: Any, vararg rest: String): Any
}

abstract class Base(repo: Any) {
    fun begin() {
        println()
    }
    fun helper(block: () -> Unit) {
        block()
    }
    fun start() {
        println()
    }
}
""",
    "src/shop/Repo.java": """\
package com.shop.data;

import com.shop.model.Invoice;

public class Repo {
  public Invoice save(Invoice item) {
    return item;
  }
}
""",
    "src/shop/Model.kt": """\
package com.shop.model

class Invoice(val number: String) {
    fun touch() {
        println(number)
    }
}

class Line(count: Int) {
    fun settle() {
        println(1)
    }
}
""",
    "src/shop/Text.kt": """\
package com.shop.text

fun String.slug(): String {
    return this.lowercase()
}
""",
    "build.gradle.kts": """\
plugins { }
main()
""",
}


def test_nodes(analyse: Analyser) -> None:
    code = {path: text for path, text in SHOP.items() if not path.endswith(".toml")}
    analyses = [analyse(path, text) for path, text in code.items()]
    assert [item for analysis in analyses for item in analysis.file.skipped] == []
    nodes = [node for analysis in analyses for node in analysis.file.nodes]
    assert [(node.local_id, node.start_line, node.end_line, node.signature) for node in nodes] == [
        ("src/shop/Service.kt", 1, 47, ""),
        (
            "src/shop/Service.kt#com.shop.Service",
            7,
            40,
            "class Service<T>(private val repo: Repo, count: Int = 1) : Base(repo), Closer",
        ),
        (
            "src/shop/Service.kt#com.shop.Service.run",
            19,
            31,
            "override fun run(invoice: Invoice, vararg rest: String): List<Invoice>",
        ),
        ("src/shop/Service.kt#com.shop.Service.of", 36, 38, "fun of(repo: Repo): Service<Int>"),
        ("src/shop/Service.kt#com.shop.main", 42, 45, "fun main()"),
        ("src/shop/Service.kt#com.shop.report", 47, 47, "fun report(number: Int)"),
        ("src/shop/Base.kt#com.shop.Marked", 3, 3, "annotation class Marked"),
        ("src/shop/Base.kt#com.shop.Closer", 5, 8, "interface Closer"),
        ("src/shop/Base.kt#com.shop.Closer.close", 6, 6, "fun close()"),
        ("src/shop/Base.kt#com.shop.Closer.run", 7, 7, "fun run(invoice: Any, vararg rest: String): Any"),
        ("src/shop/Base.kt#com.shop.Base", 10, 20, "abstract class Base(repo: Any)"),
        ("src/shop/Base.kt#com.shop.Base.begin", 11, 13, "fun begin()"),
        ("src/shop/Base.kt#com.shop.Base.helper", 14, 16, "fun helper(block: () -> Unit)"),
        ("src/shop/Base.kt#com.shop.Base.start", 17, 19, "fun start()"),
        ("src/shop/Repo.java#com.shop.data.Repo", 5, 9, "public class Repo"),
        ("src/shop/Model.kt#com.shop.model.Invoice", 3, 7, "class Invoice(val number: String)"),
        ("src/shop/Model.kt#com.shop.model.Invoice.touch", 4, 6, "fun touch()"),
        ("src/shop/Model.kt#com.shop.model.Line", 9, 13, "class Line(count: Int)"),
        ("src/shop/Model.kt#com.shop.model.Line.settle", 10, 12, "fun settle()"),
        ("src/shop/Text.kt", 1, 5, ""),
        ("src/shop/Text.kt#com.shop.text.slug", 3, 5, "fun String.slug(): String"),
        ("build.gradle.kts", 1, 2, ""),
    ]


def test_calls(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", SHOP) == {
        ("src/shop/Service.kt#com.shop.Service", "src/shop/Base.kt#com.shop.Base"): 0.9,
        ("src/shop/Service.kt#com.shop.Service", "src/shop/Base.kt#com.shop.Base.start"): 0.9,
        ("src/shop/Service.kt#com.shop.Service", "src/shop/Model.kt#com.shop.model.Line"): 0.9,
        ("src/shop/Service.kt#com.shop.Service", "src/shop/Repo.java#com.shop.data.Repo"): 1.0,
        ("src/shop/Service.kt#com.shop.Service.of", "src/shop/Service.kt#com.shop.Service"): 1.0,
        ("src/shop/Service.kt#com.shop.Service.run", "src/shop/Base.kt#com.shop.Base.begin"): 0.9,
        ("src/shop/Service.kt#com.shop.Service.run", "src/shop/Base.kt#com.shop.Base.helper"): 0.9,
        ("src/shop/Service.kt#com.shop.Service.run", "src/shop/Model.kt#com.shop.model.Invoice.touch"): 0.9,
        ("src/shop/Service.kt#com.shop.Service.run", "src/shop/Model.kt#com.shop.model.Line.settle"): 0.8,
        ("src/shop/Service.kt#com.shop.Service.run", "src/shop/Repo.java#com.shop.data.Repo"): 1.0,
        ("src/shop/Service.kt#com.shop.Service.run", "src/shop/Text.kt#com.shop.text.slug"): 0.8,
        ("src/shop/Service.kt#com.shop.main", "src/shop/Repo.java#com.shop.data.Repo"): 1.0,
        ("src/shop/Service.kt#com.shop.main", "src/shop/Service.kt#com.shop.Service"): 0.9,
        ("src/shop/Service.kt#com.shop.main", "src/shop/Service.kt#com.shop.Service.of"): 1.0,
    }


def test_imports(edges_of: EdgesOf) -> None:
    assert edges_of("Imports", SHOP) == {
        ("src/shop/Repo.java#com.shop.data.Repo", "src/shop/Model.kt#com.shop.model.Invoice"): 1.0,
        ("src/shop/Service.kt", "src/shop/Model.kt#com.shop.model.Invoice"): 0.9,
        ("src/shop/Service.kt", "src/shop/Repo.java#com.shop.data.Repo"): 1.0,
        ("src/shop/Service.kt", "src/shop/Text.kt"): 1.0,
    }


def test_inherits(edges_of: EdgesOf) -> None:
    assert edges_of("Inherits", SHOP) == {
        ("src/shop/Service.kt#com.shop.Service", "src/shop/Base.kt#com.shop.Base"): 0.9,
        ("src/shop/Service.kt#com.shop.Service", "src/shop/Base.kt#com.shop.Closer"): 0.9,
    }


def test_implements(edges_of: EdgesOf) -> None:
    assert edges_of("Implements", SHOP) == {
        ("src/shop/Service.kt#com.shop.Service.run", "src/shop/Base.kt#com.shop.Closer.run"): 0.9
    }


def test_implemented_by(edges_of: EdgesOf) -> None:
    assert edges_of("ImplementedBy", SHOP) == {
        ("src/shop/Base.kt#com.shop.Base", "src/shop/Service.kt#com.shop.Service"): 0.9,
        ("src/shop/Base.kt#com.shop.Closer", "src/shop/Service.kt#com.shop.Service"): 0.9,
        ("src/shop/Base.kt#com.shop.Closer.run", "src/shop/Service.kt#com.shop.Service.run"): 0.9,
    }


def test_decorated_by(edges_of: EdgesOf) -> None:
    assert edges_of("DecoratedBy", SHOP) == {
        ("src/shop/Service.kt#com.shop.Service", "src/shop/Base.kt#com.shop.Marked"): 0.9
    }


def test_references(edges_of: EdgesOf) -> None:
    assert edges_of("References", SHOP) == {
        ("src/shop/Repo.java#com.shop.data.Repo", "src/shop/Model.kt#com.shop.model.Invoice"): 1.0,
        ("src/shop/Service.kt#com.shop.Service", "src/shop/Model.kt#com.shop.model.Line"): 0.9,
        ("src/shop/Service.kt#com.shop.Service", "src/shop/Repo.java#com.shop.data.Repo"): 1.0,
        ("src/shop/Service.kt#com.shop.Service.of", "src/shop/Repo.java#com.shop.data.Repo"): 1.0,
        ("src/shop/Service.kt#com.shop.Service.of", "src/shop/Service.kt#com.shop.Service"): 1.0,
        ("src/shop/Service.kt#com.shop.Service.run", "src/shop/Model.kt#com.shop.model.Invoice"): 0.9,
        ("src/shop/Service.kt#com.shop.Service.run", "src/shop/Service.kt#com.shop.Service"): 1.0,
        ("src/shop/Service.kt#com.shop.main", "src/shop/Service.kt#com.shop.report"): 1.0,
    }


STORE = (
    "package shop\n\nclass Store {\n"
    "    fun count(): Int {\n        val n = 3\n        return n\n    }\n"
    "    operator fun invoke(n: Int): Int {\n        val k = n\n        return k\n    }\n"
    "    operator fun plus(other: Store): Store {\n        val k = other\n        return k\n    }\n"
    "    operator fun get(at: Int): Int {\n        val k = at\n        return k\n    }\n"
    "    operator fun set(at: Int, value: Int) {\n        val k = at\n        print(k)\n    }\n}\n"
)


@pytest.mark.parametrize(
    ("statement", "called"),
    [
        ("val x = store(3)", {"invoke"}),
        ("val x = store + store", {"plus"}),
        ("var x = store\n    store += store", {"plus"}),
        ("val x = store[2]", {"get"}),
        ("store[2] = 3", {"set"}),
        ("with(store) { count() }", {"count"}),
        ("store.run { count() }", {"count"}),
        ("store.apply { count() }", {"count"}),
        ("val x = n + n", set[str]()),
        ("val x = names[2]", set[str]()),
        ("names.run { count() }", set[str]()),
    ],
)
def test_operators_and_members_of_the_receiver_of_a_lambda(edges_of: EdgesOf, statement: str, called: set[str]) -> None:
    text = f"{STORE}\nfun run(store: Store, n: Int, names: List<String>) {{\n    print(1)\n    {statement}\n}}\n"
    calls = edges_of("Calls", {"a.kt": text})
    assert {end.rpartition(".")[2] for start, end in calls if start == "a.kt#shop.run"} == called


def test_an_extension_under_another_name(edges_of: EdgesOf) -> None:
    files = {
        "text.kt": "package text\n\nfun String.shout(): String {\n    val k = uppercase()\n    return k\n}\n",
        "a.kt": (
            "package app\n\nimport text.shout as yell\n\nfun run(s: String): String {\n    val k = s.yell()\n"
            "    return k\n}\n\nfun other(s: String): String {\n    val k = s.quiet()\n    return k\n}\n"
        ),
    }
    assert {start for start, _ in edges_of("Calls", files)} == {"a.kt#app.run"}


def test_java_calls_functions_of_files_and_members_of_objects(edges_of: EdgesOf) -> None:
    kotlin = (
        "package text\n\nfun helper(n: Int): Int {\n    val k = n\n    return k\n}\n\n"
        "object Single {\n    fun own(n: Int): Int {\n        val k = n\n        return k\n    }\n}\n\n"
        "class Host {\n    companion object {\n        fun make(n: Int): Int {\n            val k = n\n"
        "            return k\n        }\n    }\n}\n"
    )
    java = (
        "package app;\nimport text.*;\nclass User {\n  void run() {\n    int k = 1;\n    UtilKt.helper(k);\n"
        "    Single.INSTANCE.own(k);\n    Host.Companion.make(k);\n    OtherKt.helper(k);\n  }\n}\n"
    )
    calls = edges_of("Calls", {"text/util.kt": kotlin, "app/User.java": java})
    assert {end.partition("#")[2] for _, end in calls} == {"text.helper", "text.Single.own", "text.Host.make"}
