from collections.abc import Callable

from groundwire_ingest.tree.code_facts import RETURNED, Binding, CodeAnalysis, Import
from groundwire_ingest.tree.framework_facts import TableMapping

Analyser = Callable[[str, str], CodeAnalysis]

DECODER = '''\
"""Decoding."""
import re, json.scanner
from . import tools as t
from ..errors import (Bad as Worse, Other)
from string import *

LIMIT = 10


# What a caller may ask for.
@dataclass(frozen=True)
class Decoder(Base[int], mixins.Loud, metaclass=Meta):
    """Reads."""

    scanner: Scanner

    def __init__(self, scanner: Scanner, *, deep: "Options | None" = None) -> None:
        self.scanner = scanner
        self.cache = Cache(LIMIT)
        self.deep: Options = deep

    # Runs.
    @property
    def name(self) -> str:
        return self.scanner.find("a\\n" "b")

    class Inner:
        pass


async def decode(text,
                 *rest):
    with Decoder(text) as opened:
        opened.raw_decode(text)
    super().close()
    Decoder().run()
    return re.compile(f"{text} x").match(text)
'''


def test_chunks_are_whole_lines_with_symbol_signature_and_span(analyse: Analyser) -> None:
    nodes = {node.local_id: node for node in analyse("lib/json/decoder.py", DECODER).file.nodes}
    lines = DECODER.split("\n")
    assert [(key, node.start_line, node.end_line, node.symbol, node.signature) for key, node in nodes.items()] == [
        ("lib/json/decoder.py", 1, 37, "lib.json.decoder", ""),
        ("lib/json/decoder.py#LIMIT", 7, 7, "LIMIT", "LIMIT = 10"),
        ("lib/json/decoder.py#Decoder", 10, 28, "Decoder", "class Decoder(Base[int], mixins.Loud, metaclass=Meta)"),
        (
            "lib/json/decoder.py#Decoder.__init__",
            17,
            20,
            "Decoder.__init__",
            'def __init__(self, scanner: Scanner, *, deep: "Options | None" = None) -> None',
        ),
        ("lib/json/decoder.py#Decoder.name", 22, 25, "Decoder.name", "def name(self) -> str"),
        ("lib/json/decoder.py#Decoder.Inner", 27, 28, "Decoder.Inner", "class Inner"),
        ("lib/json/decoder.py#decode", 31, 37, "decode", "async def decode(text, *rest)"),
    ]
    assert nodes["lib/json/decoder.py#Decoder"].text == (
        "# What a caller may ask for.\n@dataclass(frozen=True)\n"
        'class Decoder(Base[int], mixins.Loud, metaclass=Meta):\n    """Reads."""\n    scanner: Scanner\n'
        '    def __init__(self, scanner: Scanner, *, deep: "Options | None" = None) -> None ...\n'
        "    def name(self) -> str ...\n    class Inner ..."
    )
    for node in nodes.values():
        is_outline = node.symbol in ("lib.json.decoder", "Decoder")
        assert is_outline or node.text == "\n".join(lines[node.start_line - 1 : node.end_line])
        assert (node.kind, node.language, node.data_type, node.corpus_type) == (
            "py",
            "python",
            "regular_code",
            "CODE_LOGIC",
        )
        assert node.origin == f"lib/json/decoder.py:{node.start_line}"


def test_contains_edges_follow_nesting(analyse: Analyser) -> None:
    edges = analyse("d.py", DECODER).file.edges
    assert {(edge.from_key, edge.to_key, edge.edge_type, edge.confidence) for edge in edges} == {
        ("py::d.py", "py::d.py#LIMIT", "Contains", 1.0),
        ("py::d.py", "py::d.py#Decoder", "Contains", 1.0),
        ("py::d.py#Decoder", "py::d.py#Decoder.__init__", "Contains", 1.0),
        ("py::d.py#Decoder", "py::d.py#Decoder.name", "Contains", 1.0),
        ("py::d.py#Decoder", "py::d.py#Decoder.Inner", "Contains", 1.0),
        ("py::d.py", "py::d.py#decode", "Contains", 1.0),
    }


def test_imports_with_aliases(analyse: Analyser) -> None:
    facts = analyse("d.py", DECODER).facts
    assert facts is not None
    assert facts.imports == (
        Import("re", "", "re", 2),
        Import("json.scanner", "", "", 2),
        Import("json", "", "json", 2),
        Import(".", "tools", "t", 3),
        Import("..errors", "Bad", "Worse", 4),
        Import("..errors", "Other", "Other", 4),
        Import("string", "*", "", 5),
    )


