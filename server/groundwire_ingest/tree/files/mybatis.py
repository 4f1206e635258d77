"""Mapper files of MyBatis: the statements of SQL that stand for the methods of an interface."""

import re
from collections.abc import Sequence
from xml.sax.saxutils import unescape

from groundwire_ingest.tree.chunking import lines_of
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.facts_about_code import MapperFacts, MapperStatement
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.files.xml_files import Element, element_parts, element_paths

_STATEMENTS = frozenset({"select", "insert", "update", "delete"})
_OWN = _STATEMENTS | {"sql"}
_MARKUP = re.compile(r"""<!--|<!\[CDATA\[|<(?P<closing>/?)(?P<tag>[\w.-]++)(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+>""")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>"}
_QUOTES = {"&quot;": '"', "&apos;": "'"}
"""The entities of XML that `unescape` does not know by itself. No others are read, nor characters by their numbers."""
_VALUE = re.compile(r"#\{[^{}]*\}")
_WORDS = {"where": " WHERE ", "set": " SET "}
"""What the elements that MyBatis replaces by a word of SQL stand for."""


def is_mapper(elements: Sequence[Element]) -> bool:
    """True for a file of MyBatis that belongs to an interface."""
    return bool(elements) and elements[0].name == "mapper" and bool(elements[0].attributes.get("namespace"))


def read_mapper(file: SourceFile, elements: Sequence[Element]) -> FileReading:
    """Each statement as a node of its own, and the SQL in it."""
    lines = lines_of(file.text)
    # Of several elements that begin in one line the first counts.
    first = {element.line: element for element in reversed(elements) if element.depth == 2}
    own_elements = [element for element in first.values() if element.name in _OWN and element.attributes.get("id")]
    parts = [Part((element.attributes["id"],), element.line, element.end_line, is_own=True) for element in own_elements]
    starts = {element.line for element in own_elements}
    others = element_parts(elements, element_paths(elements))
    parts += (part for part in others if len(part.path) == 1 and part.start_line not in starts)
    statements = (
        MapperStatement(
            element.attributes["id"], element.line, _sql("".join(lines[element.line - 1 : element.end_line]))
        )
        for element in sorted(own_elements, key=lambda item: item.line)
        if element.name in _STATEMENTS
    )
    facts = MapperFacts(elements[0].attributes["namespace"], tuple(statements))
    return FileReading(write_parts(file, parts), facts=facts)


def _sql(written: str) -> str:
    """The SQL of an element: all branches of its conditions, `?` for values."""
    said: list[str] = []
    position = 0
    while (markup := _MARKUP.search(written, position)) is not None:
        said.append(unescape(written[position : markup.start()], _QUOTES))
        position = markup.end()
        ending = _ENDS.get(markup[0], "")
        if not ending:
            said.append(_WORDS.get(markup["tag"], " ") if not markup["closing"] else " ")
            continue
        end = written.find(ending, position)
        if end < 0:
            position = len(written)
            break
        said.append(written[position:end] if ending == "]]>" else " ")
        position = end + len(ending)
    said.append(unescape(written[position:], _QUOTES))
    return _VALUE.sub("?", "".join(said)).strip()
