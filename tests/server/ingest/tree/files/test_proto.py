"""Protocol buffers: nodes, the model, and edges between types."""

from collections.abc import Callable, Mapping

from groundwire_ingest.tree.files.facts_about_code import ProtoFacts
from groundwire_ingest.tree.files.proto import MAX_NESTING, proto_edges
from groundwire_ingest.tree.files.reading import FileReading

Read = Callable[[str, str], FileReading]
Chunks = Callable[[str, str], list[tuple[str, int, int]]]

BASKET = """\
syntax = "proto3";
package shop.v1; // service Fake {
option csharp_namespace = "Shop.Grpc";
option java_multiple_files = true;
import public "shop/common.proto";

/* what customers
   want */
// The basket.
service Basket {
  option deprecated = true;
  // Gets it.
  rpc Get (GetRequest) returns (stream Reply) {
    option (google.api.http) = { get: "/v1/{id}" };
  }
  rpc Put(stream .shop.v1.GetRequest) returns (Empty) {}
  rpc Del(GetRequest) returns (shop.common.Money);
}

message GetRequest {
  string id = 1 [(rules).string = {min_len: 1}];
  repeated Item items = 2;
  map<string, Kind> kinds = 3;
  oneof choice {
    Reply reply = 4;
    int32 number = 5;
  }
  reserved 6, 7;
  message Item { Kind kind = 1; }
}
enum Kind { A = 0; }
message Reply {
  Item unknown = 1;
}
"""
COMMON = "package shop.common;\nmessage Money {\n}\n"


def _facts(read: Read, path: str, text: str) -> ProtoFacts:
    facts = read(path, text).facts
    assert isinstance(facts, ProtoFacts)
    return facts


def _edges(read: Read, files: Mapping[str, str]) -> list[tuple[str, str, int]]:
    edges = proto_edges([_facts(read, path, text) for path, text in files.items()])
    return [(edge.from_key.partition("#")[2], edge.to_key.removeprefix("proto::"), edge.line) for edge in edges]


def test_services_rpcs_and_types_are_nodes(chunks: Chunks) -> None:
    assert chunks("shop/basket.proto", BASKET) == [
        ("basket.proto", 1, 34),
        ("Basket", 9, 18),
        ("Basket.Get", 12, 15),
        ("Basket.Put", 16, 16),
        ("Basket.Del", 17, 17),
        ("GetRequest", 20, 30),
        ("Kind", 31, 31),
        ("Reply", 32, 34),
    ]


def test_the_model(read: Read) -> None:
    facts = _facts(read, "shop/basket.proto", BASKET)
    assert (facts.package, facts.imports) == ("shop.v1", (("shop/common.proto", 5),))
    assert facts.options == (("csharp_namespace", "Shop.Grpc"), ("java_multiple_files", "true"))
    (service,) = facts.services
    assert (service.name, service.line, service.key) == ("Basket", 10, "proto::shop/basket.proto#Basket")
    assert [(rpc.name, rpc.request, rpc.response, rpc.line) for rpc in service.rpcs] == [
        ("Get", "GetRequest", "Reply", 13),
        ("Put", ".shop.v1.GetRequest", "Empty", 16),
        ("Del", "GetRequest", "shop.common.Money", 17),
    ]
    assert service.rpcs[0].key == "proto::shop/basket.proto#Basket.Get"
    assert [(item.name, item.key.partition("#")[2]) for item in facts.types] == [
        ("GetRequest", "GetRequest"),
        ("GetRequest.Item", "GetRequest"),
        ("Kind", "Kind"),
        ("Reply", "Reply"),
    ]
    assert facts.types[0].references == (("Item", 22), ("Kind", 23), ("Reply", 25))


def test_edges_lead_to_the_types_that_names_mean(read: Read) -> None:
    files = {"proto/shop/basket.proto": BASKET, "proto/shop/common.proto": COMMON}
    assert _edges(read, files) == [
        ("Basket.Get", "proto/shop/basket.proto#GetRequest", 13),
        ("Basket.Get", "proto/shop/basket.proto#Reply", 13),
        ("Basket.Put", "proto/shop/basket.proto#GetRequest", 16),
        ("Basket.Del", "proto/shop/basket.proto#GetRequest", 17),
        ("Basket.Del", "proto/shop/common.proto#Money", 17),
        ("GetRequest", "proto/shop/basket.proto#Kind", 23),
        ("GetRequest", "proto/shop/basket.proto#Reply", 25),
        ("GetRequest", "proto/shop/basket.proto#Kind", 29),
    ]


def test_of_types_called_the_same_the_own_and_the_imported_count(read: Read) -> None:
    user = 'package a;\nimport "two/m.proto";\nmessage U {\n  M m = 1;\n}\n'
    message = "package a;\nmessage M {\n}\n"
    both = {"one/m.proto": message, "two/m.proto": message, "u.proto": user}
    assert _edges(read, both) == [("U", "two/m.proto#M", 4)]
    assert _edges(read, {**both, "u.proto": user.replace("import", "// ")}) == []
    assert _edges(read, {**both, "u.proto": user + "message M {\n}\n"}) == [("U", "u.proto#M", 4)]


def test_deep_nesting_and_open_braces_are_text(read: Read) -> None:
    deep = "message A {\n" * (MAX_NESTING + 5)
    facts = _facts(read, "a.proto", deep + "B b = 1;\n")
    assert max(item.name.count(".") for item in facts.types) == MAX_NESTING - 1
    assert _facts(read, "a.proto", "service A {\n rpc B(C) returns\nrpc").services[0].rpcs == ()
