"""What the values of Java code lead to, across files."""

from collections.abc import Callable

import pytest

EdgesOf = Callable[..., dict[tuple[str, str], float]]

MODEL = {
    "s/Order.java": (
        "package s;\npublic class Order {\n  private List<Item> items;\n  private Item main;\n"
        "  public void place() {\n    check();\n  }\n}\n"
    ),
    "s/Item.java": "package s;\npublic class Item {\n  public void ship() {\n    go();\n  }\n}\n",
    "s/Row.java": "package s;\npublic record Row(Item item, List<Order> orders) {\n}\n",
    "s/State.java": "package s;\npublic enum State {\n  OPEN, SHUT;\n  public void flip() {\n    go();\n  }\n}\n",
    "s/Repo.java": (
        "package s;\npublic interface Repo extends JpaRepository<Order, Long> {\n"
        "  Optional<Order> findByName(String name);\n  List<Order> findOpen();\n}\n"
    ),
    "s/Keeper.java": "package s;\npublic interface Keeper<T> {\n  Optional<T> keep(String key);\n}\n",
    "s/Items.java": "package s;\npublic interface Items extends Keeper<Item> {\n}\n",
}
SERVICE = "package s;\npublic class Service {{\n  private Repo repo;\n  void run(Object x) {{\n    {body}\n  }}\n}}\n"
RUN = "s/Service.java#s.Service.run"


def ends(edges_of: EdgesOf, edge_type: str, body: str) -> dict[str, float]:
    edges = edges_of(edge_type, {**MODEL, "s/Service.java": SERVICE.format(body=body)})
    return {end.partition("#s.")[2]: sure for (start, end), sure in edges.items() if start == RUN}


@pytest.mark.parametrize(
    ("body", "called", "sure"),
    [
        ('repo.findByName("x").orElseThrow().place();', "Order.place", 0.9),
        ('repo.findByName("x").ifPresent(order -> order.place());', "Order.place", 0.8),
        ("var order = repo.findById(1L).get();\norder.place();", "Order.place", 0.8),
        ("repo.findAll().forEach(order -> order.place());", "Order.place", 0.8),
        ("for (var order : repo.findOpen()) { order.place(); }", "Order.place", 0.8),
        ("repo.findOpen().stream().filter(o -> true).forEach(order -> order.place());", "Order.place", 0.8),
        ("Order order = (Order) x;\norder.place();", "Order.place", 0.9),
        ("if (x instanceof Order order) { order.place(); }", "Order.place", 0.9),
        ("switch (x) { case Order order -> order.place(); default -> { } }", "Order.place", 0.9),
        ("Order order = new Order();\norder.getMain().ship();", "Item.ship", 0.9),
        ("Row row = load();\nrow.item().ship();", "Item.ship", 0.9),
        ("Row row = load();\nrow.orders().forEach(o -> o.place());", "Order.place", 0.8),
        ("State.OPEN.flip();", "State.flip", 0.9),
        ("Item[] items = load();\nitems[0].ship();", "Item.ship", 0.8),
        ('Items items = load();\nitems.keep("k").orElse(null).ship();', "Item.ship", 0.8),
        ("new Item().ship();", "Item.ship", 0.9),
    ],
)
def test_calls(edges_of: EdgesOf, body: str, called: str, sure: float) -> None:
    assert ends(edges_of, "Calls", body)[called] == sure


@pytest.mark.parametrize(
    "body",
    [
        "var order = repo.count();\norder.place();",
        "repo.findOpen().stream().map(o -> o.main).forEach(item -> item.place());",
        "Order order = new Order();\norder.getItems().ship();",
    ],
)
def test_what_is_not_known_to_be_called(edges_of: EdgesOf, body: str) -> None:
    calls = ends(edges_of, "Calls", body)
    assert all(sure < 0.8 for end, sure in calls.items() if end in ("Order.place", "Item.ship"))


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("run(Item::new);", "Item"),
        ("run(Item::ship);", "Item.ship"),
        ("run(this::run);", None),
        ("run(Item.class);", "Item"),
        ("Map<String, List<Item>> found = load();", "Item"),
        ("try { go(); } catch (Order | Item e) { }", "Item"),
        ("if (x == State.OPEN) { }", "State"),
        ("run(item);", None),
    ],
)
def test_references(edges_of: EdgesOf, body: str, named: str | None) -> None:
    references = ends(edges_of, "References", body)
    assert named in references if named else not references


