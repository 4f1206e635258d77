"""Razor pages, views and components: nodes, directives, code with its lines, components, references."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.files.facts_about_code import Attribute, ComponentFacts, ComponentTag, Directive
from groundwire_ingest.tree.files.reading import FileReading

Read = Callable[[str, str], FileReading]
Chunks = Callable[[str, str], list[tuple[str, int, int]]]

PAD = "x" * 700

COMPONENT = """\
@page "/item/{id:int}"
@using Shop.Services
@inject BasketState Basket
@inherits ShopBase<Item>
@layout MainLayout
@* <Hidden /> @Hidden.Call() *@

@if (item is not null && Count<3>(item))
{
    <PageTitle>@item.Name | mail@shop.com @@media</PageTitle>
    <CartMenu Items="@Basket.Items" Label="a" @onclick='() => Add("}")' @bind:event="oninput" />
    var total = "<b>" + item.Total; // <Hidden>
    foreach (var line in item.Lines.Where(l => l.Price < 3))
    {
        <p class="x @(line.Old ? "old" : "new")">
            @await Format(line, "(")!.Text
            <br>
        </p>
        @: plain @line.Id text
    }
}
else if (failed)
{
    <text>Don't @Retry()</text>
}
<a href="@Nav.Uri("chat", null)">@(1 + 2)</a>
<script src="js/app.js">if (a < b) { "@Seed" }</script>

