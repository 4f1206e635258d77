"""The results of the tools, as structured content. Empty fields are left out.

Agents hand either the structured content or the text of a result to the model, so each is complete by itself. Results
that quote sources are text alone, because JSON would escape their lines.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    """A part of a result."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


class Result(Part, ABC):
    """The results of tools; `is_structured` says whether they have structured content."""

    is_structured: ClassVar[bool] = True
    note: Annotated[str, Field(description="The parts that are missing, and how to get them.")] = ""

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """The same for people and models that read text, without the note."""

    def text(self) -> str:
        """The lines, and the note."""
        return "\n".join([*self.lines(), *([self.note] if self.note else [])])


class NodeLine(Part):
    """A node without its text."""

    place: Annotated[str, Field(description="`path:first line-last line`. Names the node for the other tools.")] = ""
    id: Annotated[str, Field(description="Names the node instead, where its lines are unknown.")] = ""
    symbol: Annotated[str, Field(description="The name, without what the path says of it.")] = ""
    repository: Annotated[str, Field(description="Its repository, where several were asked.")] = ""
    test: Annotated[bool, Field(description="It is code that tests other code.")] = False
    generated: Annotated[bool, Field(description="A tool generated it.")] = False

    def line(self) -> str:
        """Place and symbol in one line, and the id where the place does not name the node."""
        remarks = [word for word, holds in (("test", self.test), ("generated", self.generated)) if holds]
        named = f"id={self.id}" if self.id else "", f"repository={self.repository}" if self.repository else ""
        return "  ".join(filter(None, (self.place, self.symbol, *remarks, *named)))


class RepositoryLine(Part):
    """A repository that a model may choose."""

    repository: Annotated[str, Field(description="Its name, for the argument `repository`.")]
    index: Annotated[str, Field(description="The index version that answers.")]
    source: Annotated[str, Field(description="What it was built from.")] = ""
    links: Annotated[str, Field(description="Makes the address of lines, for people; percent-encode {path}.")] = ""
    nodes: int
    edges: int
    search_types: list[str]


class Repositories(Result):
    """Result of `list_repositories`."""

    repositories: list[RepositoryLine]

    def lines(self) -> Iterator[str]:
        """One line each."""
        for line in self.repositories:
            kinds = ", ".join(line.search_types)
            links = f"; links {line.links}" if line.links else ""
            counts = f"{line.nodes} nodes, {line.edges} edges"
            yield f"{line.repository}  {counts}; search_type: {kinds}; index {line.index}{links}"


class Hit(NodeLine):
    """A hit of a search."""

    code: Annotated[str, Field(description="The signature, or the first line of the text.")] = ""

    def line(self) -> str:
        """The node in one line, and its signature."""
        return "  ".join(filter(None, (NodeLine.line(self), self.code)))


class Hits(Result):
    """Result of `search_code`."""

    hits: Annotated[list[Hit], Field(description="Best first.")]

    def lines(self) -> Iterator[str]:
        """One line each."""
        return map(Hit.line, self.hits)


class GraphNode(NodeLine):
    """A node of a graph; `n` is its number in this result."""

    n: int
    depth: Annotated[int, Field(description="Edges from the nearest start.")] = 0


class GraphEdge(Part):
    """`from` depends on `to`; both are numbers of nodes."""

    source: Annotated[int, Field(alias="from")]
    target: Annotated[int, Field(alias="to")]
    type: str
    line: Annotated[int, Field(description="Where, in the file of `from`, it is written.")] = 0
    confidence: Annotated[float, Field(description="Absent: 1.")] = 1.0

    def said(self) -> str:
        """The type, and what is not certain or known of it."""
        line = f", line {self.line}" if self.line else ""
        certainty = f", confidence {self.confidence:g}" if self.confidence < 1 else ""
        return f"{self.type}{line}{certainty}"


class Graph(Result):
    """Result of `expand_graph`."""

    nodes: Annotated[list[GraphNode], Field(description="Starts first, then by depth.")]
    edges: list[GraphEdge]

    def lines(self) -> Iterator[str]:
        """The nodes, then the edges."""
        yield from node_lines(self.nodes)
        for edge in self.edges:
            yield f"[{edge.source}] -> [{edge.target}]  {edge.said()}"


class Path(Part):
    """A path, as the edges from its first node to its last."""

    nodes: Annotated[list[int], Field(description="Numbers of the nodes, in order.")]
    edges: Annotated[list[GraphEdge], Field(description="edges[i] joins nodes[i] and nodes[i + 1].")]

    def line(self) -> str:
        """The path in one line; an arrow points from what depends to what it depends on."""
        steps = [f"[{self.nodes[0]}]"]
        for node, edge in zip(self.nodes[1:], self.edges, strict=True):
            steps.append(f"-({edge.said()})-> [{node}]" if edge.target == node else f"<-({edge.said()})- [{node}]")
        return " ".join(steps)


class Paths(Result):
    """Result of `find_paths`."""

    paths: Annotated[list[Path], Field(description="Shortest first.")]
    nodes: list[GraphNode]

    def lines(self) -> Iterator[str]:
        """The nodes, then the paths."""
        yield from node_lines(self.nodes)
        for number, path in enumerate(self.paths, start=1):
            yield f"path {number}: {path.line()}"


class Text(NodeLine):
    """A node with its text, exactly as in the source."""

    text: str


class Quotation(Result):
    """Result of `ask` and `read_code`: sources as they are quoted to a model."""

    is_structured: ClassVar[bool] = False
    quoted: str

    def lines(self) -> Iterator[str]:
        """All of it."""
        if self.quoted:
            yield self.quoted.removesuffix("\n")


def node_lines(nodes: Sequence[GraphNode]) -> Iterator[str]:
    """A line for each node of a graph, by its number."""
    for node in nodes:
        yield f"[{node.n}] {node.line()}" + (f"  depth {node.depth}" if node.depth else "")
