"""The code in Razor and Vue files, and what leads to it and from it."""

from collections.abc import Callable, Mapping
from typing import Protocol

import pytest

from groundwire_ingest.records import SourceNode


class ReadTree(Protocol):
    nodes: dict[str, SourceNode]

    def of(self, edge_type: str) -> dict[tuple[str, str], float]: ...


Reader = Callable[[Mapping[str, str]], ReadTree]

BASKET = (
    "namespace Shop.Services;\npublic class Basket\n{\n"
    "    public Task AddAsync(int id) => Save(id);\n    public int Count(int x) => x * 2;\n}\n"
)
PAGE = """\
@page "/item/{id:int}"
@using Shop.Services
@inject Basket Basket

<h1>@Basket.Count(1)</h1>
<CartMenu OnAdd="AddToCart" />
@foreach (var item in items)
{
    <p>@item</p>
}

@code {
    private int[] items = [];
    [Parameter] public int Id { get; set; }

    private async Task AddToCart()
    {
        await Basket.AddAsync(Id);
    }
}
"""
SHOP = {
    "src/Shop.csproj": '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>\n',
    "src/Services/Basket.cs": BASKET,
    "src/Pages/ItemPage.razor": PAGE,
    "src/_Imports.razor": "@using Shop.Layout\n",
    "src/Layout/CartMenu.razor": "<div>\n    <span>Cart</span>\n</div>\n@code {\n    int Total() => Sum();\n}\n",
}
ITEM = "src/Pages/ItemPage.razor"


def test_members_of_code_blocks_are_nodes_of_the_component(tree: Reader) -> None:
    read_tree = tree(SHOP)
    member = read_tree.nodes[f"cs::{ITEM}#Shop.Pages.ItemPage.AddToCart"]
    assert (member.start_line, member.end_line, member.language) == (16, 19, "razor")
    assert member.text.startswith("    private async Task AddToCart()")
    outline = read_tree.nodes[f"cs::{ITEM}#Shop.Pages.ItemPage"]
    assert outline.text == (
        "public Basket Basket { get; set; }\n    private int[] items = [];\n"
        "    [Parameter] public int Id { get; set; }\n    private async Task AddToCart() { ... }"
    )
    assert all("__markup" not in node.text + node.context_prefix + node.symbol for node in read_tree.nodes.values())
    assert f"razor::{ITEM}" in read_tree.nodes


def test_markup_and_members_lead_to_services_and_components(tree: Reader) -> None:
    read_tree = tree(SHOP)
    assert read_tree.of("Calls") == {
        (ITEM, "src/Services/Basket.cs#Shop.Services.Basket.Count"): 0.9,
        (f"{ITEM}#Shop.Pages.ItemPage.AddToCart", "src/Services/Basket.cs#Shop.Services.Basket.AddAsync"): 0.9,
    }
    references = read_tree.of("References")
    assert references[ITEM, "src/Layout/CartMenu.razor#Shop.Layout.CartMenu"] == 0.9
    assert references[ITEM, f"{ITEM}#Shop.Pages.ItemPage.AddToCart"] == 1.0
    assert references[f"{ITEM}#Shop.Pages.ItemPage", "src/Services/Basket.cs#Shop.Services.Basket"] == 0.9


def test_a_component_of_a_namespace_that_is_not_imported_is_not_meant(tree: Reader) -> None:
    read_tree = tree({**SHOP, "src/_Imports.razor": "@using Shop.Other\n"})
    assert not [end for _, end in read_tree.of("References") if "CartMenu" in end]


def test_a_url_leads_to_the_page_that_states_it(tree: Reader) -> None:
    test = 'class Test\n{\n    X Load() => http.GetAsync("/item/5");\n}\n'
    read_tree = tree({**SHOP, "tests/Test.cs": test})
    assert read_tree.of("Requests") == {("tests/Test.cs#Test.Load", f"{ITEM}#Shop.Pages.ItemPage"): 0.9}


def test_code_behind_is_a_part_of_the_component(tree: Reader) -> None:
    behind = "namespace Shop.Layout;\npublic partial class CartMenu\n{\n    void Go() => Total();\n}\n"
    read_tree = tree({**SHOP, "src/Layout/CartMenu.razor.cs": behind})
    start, end = "src/Layout/CartMenu.razor.cs#Shop.Layout.CartMenu", "src/Layout/CartMenu.razor#Shop.Layout.CartMenu"
    assert read_tree.of("PartialOf").keys() == {(start, end), (end, start)}
    assert read_tree.of("Calls")[f"{start}.Go", f"{end}.Total"] == 1.0


def test_code_that_cannot_be_parsed_stays_a_node_as_it_is(tree: Reader) -> None:
    broken = "<p>x</p>\n\n@code {\n    )))) ((( ]]] }}}} {{ class class\n    void void ((\n}\n"
    read_tree = tree({"a/Broken.razor": broken})
    assert any("void void" in node.text for node in read_tree.nodes.values())


