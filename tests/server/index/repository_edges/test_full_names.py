"""What a full name means among those that several repositories offer."""

from collections.abc import Iterator, Sequence

from groundwire_index.repository_edges.full_names import (
    MAX_COPIES,
    FullNames,
    NamedEdge,
    NameMatching,
    NameUse,
    OfferedIn,
    OfferedName,
)

CLIENT = OfferedName("java", "lib.Client", "client", "file", line=3)
SEND = OfferedName("java", "lib.Client.send", "send", "file", line=5)
MAKE = OfferedName("java", "lib.make", "make", "file", result="lib.Client", result_confidence=0.8)


def use(*names: str, edge_type: str = "Calls", space: str = "java") -> NameUse:
    return NameUse(space, FullNames.of(*names), "user", edge_type, 7, 1.0)


def edges(offered: Sequence[OfferedIn], wanted: NameUse, index: int = 0) -> list[tuple[str, str, float]]:
    matches: Iterator[NamedEdge] = NameMatching(offered).edges(index, "app", wanted)
    return [(edge.other_key, edge.edge_type, edge.confidence) for edge in matches]


def of_lib(*names: OfferedName, index: int = 1, repository: str = "lib") -> list[OfferedIn]:
    return [OfferedIn(index, repository, name) for name in names]


def test_the_first_name_that_is_offered_counts() -> None:
    offered = of_lib(CLIENT, SEND)
    assert edges(offered, use("other.Client()", "lib.Client()", "lib.Client.send()")) == [("client", "Calls", 1.0)]


def test_a_name_goes_through_what_a_call_returns() -> None:
    offered = of_lib(CLIENT, SEND, MAKE)
    assert edges(offered, use("lib.make().send()")) == [("send", "Calls", 0.8)]
    assert edges(offered, use("lib.Client().send()")) == [("send", "Calls", 1.0)]
    assert edges(offered, use("lib.make().absent()")) == []
    assert edges(offered, use("lib.Client()" + ".a()" * 9)) == []


def test_a_name_of_several_repositories_or_of_its_own_leads_nowhere() -> None:
    offered = of_lib(CLIENT)
    assert edges([*offered, *of_lib(CLIENT, index=2, repository="fork")], use("lib.Client")) == []
    assert edges([*offered, *of_lib(CLIENT, index=0, repository="app")], use("lib.Client")) == []
    # Another branch of the using repository says nothing; two branches of the other one are two places.
    assert len(edges([*offered, *of_lib(CLIENT, index=2, repository="app")], use("lib.Client"))) == 1
    assert len(edges([*offered, *of_lib(CLIENT, index=2)], use("lib.Client"))) == 2


def test_overloads_are_guesses_and_too_many_lead_nowhere() -> None:
    overloads = [OfferedName("java", "lib.Client.send", f"send{number}", "file") for number in range(4)]
    assert {edge[2] for edge in edges(of_lib(*overloads[:3]), use("lib.Client.send()"))} == {0.5}
    assert edges(of_lib(*overloads), use("lib.Client.send()")) == []
    assert edges(of_lib(*overloads[:2]), use("lib.Client.send", edge_type="Imports")) == []


def test_copies_of_a_method_are_all_meant() -> None:
    def copies(count: int) -> list[OfferedIn]:
        name = OfferedName("rpc", "shop.Orders/Get", "get", "service", is_abstract=True)
        return [OfferedIn(number, f"lib{number}", name) for number in range(1, count + 1)]

    wanted = use("shop.Orders/Get", edge_type="Overrides", space="rpc")
    offered_by_app = of_lib(OfferedName("rpc", "shop.Orders/Get", "own", "service"), index=0, repository="app")
    assert (
        edges([*offered_by_app, *copies(2)], wanted) == [("get", "Implements", 1.0), ("get", "ImplementedBy", 1.0)] * 2
    )
    assert len(edges(copies(MAX_COPIES), wanted)) == 2 * MAX_COPIES
    assert edges(copies(MAX_COPIES + 1), wanted) == []
