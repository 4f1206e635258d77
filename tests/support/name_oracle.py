"""The definition of a node's trigram similarity to a query, name by name."""

from groundwire_index.nodes.node import Node
from groundwire_index.text.trigram_names import node_names, query_names


def trigrams(name: str) -> set[str]:
    """As pg_trgm takes them: two spaces before, one after."""
    padded = f"  {name} "
    return {padded[start : start + 3] for start in range(len(padded) - 2)}


def name_similarity(query: str, node: Node) -> float:
    """The greatest share of common trigrams over all pairs of a name in the query and one of the node."""
    pairs = (
        (trigrams(query_name), trigrams(node_name))
        for query_name in query_names(query)
        for node_name in node_names(node.symbol, node.location.path)
    )
    return max((len(first & second) / len(first | second) for first, second in pairs), default=0.0)
