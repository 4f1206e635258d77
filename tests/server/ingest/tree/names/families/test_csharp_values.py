"""What a C# expression is: results of methods, items of collections, extension methods, names used as values."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

MODEL = (
    "namespace M;\n"
    "public class Order\n{\n    public Line Main { get; set; }\n    public List<Line> Lines { get; } = new();\n"
    '    public static string Kind = "o";\n    public void Ship()\n    {\n    }\n}\n'
    "public class Line\n{\n    public void Pack()\n    {\n    }\n    public void Pack(Order order)\n    {\n    }\n}\n"
    "public interface IStore<T>\n{\n    Task<T> GetAsync(int id);\n    IEnumerable<Order> All();\n}\n"
)


def service(body: str, members: str = "") -> dict[str, str]:
    text = (
        "using M;\nnamespace A;\nclass Service(IStore<Order> store)\n{\n"
        f"    void Run(Order order)\n    {{\n        {body}\n    }}\n{members}}}\n"
    )
    return {"Model.cs": MODEL, "Service.cs": text}


RUN = "Service.cs#A.Service.Run"


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("order.Main.Pack();", "Line.Pack"),
        ("foreach (var line in order.Lines) { line.Pack(); }", "Line.Pack"),
        ("order.Lines.ForEach(line => line.Pack());", "Line.Pack"),
        ("order.Lines.Where(x => x.Ok).First().Pack();", "Line.Pack"),
        ("var first = order.Lines[0];\n        first.Pack();", "Line.Pack"),
        ("var found = await store.GetAsync(1);\n        found.Ship();", "Order.Ship"),
        ("(await store.GetAsync(1)).Ship();", "Order.Ship"),
        ("foreach (var one in store.All()) { one.Ship(); }", "Order.Ship"),
        ("(other as Order)?.Ship();", None),
        ("var o = other as Order;\n        o.Ship();", "Order.Ship"),
        ("if (other is Order o) { o.Ship(); }", "Order.Ship"),
        ("order.Lines.Ship();", None),
        ("external.Lines.Ship();", None),
    ],
)
def test_calls_on_results_items_and_patterns(edges_of: EdgesOf, body: str, called: str | None) -> None:
    sure = {end for (start, end), confidence in edges_of("Calls", service(body)).items() if confidence >= 0.8}
    assert {end for end in sure if end.endswith((".Pack", ".Ship"))} == ({f"Model.cs#M.{called}"} if called else set())


@pytest.mark.parametrize(
    "body",
    [
        "foreach (var line in scope.Resolve<IList<Line>>()) { line.Pack(); }",
        "var lines = scope.Resolve<IList<Line>>();\n        foreach (var line in lines) { line.Pack(); }",
        "foreach (var line in provider.GetServices<Line>()) { line.Pack(); }",
        "scope.Resolve<Line[]>()[0].Pack();",
        "provider.GetRequiredService<IEnumerable<M.Line>>().First().Pack();",
        "provider.GetRequiredService<M.Line>().Pack();",
        "Lines().OfType<Line>().ToList().ForEach(line => line.Pack());",
        "foreach (var line in (IList<Line>)provider.GetService(type)) { line.Pack(); }",
        "foreach (var line in provider.GetService(type) as IList<Line>) { line.Pack(); }",
        "order.Lines[0].Pack();",
        "engine.Make<Line>().Pack();",
        "engine.All<Line>()[0].Pack();",
        "new Engine().Own<IReadOnlyList<Line>>()[0].Pack();",
    ],
)
def test_what_is_told_a_type_argument_gives_it(edges_of: EdgesOf, body: str) -> None:
    members = (
        "    Engine engine;\n"
        "    class Engine\n    {\n"
        "        T Make<T>() where T : class\n        {\n            return Deep(typeof(T));\n        }\n"
        "        IEnumerable<T> All<T>()\n        {\n            return Deep(typeof(T));\n        }\n"
        "        T Own<T>() => Deep(typeof(T));\n"
        "    }\n"
    )
    calls = edges_of("Calls", service(body, members))
    assert calls[RUN, "Model.cs#M.Line.Pack"] == 0.8


@pytest.mark.parametrize("body", ["scope.Build<Line>().Pack();", "scope.Resolve<Line, Order>().Pack();"])
def test_what_may_give_something_else_is_only_guessed(edges_of: EdgesOf, body: str) -> None:
    assert edges_of("Calls", service(body))[RUN, "Model.cs#M.Line.Pack"] == 0.5


def test_overloads_are_told_apart_by_the_types_of_arguments(edges_of: EdgesOf) -> None:
    members = "    void Do(Order o)\n    {\n        X();\n    }\n    void Do(Line l)\n    {\n        X();\n    }\n"
    assert edges_of("Calls", service("Do(order.Main);", members)) == {(RUN, "Service.cs#A.Service.Do~2"): 1.0}


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("order.Lines.Add(new() { A = 1 });", "Model.cs#M.Line"),
        ("Line line = new();", "Model.cs#M.Line"),
        ("order.Main = new();", "Model.cs#M.Line"),
        ("Take(new());", None),
    ],
)
def test_new_without_a_type_makes_what_its_place_takes(edges_of: EdgesOf, body: str, made: str | None) -> None:
    assert edges_of("Calls", service(body)) == ({} if made is None else {(RUN, made): pytest.approx(0.85, abs=0.06)})


EXTENSIONS = (
    "namespace M;\npublic static class Extensions\n{\n"
    "    public static Line Best(this Order order)\n    {\n        return Pick(order);\n    }\n"
    "    public static void Log(this object any, string text)\n    {\n        X();\n    }\n"
    "    public static void AddShop(this IServiceCollection services)\n    {\n        X();\n    }\n}\n"
)


@pytest.mark.parametrize(
    ("body", "called", "confidence"),
    [
        ("order.Best().Pack();", "Best", 0.9),
        ('order.Main.Log("x");', "Log", 0.9),
        ("builder.Services.AddShop();", "AddShop", 0.8),
        ("order.Main.Best();", None, 0),
    ],
)
def test_extension_methods(edges_of: EdgesOf, body: str, called: str | None, confidence: float) -> None:
    calls = edges_of("Calls", {**service(body), "Extensions.cs": EXTENSIONS})
    to_extensions = {end: value for (_, end), value in calls.items() if "Extensions" in end}
    assert to_extensions == ({f"Extensions.cs#M.Extensions.{called}": confidence} if called else {})


def test_an_extension_method_that_is_not_imported_is_not_called(edges_of: EdgesOf) -> None:
    files = {**service("builder.AddShop();"), "Extensions.cs": EXTENSIONS.replace("namespace M;", "namespace Far;")}
    assert edges_of("Calls", files) == {}


def test_types_members_and_methods_that_are_named_are_references(edges_of: EdgesOf) -> None:
    body = "Map(Handle);\n        Use(Order.Kind);\n        Check(typeof(Line));\n        Get<IStore<Order>>();"
    members = "    void Handle()\n    {\n        X();\n    }\n"
    assert edges_of("References", service(body, members)) == {
        (RUN, "Service.cs#A.Service.Handle"): 1.0,
        (RUN, "Model.cs#M.Order"): 0.9,
        (RUN, "Model.cs#M.Line"): 0.9,
        (RUN, "Model.cs#M.IStore"): 0.9,
        ("Service.cs#A.Service", "Model.cs#M.IStore"): 0.9,
        ("Service.cs#A.Service", "Model.cs#M.Order"): 0.9,
        ("Model.cs#M.Order", "Model.cs#M.Line"): 1.0,
        ("Model.cs#M.Line.Pack~2", "Model.cs#M.Order"): 1.0,
        ("Model.cs#M.IStore.All", "Model.cs#M.Order"): 1.0,
    }


def test_a_local_variable_is_no_reference(edges_of: EdgesOf) -> None:
    members = "    void handle()\n    {\n        X();\n    }\n"
    references = edges_of("References", service("var handle = 1;\n        Map(handle);", members))
    assert all(not end.endswith("handle") for _, end in references)


def test_the_prefix_of_a_group_counts_for_its_routes_and_requests_find_them(edges_of: EdgesOf) -> None:
    files = {
        "Api.cs": (
            "static class Api\n{\n    static void Map(App app)\n    {\n"
            '        var api = app.MapGroup("/api/orders");\n'
            '        api.MapGet("/{id}", GetOrder);\n    }\n'
            "    static X GetOrder(int id) => Find(id);\n}\n"
        ),
        "Client.cs": 'class Client\n{\n    X Load(int id) => http.GetAsync($"/api/orders/{id}?full=1");\n}\n',
        "Other.cs": 'class Other\n{\n    X Load() => http.GetAsync("/api/baskets/1");\n}\n',
    }
    assert edges_of("Routes", files) == {("Api.cs#Api.Map", "Api.cs#Api.GetOrder"): 0.9}
    assert edges_of("Requests", files) == {("Client.cs#Client.Load", "Api.cs#Api.GetOrder"): 0.9}


def test_what_the_mvvm_toolkit_generates_leads_to_what_it_is_made_of(edges_of: EdgesOf) -> None:
    files = {
        "Model.cs": (
            "partial class Model\n{\n    [ObservableProperty] private Line _line;\n"
            "    [RelayCommand]\n    private async Task ClearAsync()\n    {\n        X();\n    }\n}\n"
            "class Line\n{\n    public void Pack() => X();\n}\n"
        ),
        "Test.cs": (
            "class Test\n{\n    void Run(Model m)\n    {\n"
            "        m.Line.Pack();\n        m.ClearCommand.Execute(null);\n    }\n}\n"
        ),
    }
    assert edges_of("Calls", files) == {("Test.cs#Test.Run", "Model.cs#Line.Pack"): 0.9}
    assert ("Test.cs#Test.Run", "Model.cs#Model.ClearAsync") in edges_of("References", files)


@pytest.mark.parametrize(
    ("member", "named"),
    [
        ("Action[] all = { Left, Right };", {"Left", "Right"}),
        ("List<Action> all = [Left];", {"Left"}),
        ("List<Action> all = new() { Left, (Action)Right };", {"Left", "Right"}),
        ('Dictionary<string, Action> all = new() { ["a"] = Left, { "b", Right } };', {"Left", "Right"}),
        ("Action Pick(bool k) => k ? Left : Right;", {"Left", "Right"}),
        ("Action Pick(int k) => k switch { 1 => Left, _ => Right };", {"Left", "Right"}),
        ("Action Pick(Action k) => k ?? Right;", {"Right"}),
        ("void Pick()\n    {\n        Action k = Left;\n    }", {"Left"}),
        ("void Pick(int Left)\n    {\n        var k = Left + 1;\n    }", set[str]()),
        ("bool Pick(Action a) => a == Left;", {"Left"}),
    ],
)
def test_methods_among_the_values_of_expressions(edges_of: EdgesOf, member: str, named: set[str]) -> None:
    methods = "".join(f"    void {name}()\n    {{\n        Run(1);\n    }}\n" for name in ("Left", "Right"))
    files = {"A.cs": f"class Menu\n{{\n    {member}\n{methods}}}\n"}
    assert {end.rpartition(".")[2] for _, end in edges_of("References", files)} == named
