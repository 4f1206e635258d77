"""A location with its link, and the bytes that the link adds to a response."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import query_pb2, retrieval_pb2
from groundwire_index.link_template import LinkTemplate
from groundwire_index.nodes.node import Location, Node
from groundwire_server.domain.graph.expansion import ExpandedNode
from groundwire_server.domain.response_size import of_expanded_node, of_link, of_link_to, of_match, of_path_node
from groundwire_server.domain.search.search import NodeLabel
from groundwire_server.rpc.conversions.location import encode_location

LINKS = LinkTemplate("https://git.example/shop/blob/main/{path}?at={start_line}#L{start_line}-L{end_line}")
LONG = LinkTemplate("https://git.example/" + "{path}" * 40)

paths = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=5).map("/".join)
lines = st.integers(0, 2**31 - 1)


def test_a_location_has_the_link_of_its_index() -> None:
    location = Location("src/my app.py", 3, 9, "0" * 64, LINKS)
    assert encode_location(location).url == "https://git.example/shop/blob/main/src/my%20app.py?at=3#L3-L9"
    assert encode_location(replace(location, links=None)).url == ""
    assert location == replace(location, links=None), "it is the same place in two versions of an index"
    assert "git.example" not in repr(location)


@given(path=paths, first=lines, last=lines, links=st.sampled_from([LINKS, LONG]))
def test_a_link_adds_no_more_to_a_response_than_is_reckoned(
    path: str, first: int, last: int, links: LinkTemplate
) -> None:
    linked = Location(path, first, last, "0" * 64, links)
    bare = replace(linked, links=None)
    for message in (retrieval_pb2.ReachedNode, retrieval_pb2.PathNode, retrieval_pb2.NodeText, query_pb2.QueryMatch):
        sizes = [message(location=encode_location(location)).ByteSize() for location in (linked, bare)]
        assert sizes[0] - sizes[1] <= of_link(linked) <= of_link_to(path, links)
    assert of_link(bare) == of_link_to(path, None) == 0
    node = Node("a", "md", "a", "", 1, linked)
    assert of_match(node) - of_match(replace(node, location=bare)) == of_link(linked)
    label = NodeLabel("a", "", linked, False, False)
    assert of_path_node(label) - of_path_node(replace(label, location=bare)) == of_link(linked)
    reached = ExpandedNode("a", 1, "b", "", linked, False, False)
    assert of_expanded_node(reached) - of_expanded_node(replace(reached, location=bare)) == of_link(linked)
