"""Text to paste elsewhere of what a page shows: Markdown with citations, and Mermaid for drawings."""

import re
from collections.abc import Iterable, Mapping, Sequence

from groundwire.printable_text import one_line
from groundwire_client.cli import place
from groundwire_explore.box_names import distinct_names
from groundwire_explore.folders import Part
from groundwire_explore.neighbourhood import Edge, Placed
from groundwire_explore.results import Match, Results

_MERMAID = str.maketrans({sign: f"#{ord(sign)};" for sign in '"#<>&`\\[](){}|'})
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#|!~])")


def markdown(question: str, scope: str, answer: Results, also: Sequence[str] = ()) -> str:
    """An answer: the question, the indexes, and each match with its citation and text."""
    asked_scopes = _plain(", ".join(" · ".join(name.split("::")[:2]) for name in (scope, *also)))
    head = f"# {_plain(question)}\n\nFrom index {_plain(answer.index)} of {asked_scopes}.\n"
    return "\n".join([head, *(_match(match) for match in answer.matches)])


def _match(match: Match) -> str:
    title = f"## {match.rank or '·'}. {_plain(match.name)}\n\n{_code(place(match.location, match.id))}\n"
    if match.text is None:
        return f"{title}\nText left out: {_plain(match.omission)}\n" if match.omission else title
    text = match.text.text
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    suffix = match.location.path.rpartition(".")[2]
    return f"{title}\n{fence}{suffix if suffix.isalnum() else ''}\n{text}\n{fence}\n"


def mermaid_graph(nodes: Sequence[Placed], edges: Iterable[Edge]) -> str:
    """The graph around a node as a flowchart."""
    numbers = {node.id: number for number, node in enumerate(nodes)}
    links = {(numbers[edge.source.id], numbers[edge.target.id], edge.edge_type): None for edge in edges}
    return _flowchart(
        distinct_names([(node.name, node.location.path) for node in nodes]),
        (f'n{start} -->|"{_label(edge_type)}"| n{end}' for start, end, edge_type in links),
    )


def mermaid_map(parts: Sequence[Part], edges: Mapping[tuple[str, str], int]) -> str:
    """The parts of a folder and the edges between them as a flowchart."""
    numbers = {part.path: number for number, part in enumerate(parts)}
    drawn = {pair: count for pair, count in edges.items() if {*pair} <= numbers.keys()}
    links = sorted((-count, numbers[start], numbers[end]) for (start, end), count in drawn.items())
    names = [f"{part.path} {part.nodes:,}" for part in parts]
    return _flowchart(names, (f'n{start} -->|"{-count:,}"| n{end}' for count, start, end in links))


def _flowchart(names: Iterable[str], links: Iterable[str]) -> str:
    boxes = (f'n{number}["{_label(name)}"]' for number, name in enumerate(names))
    return "\n  ".join(["flowchart LR", *boxes, *links]) + "\n"


def _label(text: str) -> str:
    """A text on one line as a label of Mermaid."""
    return one_line(text).translate(_MERMAID)


def _plain(text: str) -> str:
    """A text on one line in which no sign is markup."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def _code(text: str) -> str:
    """A text on one line as code."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{one_line(text)}{space}{fence}"