@code {
    private string text = $"a{{}}}}" + @"C:\\" + '"' + \"""}\""";
    // }
    void Add(string x) { }
}
"""


def _facts(reading: FileReading) -> ComponentFacts:
    assert isinstance(reading.facts, ComponentFacts)
    return reading.facts


def test_directives(read: Read) -> None:
    assert _facts(read("Pages/ItemPage.razor", COMPONENT)).directives == (
        Directive("page", '"/item/{id:int}"', 1),
        Directive("using", "Shop.Services", 2),
        Directive("inject", "BasketState Basket", 3),
        Directive("inherits", "ShopBase<Item>", 4),
        Directive("layout", "MainLayout", 5),
    )


def test_code_with_its_lines(read: Read) -> None:
    code = [(part.kind, part.line, part.text.strip()) for part in _facts(read("ItemPage.razor", COMPONENT)).code]
    assert code == [
        ("statements", 8, "if (item is not null && Count<3>(item))\n{"),
        ("expression", 10, "item.Name"),
        ("expression", 11, "Basket.Items"),
        ("expression", 11, '() => Add("}")'),
        (
            "statements",
            11,
            'var total = "<b>" + item.Total; // <Hidden>\n'
            "    foreach (var line in item.Lines.Where(l => l.Price < 3))\n    {",
        ),
        ("expression", 15, '(line.Old ? "old" : "new")'),
        ("expression", 16, 'await Format(line, "(")!.Text'),
        ("expression", 19, "line.Id"),
        ("statements", 20, "}\n}\nelse if (failed)\n{"),
        ("expression", 24, "Retry()"),
        ("statements", 24, "}"),
        ("expression", 26, 'Nav.Uri("chat", null)'),
        ("expression", 26, "(1 + 2)"),
        ("expression", 27, "Seed"),
        ("members", 29, COMPONENT.partition("@code {")[2].rpartition("}")[0].strip()),
    ]


def test_code_is_exactly_what_stands_there(read: Read) -> None:
    lines = COMPONENT.split("\n")
    for part in _facts(read("ItemPage.razor", COMPONENT)).code:
        count = part.text.count("\n")
        assert part.text in "\n".join(lines[part.line - 1 : part.line + count])


def test_components_with_their_attributes(read: Read) -> None:
    assert _facts(read("ItemPage.razor", COMPONENT)).tags == (
        ComponentTag("PageTitle", 10),
        ComponentTag(
            "CartMenu",
            11,
            (
                Attribute("Items", "@Basket.Items", 11),
                Attribute("Label", "a", 11),
                Attribute("@onclick", '() => Add("}")', 11),
                Attribute("@bind:event", "oninput", 11),
            ),
        ),
    )


def test_the_code_of_a_component_is_a_node_of_its_own(read: Read) -> None:
    nodes = read("Pages/ItemPage.razor", COMPONENT).analysis.nodes
    assert [(node.key, node.symbol, node.start_line, node.end_line) for node in nodes] == [
        ("razor::Pages/ItemPage.razor", "ItemPage.razor", 1, 33),
        ("razor::Pages/ItemPage.razor#code", "code", 29, 33),
    ]
    assert "Hidden" in nodes[0].text
    assert "private string" not in nodes[0].text


def test_long_markup_is_cut_at_its_elements(chunks: Chunks) -> None:
    text = f"<h1>a</h1>\n<div id='a'>\n@if (x) {{\n<p>\n{PAD}\n</p>\n}}\n</div>\n"
    text += f"<form class='b c'>\n<input>\n{PAD}{PAD}\n</form>\n"
    assert chunks("A.cshtml", text) == [("A.cshtml", 1, 12), ("div#a", 2, 8), ("form.b", 9, 12)]


VIEW = """\
@model OrderViewModel
@{
    Layout = "_Layout";
    ViewData["Title"] = "a";
}
<partial name="_Line" model="Model.Line" />
<a asp-page="/Cart" asp-route-id="@Model.Id">a</a>
@await Html.PartialAsync("Shared/_Total")
@section Scripts {
    <script src="~/js/order.js"></script>
    @Html.Raw("}")
}
@functions {
    int A() => 1;
}
"""


def test_a_view_names_its_layout_and_partials(read: Read) -> None:
    references = read("Views/Order.cshtml", VIEW).references
    assert [(item.written, item.edge_type, item.line) for item in references] == [
        (("~/js/order.js",), "References", 10),
        (("_Line.cshtml",), "Imports", 6),
        (("_Layout.cshtml",), "Inherits", 3),
        (("Shared/_Total.cshtml",), "Imports", 8),
    ]


def test_sections_hold_markup_and_blocks_hold_code(read: Read) -> None:
    facts = _facts(read("Views/Order.cshtml", VIEW))
    assert [(part.kind, part.line, part.text.strip()) for part in facts.code] == [
        ("statements", 2, '{\n    Layout = "_Layout";\n    ViewData["Title"] = "a";\n}'),
        ("expression", 7, "Model.Id"),
        ("expression", 8, 'await Html.PartialAsync("Shared/_Total")'),
        ("expression", 11, 'Html.Raw("}")'),
        ("members", 13, "int A() => 1;"),
    ]
    assert [(tag.name, tag.line) for tag in facts.tags] == [("partial", 6), ("a", 7)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("mail me@shop.com", []),
        ("@@Model", []),
        ("a @ b", []),
        ("@Model.Name.", ["Model.Name"]),
        ("@Model?.Lines[0].Name(1)?[2]-x", ["Model?.Lines[0].Name(1)?[2]"]),
        ("<!-- @Hidden -->@a", ["a"]),
        ("@* @Hidden *@ @a", ["a"]),
        ("@try { X(); } catch (E e) { Y(); } finally { }Z", ["try { X(); } catch (E e) { Y(); } finally { }"]),
        ("@do { X(); } while (a < 3); <p>b</p>", ["do { X(); } while (a < 3);"]),
        ("@switch (a) { case 1: <p>@b</p> break; }", ["switch (a) { case 1: ", "b", " break; }"]),
        ("@while (x) { <p>a</p><p>@b</p> }", ["while (x) { ", "b", " }"]),
        ('@{ var x = a < b; var y = $"<p>{x}"; }', ['{ var x = a < b; var y = $"<p>{x}"; }']),
        ("@using (Html.BeginForm()) { <p /> }", ["using (Html.BeginForm()) { ", " }"]),
        ('<input @attributes=\'more\' @(x ? "checked" : ">") value=@y>@z', ["more", '(x ? "checked" : ">")', "y", "z"]),
        ("@(a", ["(a"]),
        ("@if (a) { <p>", ["if (a) { "]),
        ("@code { void A() {", [" void A() {"]),
        ('<a b="@c', ["c"]),
        ("</p>@a}", ["a"]),
    ],
)
def test_what_is_code_and_what_is_not(read: Read, text: str, code: list[str]) -> None:
    assert [part.text for part in _facts(read("a.razor", text)).code] == code