def test_bases_calls_and_variables(analyse: Analyser) -> None:
    facts = analyse("d.py", DECODER).facts
    assert facts is not None
    decoder, init = facts.definitions[2], facts.definitions[3]
    assert decoder.bases == ("Base<int>", "mixins.Loud")
    assert (init.symbol, init.parent) == ("Decoder.__init__", 2)
    assert {(call.receiver, call.name, call.arguments) for call in facts.calls} == {
        ("", "Cache", ("LIMIT",)),
        ("self.scanner", "find", ("",)),
        ("", "Decoder", ("text",)),
        ("", "Decoder", ()),
        ("opened", "raw_decode", ("text",)),
        ("", "super", ()),
        ("super()", "close", ()),
        ("Decoder()", "run", ()),
        ("re", "compile", ('"',)),
        ("re.compile()", "match", ("text",)),
    }
    known = [binding for binding in facts.bindings if binding.type_name or binding.value]
    assert known == [
        Binding(3, "scanner", "Scanner", True),
        Binding(3, "deep", "Options", True),
        Binding(2, "scanner", "Scanner", True),
        Binding(2, "scanner", "Scanner", True, written_in=3),
        Binding(2, "deep", "Options", True, written_in=3),
        Binding(2, "cache", "", False, "Cache()", written_in=3),
        Binding(6, "opened", "", False, "Decoder()", written_in=6),
        Binding(4, RETURNED, "", False, "self.scanner.find()"),
        Binding(6, RETURNED, "", False, "re.compile().match()"),
    ]
    assert {binding.name for binding in facts.bindings} - {binding.name for binding in known} == {
        "text",
        "rest",
        "LIMIT",
    }


def test_string_literals_are_joined_unescaped_and_free_of_documentation(analyse: Analyser) -> None:
    literals = analyse("d.py", DECODER).literals
    assert [(literal.from_key, literal.text, literal.line) for literal in literals] == [
        ("py::d.py#Decoder.__init__", "Options | None", 17),
        ("py::d.py#Decoder.name", "a\nb", 25),
        ("py::d.py#decode", "{text} x", 37),
    ]


def test_definitions_in_branches_and_again_are_told_apart(analyse: Analyser) -> None:
    text = "try:\n    def f(): pass\nexcept Exception:\n    def f(): return 1\nif A:\n    class f: pass\n"
    assert [node.local_id for node in analyse("a.py", text).file.nodes] == ["a.py", "a.py#f", "a.py#f~2", "a.py#f~3"]


def test_tables_of_sqlalchemy_and_django(analyse: Analyser) -> None:
    text = (
        "class Invoice(Base):\n    __tablename__ = 'invoices'\n"
        "    __table_args__ = (Index('i'), {'schema': 'billing'})\n"
        "class Order(models.Model):\n    class Meta:\n        db_table = 'shop_order'\n"
        "class Plain:\n    __tablename__ = NAME\n"
    )
    facts = analyse("models.py", text).facts
    assert facts is not None
    assert facts.mappings == (
        TableMapping("py::models.py#Invoice", 1, "", "billing.invoices", 1.0),
        TableMapping("py::models.py#Order", 2, "", "shop_order", 1.0),
    )


def test_a_package_is_named_by_its_folder(analyse: Analyser) -> None:
    assert analyse("shop/core/__init__.py", "x = 1\n").file.nodes[0].symbol == "shop.core"
    assert analyse("__init__.py", "x = 1\n").file.nodes[0].symbol == "__init__"


def test_identifiers_of_any_script(analyse: Analyser) -> None:
    nodes = analyse("a.py", "class Größe:\n    def mesure_é(self):\n        return 'π'\n").file.nodes
    assert [node.symbol for node in nodes] == ["Größe", "Größe.mesure_é"]


def test_each_setting_of_a_settings_module_is_a_node(analyse: Analyser) -> None:
    text = "DEBUG = False\n# Bytes.\n_LIMIT = 7\nparts = 3\n{}\nif DEBUG:\n    _CACHED = ['a']\n"

    def symbols(text: str) -> list[tuple[str, int, int]]:
        nodes = analyse("site/conf.py", text).file.nodes
        return [(node.local_id.rpartition("#")[2], node.start_line, node.end_line) for node in nodes]

    whole = ("site/conf.py", 1, 7)
    assert symbols(text.format("")) == [whole, ("DEBUG", 1, 1)]
    assert symbols(text.format("SECRET_KEY = 'x'")) == [
        whole,
        ("DEBUG", 1, 1),
        ("_LIMIT", 2, 3),
        ("SECRET_KEY", 5, 5),
        ("_CACHED", 7, 7),
    ]