def test_scripts_of_vue_components(tree: Reader) -> None:
    app = (
        "<script setup lang=\"ts\">\nimport CartMenu from './CartMenu.vue'\nimport { load } from './api'\n\n"
        "function start() {\n  return load(1)\n}\n</script>\n\n"
        "<template>\n  <main>\n    <cart-menu />\n  </main>\n</template>\n"
    )
    menu = "<template>\n  <nav>Cart</nav>\n</template>\n"
    read_tree = tree(
        {"App.vue": app, "CartMenu.vue": menu, "api.ts": "export function load(x: number) {\n  return x + 1\n}\n"}
    )
    assert read_tree.of("Calls") == {("App.vue#start", "api.ts#load"): 1.0}
    assert read_tree.nodes["ts::App.vue#start"].start_line == 5


def test_messages_and_what_containers_hand_out_lead_from_the_markup_where_scripts_have_no_node(tree: Reader) -> None:
    form = (
        '<template>\n  <form @submit="save" />\n</template>\n\n<script setup lang="ts">\n'
        "import { bus } from './bus'\nconst { save } = useForm(resolve('usersApi'), {\n"
        "  onDone: () => bus.emit('user.saved', 1),\n})\n</script>\n"
    )
    screen = (
        "<script setup lang=\"ts\">\nimport { bus } from './bus'\nimport { refresh } from './users'\n\n"
        "bus.on('user.saved', refresh)\n</script>\n\n<template>\n  <p>Users</p>\n</template>\n"
    )
    users = (
        "export function refresh(id: number) {\n  return id + 1\n}\n\n"
        "export class Users {\n  all() {\n    return [1]\n  }\n}\n\nregister('usersApi', { useClass: Users })\n"
    )
    read_tree = tree(
        {"Form.vue": form, "Screen.vue": screen, "users.ts": users, "bus.ts": "export const bus = make()\n"}
    )
    assert read_tree.of("Sends") == {("Form.vue#script", "users.ts#refresh"): 0.8}
    assert read_tree.of("Injects") == {("Form.vue#script", "users.ts#Users"): 0.9}


def test_global_usings_and_parts_of_a_type_stay_within_their_project(tree: Reader) -> None:
    project = '<Project Sdk="Microsoft.NET.Sdk"></Project>\n'
    read_tree = tree(
        {
            "a/A.csproj": project,
            "a/Usings.cs": "global using Lib;\n",
            "a/Use.cs": "class Use\n{\n    void Run(Tool t) => t.Work();\n}\n",
            "a/Program.cs": "partial class Program { }\n",
            "b/B.csproj": project,
            "b/Use.cs": "class Use\n{\n    void Run(Tool t) => t.Work();\n}\n",
            "b/Program.cs": "partial class Program { }\n",
            "lib/Tool.cs": "namespace Lib;\npublic class Tool\n{\n    public void Work() => Go();\n}\n",
        }
    )
    assert read_tree.of("Calls") == {("a/Use.cs#Use.Run", "lib/Tool.cs#Lib.Tool.Work"): 0.9}
    assert read_tree.of("PartialOf") == {}


def test_a_path_that_a_block_of_code_names_leads_from_what_is_left_of_the_markup(tree: Reader) -> None:
    filler = "".join(f"<p>line {number} of a long page</p>\n" for number in range(80))
    page = filler + '@functions {\n    object Part() => Html.Partial("Cart");\n}\n'
    read_tree = tree({"Views/Page.cshtml": page, "Views/Cart.cshtml": "<p>\n  Cart\n</p>\n"})
    assert {end for _, end in read_tree.of("Imports")} == {"Views/Cart.cshtml"}


SCRIPT = (
    'import { far } from "./far"\n'
    "function save() {\n  const n = 1\n  return n\n}\n"
    "function third(n) {\n  const k = n\n  return k\n}\n"
    "function unused(n) {\n  const k = n\n  return k\n}\n"
    "const onInput = (e) => {\n  const n = 1\n  return n\n}\n"
)
FAR = "export function far(n) {\n  const k = n\n  return k\n}\n"


MARKUP = {
    "a.vue": """\
<template>
  <form @submit.prevent="save">
    <p :class="{unused: third(1)}">{{ far(2) }} unused</p>
    <input v-on:input="onInput" title="unused">
  </form>
</template>
<script setup lang="ts">
SCRIPT</script>
""",
    "a.svelte": """\
<script lang="ts">
SCRIPT</script>
<form on:submit={save} title="unused">
  {#if third(1)}<p>unused {far("unused")}</p>{/if}
  <input oninput={e => onInput(e.unused)}>
</form>
<style>
  p { unused: 1 }
</style>
""",
    "a.astro": """\
---
SCRIPT---
<form onsubmit={save}>
  {third(1) && <p>unused</p>}
  <p title={far(1)}>unused</p>
  <Field {...onInput} />
</form>
""",
}


@pytest.mark.parametrize("path", MARKUP)
def test_markup_refers_to_what_its_expressions_name(tree: Reader, path: str) -> None:
    read_tree = tree({path: MARKUP[path].replace("SCRIPT", SCRIPT), "far.ts": FAR})
    ends = {end.rpartition("#")[2] for start, end in read_tree.of("References") if start == path}
    assert ends == {"save", "third", "onInput", "far"}
