"""Messages and their handlers, what is injected, configured and tested, in C#."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

COMMAND = "namespace S;\npublic record Ship(int Id) : IRequest<bool>;\n"
HANDLER = (
    "namespace S;\npublic class ShipHandler : IRequestHandler<Ship, bool>\n{\n"
    "    public ShipHandler(IMediator mediator)\n    {\n        Check(mediator);\n    }\n"
    "    public Task<bool> Handle(Ship command, CancellationToken token)\n    {\n        return Go();\n    }\n}\n"
)
HANDLE = "Handler.cs#S.ShipHandler.Handle"


def sender(body: str) -> str:
    start = "namespace S;\npublic class Api\n{\n    IMediator mediator;\n    void Post(int id)\n    {\n        "
    return start + body + "\n    }\n}\n"


@pytest.mark.parametrize(
    ("body", "confidence"),
    [
        ("mediator.Send(new Ship(id));", 0.9),
        ("var command = new Ship(id);\n        await mediator.Send(command);", 0.9),
        ("Ship command = new(id);\n        bus.PublishAsync(command);", 0.9),
        ("order.AddDomainEvent(new Ship(id));", 0.9),
        ("var x = a ? new Ship(1) : null;\n        mediator.Send(x);", 0.8),
        ("Keep(new Ship(id));", 0.6),
    ],
)
def test_who_sends_a_message_leads_to_its_handler(edges_of: EdgesOf, body: str, confidence: float) -> None:
    files = {"Ship.cs": COMMAND, "Handler.cs": HANDLER, "Api.cs": sender(body)}
    assert edges_of("Sends", files) == {("Api.cs#S.Api.Post", HANDLE): confidence}


def test_a_message_leads_to_its_handler(edges_of: EdgesOf) -> None:
    assert edges_of("HandledBy", {"Ship.cs": COMMAND, "Handler.cs": HANDLER}) == {("Ship.cs#S.Ship", HANDLE): 0.9}


@pytest.mark.parametrize("body", ["mediator.Send(id);", "mediator.Send(new Other());", "Check(command);"])
def test_nothing_is_sent_by_a_call_without_the_message(edges_of: EdgesOf, body: str) -> None:
    files = {"Ship.cs": COMMAND + "public class Other { }\n", "Handler.cs": HANDLER, "Api.cs": sender(body)}
    assert edges_of("Sends", files) == {}


def test_a_repository_of_a_type_is_no_handler_of_it(edges_of: EdgesOf) -> None:
    repository = "namespace S;\nclass Repo : IRepository<Ship>\n{\n    public void Add(Ship s) => Go(s);\n}\n"
    files = {"Ship.cs": COMMAND, "Repo.cs": repository, "Api.cs": sender("repo.Send(new Ship(id));")}
    assert edges_of("HandledBy", files) == edges_of("Sends", files) == {}
    assert edges_of("SpecializedBy", files) == {
        ("Ship.cs#S.Ship", "Repo.cs#S.Repo"): 0.9,
        ("Ship.cs#S.Ship", "Repo.cs#S.Repo.Add"): 0.9,
    }


@pytest.mark.parametrize(
    "body", ["bus.Publish(new Paid(1));", "IntegrationEvent made = new Paid(1);\n        bus.Publish(made);"]
)
def test_an_event_of_the_same_name_in_another_service_is_handled_there(edges_of: EdgesOf, body: str) -> None:
    event = "namespace {0};\npublic record Paid(int Id) : IntegrationEvent;\n"
    files = {
        "a/Paid.cs": event.format("A"),
        "b/Paid.cs": event.format("B"),
        "b/H.cs": ("namespace B;\nclass H : IEventHandler<Paid>\n{\n    public Task Handle(Paid p) => X();\n}\n"),
        "a/Pay.cs": f"namespace A;\nclass Pay\n{{\n    void Do()\n    {{\n        {body}\n    }}\n}}\n",
    }
    assert edges_of("Sends", files) == {("a/Pay.cs#A.Pay.Do", "b/H.cs#B.H.Handle"): 0.8}


def test_a_command_within_a_feature_is_handled_by_that_feature_alone(edges_of: EdgesOf) -> None:
    feature = (
        "namespace Shop.{0};\npublic class Create\n{{\n    public record Command(int Id) : IRequest<int>;\n\n"
        "    public class Handler : IRequestHandler<Command, int>\n    {{\n"
        "        public Task<int> Handle(Command message, CancellationToken token) => Make(message.Id);\n    }}\n}}\n"
    )
    files = {
        "Users.cs": feature.format("Users"),
        "Orders.cs": feature.format("Orders"),
        "UsersController.cs": (
            "namespace Shop.Users;\nclass UsersController\n{\n"
            "    public Task<int> Post() => mediator.Send(new Create.Command(1));\n}\n"
        ),
    }
    assert {end for _, end in edges_of("Sends", files)} == {"Users.cs#Shop.Users.Create.Handler.Handle"}
    assert {start.partition("#")[0] for start, end in edges_of("HandledBy", files) if end.startswith("Users.cs")} == {
        "Users.cs"
    }


def test_what_is_registered_for_a_parameter_of_a_constructor_is_injected(edges_of: EdgesOf) -> None:
    files = {
        "A.cs": (
            "interface IClock\n{\n}\nclass Clock : IClock { }\nclass Zone : IClock { }\n"
            "class Shop(IClock clock)\n{\n    void Run() => clock.Now();\n}\n"
            "class Store\n{\n    public Store(IClock clock) => Keep(clock);\n    void Set(IClock clock) => Go();\n}\n"
            "class Setup\n{\n    void Add() => services.AddSingleton<IClock, Clock>();\n}\n"
        )
    }
    assert edges_of("Injects", files) == {("A.cs#Shop", "A.cs#Clock"): 0.9, ("A.cs#Store.Store", "A.cs#Clock"): 0.9}


SEVERAL = {
    "IStep.cs": "namespace S;\npublic interface IStep\n{\n    void Go();\n}\n",
    **{
        f"{name}.cs": f"namespace S;\npublic class {name} : IStep\n{{\n    public void Go() => Walk(1);\n}}\n"
        for name in ("First", "Second")
    },
    "Program.cs": "using S;\nservices.AddScoped<IStep, First>();\nservices.AddScoped<IStep, Second>();\n",
}


@pytest.mark.parametrize(
    "collection", ["IEnumerable<IStep>", "IReadOnlyList<S.IStep>", "IStep[]", "Lazy<IList<IStep>>"]
)
def test_all_that_is_registered_is_injected_where_a_collection_is_asked_for(edges_of: EdgesOf, collection: str) -> None:
    runner = (
        "namespace S;\npublic class Runner\n{\n"
        f"    public Runner({collection} steps)\n    {{\n        Check(steps);\n    }}\n}}\n"
    )
    injected = edges_of("Injects", {**SEVERAL, "Runner.cs": runner})
    assert injected == {("Runner.cs#S.Runner.Runner", f"{name}.cs#S.{name}"): 0.9 for name in ("First", "Second")}


def test_nothing_is_injected_for_what_is_about_a_type(edges_of: EdgesOf) -> None:
    runner = "namespace S;\npublic class Runner(ILogger<IStep> log)\n{\n}\n"
    assert edges_of("Injects", {**SEVERAL, "Runner.cs": runner}) == {}


def test_a_loop_over_what_a_container_gives_leads_to_each_implementation(edges_of: EdgesOf) -> None:
    runner = (
        "namespace S;\npublic class Runner(IServiceProvider provider)\n{\n    public void Run()\n    {\n"
        "        foreach (var step in provider.GetServices<IStep>())\n        {\n            step.Go();\n        }\n"
        "    }\n}\n"
    )
    calls = edges_of("Calls", {**SEVERAL, "Runner.cs": runner})
    assert {end: calls["Runner.cs#S.Runner.Run", end] for start, end in calls if start == "Runner.cs#S.Runner.Run"} == {
        "IStep.cs#S.IStep.Go": 0.8,
        "First.cs#S.First.Go": 0.5,
        "Second.cs#S.Second.Go": 0.5,
    }


def test_a_type_of_tests_leads_to_what_it_is_named_after(edges_of: EdgesOf) -> None:
    files = {
        "src/Order.cs": "class Order { }\nclass Other { }\n",
        "tests/OrderTests.cs": "class OrderTests { }\nclass Helper { }\nclass MissingTests { }\n",
    }
    assert edges_of("Tests", files) == {("tests/OrderTests.cs#OrderTests", "src/Order.cs#Order"): 0.8}


def test_parts_of_a_type_lead_to_each_other(edges_of: EdgesOf) -> None:
    files = {
        "a/Program.cs": "var app = Build();\napp.Run();\n",
        "a/Program.Testing.cs": "public partial class Program { }\n",
        "b/Program.cs": "Start();\nStop();\n",
        "c/A.cs": "partial class A { }\n",
        "c/B.cs": "partial class A { }\n",
    }
    assert edges_of("PartialOf", files).keys() == {
        ("a/Program.cs", "a/Program.Testing.cs#Program"),
        ("a/Program.Testing.cs#Program", "a/Program.cs"),
        ("c/A.cs#A", "c/B.cs#A"),
        ("c/B.cs#A", "c/A.cs#A"),
    }


@pytest.mark.parametrize(
    ("base", "parameter"),
    [
        ("IRequestHandler<Ship, bool>", "Ship"),
        ("MediatR.INotificationHandler<Ship>", "Ship"),
        ("IConsumer<Ship>", "ConsumeContext<Ship>"),
        ("IConsumer<Batch<Ship>>", "ConsumeContext<Batch<Ship>>"),
        ("IHandleMessages<Ship>", "Ship"),
        ("RequestHandlerAsync<Ship>", "Ship"),
    ],
)
def test_handlers_of_libraries_for_messages(edges_of: EdgesOf, base: str, parameter: str) -> None:
    handler = f"namespace S;\nclass H : {base}\n{{\n    public Task Take({parameter} message) => Go(message);\n}}\n"
    assert edges_of("HandledBy", {"Ship.cs": COMMAND, "H.cs": handler}) == {("Ship.cs#S.Ship", "H.cs#S.H.Take"): 0.9}


@pytest.mark.parametrize(
    "base",
    [
        "AuthorizationHandler<OwnerRequirement, User>",
        "AuthorizationHandler<User, Order>",
        "SqlMapper.TypeHandler<User>",
        "ISubscriberFactory<User>",
        "IRequestHandler<Other, User>",
    ],
)
def test_a_type_argument_of_another_handler_is_no_message(edges_of: EdgesOf, base: str) -> None:
    files = {
        "User.cs": "namespace S;\npublic class User { }\n",
        "H.cs": f"namespace S;\nclass H : {base}\n{{\n    public Task Handle(User user, int n) => Go(user);\n}}\n",
        "Api.cs": sender("bus.Publish(new User());").replace("int id", ""),
    }
    assert edges_of("HandledBy", files) == edges_of("Sends", files) == {}


def test_handlers_of_the_tree_are_known_by_what_is_published(edges_of: EdgesOf) -> None:
    interface = "namespace S;\npublic interface IReactsTo<T>\n{\n    Task React(T happened);\n}\n"
    handler = "namespace S;\nclass {0}Reaction : IReactsTo<{0}>\n{{\n    public Task React({0} it) => Go(it);\n}}\n"
    files = {
        "I.cs": interface,
        "Ship.cs": "namespace S;\npublic record Ship(int Id);\npublic record Port(int Id);\n",
        "ShipReaction.cs": handler.format("Ship"),
        "PortReaction.cs": handler.format("Port"),
        "Api.cs": sender("bus.Publish(new Ship(id));\n        Keep(new Port(id));"),
    }
    assert edges_of("Sends", files) == {("Api.cs#S.Api.Post", "ShipReaction.cs#S.ShipReaction.React"): 0.9}


def test_a_base_class_of_the_tree_may_derive_from_a_handler(edges_of: EdgesOf) -> None:
    files = {
        "Ship.cs": COMMAND,
        "Base.cs": "namespace S;\npublic abstract class Base<T> : IRequestHandler<T, bool>\n{\n}\n",
        "H.cs": "namespace S;\nclass H : Base<Ship>\n{\n    public Task Take(Ship ship) => Go(ship);\n}\n",
    }
    assert edges_of("HandledBy", files) == {("Ship.cs#S.Ship", "H.cs#S.H.Take"): 0.9}


@pytest.mark.parametrize(
    ("call", "is_registration"),
    [
        ("services.AddScoped<IClock, Clock>()", True),
        ("services.TryAddSingleton(typeof(IClock), typeof(Clock))", True),
        ("builder.RegisterType<IClock, Clock>()", True),
        ("services.Decorate<IClock, Clock>()", True),
        ("CreateMap<IClock, Clock>()", False),
        ("configuration.CreateMap<IClock, Clock>().ReverseMap()", False),
        ("model.AddSubType(typeof(IClock), typeof(Clock))", False),
        ("Convert<IClock, Clock>(one)", False),
        ("new Pair<IClock, Clock>()", False),
    ],
)
def test_only_a_call_that_registers_is_a_registration(edges_of: EdgesOf, call: str, is_registration: bool) -> None:
    files = {
        "A.cs": (
            "interface IClock\n{\n}\nclass Clock : IClock { }\n"
            "class Shop(IClock clock)\n{\n    void Run() => clock.Now();\n}\n"
            f"class Setup\n{{\n    void Add()\n    {{\n        {call};\n    }}\n}}\n"
        )
    }
    assert edges_of("Registers", files) == ({("A.cs#Setup.Add", "A.cs#Clock"): 0.9} if is_registration else {})
    assert edges_of("Injects", files) == ({("A.cs#Shop", "A.cs#Clock"): 0.9} if is_registration else {})
    assert edges_of("BoundTo", files) == ({("A.cs#IClock", "A.cs#Clock"): 0.9} if is_registration else {})