def test_annotations_of_the_tree(edges_of: EdgesOf) -> None:
    files = {
        "s/Audited.java": "package s;\npublic @interface Audited {\n}\n",
        "s/A.java": "package s;\nclass A {\n  @Audited @Override\n  void run() {\n    go();\n  }\n}\n",
    }
    assert edges_of("DecoratedBy", files) == {("s/A.java#s.A.run", "s/Audited.java#s.Audited"): 0.9}


EVENTS = {
    "s/Placed.java": "package s;\npublic class Placed {\n}\n",
    "s/Shop.java": (
        "package s;\nclass Shop {\n  ApplicationEventPublisher events;\n  void place() {\n"
        "    events.publishEvent(new Placed());\n  }\n}\n"
    ),
    "s/Mailer.java": (
        "package s;\nclass Mailer {\n  @{mark}\n  void on(Placed event) {{\n    send(event);\n  }}\n"
        "  void other(Placed event) {{\n    keep(event);\n  }}\n}}\n"
    ),
}


@pytest.mark.parametrize(
    ("mark", "is_handled"),
    [("EventListener", True), ('KafkaListener(topics = "placed")', True), ("Subscribe", True), ("Test", False)],
)
def test_an_event_leads_to_its_listeners(edges_of: EdgesOf, mark: str, is_handled: bool) -> None:
    mailer = EVENTS["s/Mailer.java"].replace("{mark}", mark).replace("{{", "{").replace("}}", "}")
    sent = edges_of("Sends", {**EVENTS, "s/Mailer.java": mailer})
    expected = {("s/Shop.java#s.Shop.place", "s/Mailer.java#s.Mailer.on"): 0.9}
    assert sent == (expected if is_handled else {})


@pytest.mark.parametrize(
    "configuration",
    [
        "class C {\n  @Bean\n  Sender sender() {\n    return new Mail();\n  }\n}\n",
        "class C extends AbstractModule {\n  void configure() {\n    bind(Sender.class).to(Mail.class);\n  }\n}\n",
    ],
)
def test_what_a_configuration_provides_is_what_is_called(edges_of: EdgesOf, configuration: str) -> None:
    implementation = (
        "package s;\npublic class {name} implements Sender {{\n  public void send() {{\n    go();\n  }}\n}}\n"
    )
    files = {
        "s/Sender.java": "package s;\npublic interface Sender {\n  void send();\n}\n",
        "s/Mail.java": implementation.format(name="Mail"),
        "s/Fax.java": implementation.format(name="Fax"),
        "s/C.java": f"package s;\n{configuration}",
        "s/User.java": "package s;\nclass User {\n  Sender sender;\n  void run() {\n    sender.send();\n  }\n}\n",
    }
    assert edges_of("BoundTo", files) == {("s/Sender.java#s.Sender", "s/Mail.java#s.Mail"): 0.9}
    calls = edges_of("Calls", files)
    assert calls["s/User.java#s.User.run", "s/Mail.java#s.Mail.send"] == 0.9
    assert calls["s/User.java#s.User.run", "s/Fax.java#s.Fax.send"] == 0.5


def test_a_test_that_makes_doubles_may_call_one_of_them(edges_of: EdgesOf) -> None:
    files = {
        "s/Sender.java": "package s;\npublic interface Sender {\n  void send();\n}\n",
        "s/Mail.java": "package s;\nclass Mail implements Sender {\n  public void send() {\n    go();\n  }\n}\n",
        "s/UserTest.java": (
            "package s;\nimport org.mockito.Mock;\nclass UserTest {\n  @Mock Sender sender;\n  void test() {\n"
            "    sender.send();\n  }\n}\n"
        ),
    }
    assert edges_of("Calls", files)["s/UserTest.java#s.UserTest.test", "s/Mail.java#s.Mail.send"] == 0.5
