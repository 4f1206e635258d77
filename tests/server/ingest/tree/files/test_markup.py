"""HTML templates and single-file components."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.files.facts_about_code import Attribute, CodePart, ComponentFacts, ComponentTag
from groundwire_ingest.tree.files.reading import FileReading

Read = Callable[[str, str], FileReading]
Chunks = Callable[[str, str], list[tuple[str, int, int]]]

PAD = "x" * 700

PAGE = f"""\
{{% extends "base.html" %}}
{{% block title %}}a{{% endblock %}}
{{% block content %}}
  <h1>a</h1>
  <form id="login" {{% if a < b %}}class="x"{{% endif %}}>
    <p>
    {PAD}
    <input name='a'>
  </form>
  {PAD}
  {{% include 'part.html' %}}
{{% endblock content %}}
<script src="/static/app.js"></script>
<script>
  if (a < b) {{ "<div>" }} // {PAD}
</script>
<!-- <div>
</div> -->
"""


def test_blocks_and_elements_of_a_template(chunks: Chunks) -> None:
    assert chunks("templates/login.html", PAGE) == [
        ("login.html", 1, 18),
        ("content", 3, 12),
        ("form#login", 5, 9),
        ("script", 14, 16),
    ]


def test_what_a_template_leads_to(read: Read) -> None:
    references = read("templates/login.html", PAGE).references
    assert [(item.written[0], item.edge_type, item.line) for item in references] == [
        ("base.html", "Inherits", 1),
        ("part.html", "Imports", 11),
        ("/static/app.js", "References", 13),
    ]


@pytest.mark.parametrize(
    ("path", "text", "written"),
    [
        ("a.hbs", "{{> shared/header title='x'}}", "shared/header.hbs"),
        ("a.html.erb", '<%= render "shared/form" %>', "shared/_form.html.erb"),
        ("a.html.erb", "<%= render partial: 'form' %>", "_form.html.erb"),
        ("a.ejs", "<%- include('../header') %>", "../header.ejs"),
        ("a.gohtml", '{{ template "head.html" . }}', "head.html"),
        ("a.twig", "{% embed 'card.twig' %}", "card.twig"),
        ("a.blade.php", "@include('orders.parts.form', ['order' => $order])", "orders/parts/form.blade.php"),
        ("a.njk", '{%- from "macros.njk" import x %}', "macros.njk"),
    ],
)
def test_what_other_templates_include(read: Read, path: str, text: str, written: str) -> None:
    (reference,) = read(path, text).references
    assert written in reference.written
    assert reference.edge_type == "Imports"


def test_definitions_of_go_templates(chunks: Chunks) -> None:
    text = f'{{{{ define "head" }}}}\n{{{{ if .A }}}}\n{PAD}\n{{{{ end }}}}\n{PAD}\n{{{{ end }}}}\n{PAD}\n'
    assert chunks("a.gohtml", text) == [("a.gohtml", 1, 7), ("head", 1, 6)]


def test_badly_nested_elements_cost_no_others(chunks: Chunks) -> None:
    text = f"<div>\n</p>\n<ul>\n<li>{PAD}\n</div>\n<p>\n<b>\n{PAD}</p>\n</b>\n<br>\n{PAD}"
    assert chunks("a.html", text) == [("a.html", 1, 11), ("div", 1, 5), ("p", 6, 8)]


VUE = """\
<script setup lang="ts">
import Cart from './Cart.vue'
const a = 1 < 2
</script>

<template>
  <Cart :items="a > b ? [] : c" @add="add" />
  <cart-line v-for="x in y" />
  <div>{{ a < b }}</div>
  <template #x></template>
</template>

<style scoped>
.a { color: red }
</style>
"""


def test_the_script_of_a_component_is_a_node_of_its_own(read: Read) -> None:
    reading = read("src/Page.vue", VUE)
    assert [(node.key, node.start_line, node.end_line) for node in reading.analysis.nodes] == [
        ("vue::src/Page.vue", 1, 15),
        ("vue::src/Page.vue#script", 1, 4),
    ]
    assert reading.facts == ComponentFacts(
        code=(CodePart("script", "\nimport Cart from './Cart.vue'\nconst a = 1 < 2\n", 1, "typescript"),),
        tags=(
            ComponentTag("Cart", 7, (Attribute(":items", "a > b ? [] : c", 7), Attribute("@add", "add", 7))),
            ComponentTag("cart-line", 8, (Attribute("v-for", "x in y", 8),)),
        ),
        expressions=(
            CodePart("expression", "a > b ? [] : c", 7, "vue"),
            CodePart("expression", "add", 7, "vue"),
            CodePart("expression", "x in y", 8, "vue"),
            CodePart("expression", "{ a < b }", 9, "vue"),
        ),
    )


def test_a_component_of_svelte(read: Read) -> None:
    text = "<script>\n  let a = 1;\n</script>\n<Cart on:click={() => a > 1 && b({c: '}'})} {...rest} x={1}/>\n"
    facts = read("a.svelte", text).facts
    assert isinstance(facts, ComponentFacts)
    assert [(part.language, part.line, part.text) for part in facts.code] == [("javascript", 1, "\n  let a = 1;\n")]
    assert [(item.name, item.value) for item in facts.tags[0].attributes] == [
        ("on:click", "{() => a > 1 && b({c: '}'})}"),
        ("{...rest}", "{...rest}"),
        ("x", "{1}"),
    ]


def test_the_code_of_astro_between_the_dashes(read: Read) -> None:
    reading = read("a.astro", "---\nimport A from './A.astro';\nconst x = 1;\n---\n<A />\n")
    assert [(node.symbol, node.start_line, node.end_line) for node in reading.analysis.nodes] == [
        ("a.astro", 1, 5),
        ("script", 1, 4),
    ]
    assert isinstance(reading.facts, ComponentFacts)
    (part,) = reading.facts.code
    assert (part.text, part.line, part.language) == ("import A from './A.astro';\nconst x = 1;\n", 2, "typescript")
