"""The requests of a tree: the edges to what answers them, and what other indexes may answer."""

from collections.abc import Iterable, Iterator, Mapping

from groundwire_index.repository_edges.ends import RequestEnd
from groundwire_index.repository_edges.requests import REQUESTS, Asker, Request, RequestMatching, Served
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.code_facts import CodeFacts
from groundwire_ingest.tree.file_analysis import FileEdges
from groundwire_ingest.tree.framework_facts import Page


class TreeRequests:
    """Matches the URLs of a tree against all of its routes, in any language; `ends` are the requests so far."""

    def __init__(self, served: Iterable[Served], services: Mapping[str, str]) -> None:
        self._matching = RequestMatching(served, services)
        self.ends: list[RequestEnd] = []

    def edges(self, facts: CodeFacts) -> Iterator[SourceEdge]:
        """The edges of a file, sorted."""
        yield from self._edges(Asker(facts.path, facts.is_test), facts.requests)

    def page_edges(self, page: Page) -> Iterator[SourceEdge]:
        """The edges of a page, sorted."""
        asker = Asker(page.path, page.is_test)
        yield from self._edges(asker, self._matching.absolute(asker, page.requests, page.rendered_by))

    def _edges(self, asker: Asker, requests: Iterable[Request]) -> Iterator[SourceEdge]:
        edges = FileEdges(asker.path)
        for request in requests:
            answers = self._matching.answers(asker, request)
            for key, confidence in answers:
                edges.note(request.from_key, key, REQUESTS, request.line, confidence)
            # The names of routes are those of one program.
            if not request.is_name:
                self.ends.append(RequestEnd(request, asker, tuple(sorted({key for key, _ in answers}))))
        yield from edges.sorted()
