"""What the links and forms of pages ask for, and which code answers."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.source import TreeSource

Read = Callable[[str, str], FileReading]
TreeMaker = Callable[[Mapping[str, str | bytes]], Path]


@pytest.mark.parametrize(
    ("path", "tag", "expected"),
    [
        ("a.html", '<a href="/orders/new?x=1#top">', [("/orders/new", "GET")]),
        ("a.html", '<a th:href="@{/orders/{id}(id=${order.id})}" href="draft.html">', [("/orders/{}", "GET")]),
        ("a.html", '<a th:href="@{/orders/__${order.id}__/lines}">', [("/orders/{}/lines", "GET")]),
        ("a.html", "<a th:href=\"@{'/orders/' + ${id} + '/lines?page=' + ${n}}\">", [("/orders/{}/lines", "GET")]),
        ("a.html", '<a data-th-href="@{|/orders/${id}|}">', [("/orders/{}", "GET")]),
        ("a.html", '<a th:href="@{~/orders}">', [("/orders", "GET")]),
        ("a.html", '<a th:href="@{__${order.id}__/edit}">', [("{}/edit", "GET")]),
        ("a.html", '<a th:href="@{edit(id=${order.id})}">', [("edit", "GET")]),
        ("a.html", '<a th:href="${url}">', []),
        ("a.html", '<a th:href="@{${url}}">', []),
        ("a.html", '<a th:href="@{https://elsewhere.org/orders}">', []),
        ("a.html", '<form th:action="@{/orders}" method="post">', [("/orders", "POST")]),
        ("a.html", '<form th:action="@{/orders}" th:method="put">', [("/orders", "PUT")]),
        ("a.html", '<form method="post"></form>', [("", "POST")]),
        ("a.html", '<form action="{{ url }}">', []),
        ("a.html", "<form action=\"{% url 'shop:orders' 7 %}\">", [("shop:orders", "")]),
        ("a.html", "{%- url 'orders' as there -%}<a href=\"{{ there }}\">", [("orders", "")]),
        ("a.html", "<a href=\"{{ url_for('shop.order', id=7) }}\">", [("shop.order", "")]),
        ("a.html", "<a href=\"{{ url_for('.order') }}\">", [("order", "")]),
        ("a.html", "{% urls 'orders' %}", []),
        ("a.html", '<a href="/orders/{{ order.id }}/lines">', [("/orders/{}/lines", "GET")]),
        ("a.erb", '<a href="/orders/<%= order.id %>">', [("/orders/{}", "GET")]),
        ("a.cshtml", '<a href="/orders/@Model.Id/lines">', [("/orders/{}/lines", "GET")]),
        ("a.cshtml", '<a href="~/orders/@(order.Id)">', [("/orders/{}", "GET")]),
        ("a.vue", '<template><button hx-delete="/orders/7">x</button></template>', [("/orders/7", "DELETE")]),
        ("a.html", '<a href="?page=2">', [("", "GET")]),
        ("a.html", '<a href="#top">', []),
        ("a.html", '<a href="mailto:a@b.org">', []),
        ("a.html", '<link href="/orders">', []),
    ],
)
def test_urls_of_links_and_forms(read: Read, path: str, tag: str, expected: list[tuple[str, str]]) -> None:
    assert [(item.url, item.method) for item in read(path, f"{tag}\n").requests] == expected


CONTROLLER = """@Controller
class Orders {
  static final String FORM = "orders/form";

  @GetMapping("/orders/{id}")
  String one() {
    load();
    log();
    return "orders/one";
  }

  @GetMapping("/orders/{id}/edit")
  String form() {
    load();
    log();
    return FORM;
  }

  @PostMapping("/orders/{id}/edit")
  String save() {
    load();
    log();
    return failed ? FORM : "redirect:/orders/{id}";
  }

  @ResponseBody
  @GetMapping("/orders/state")
  String state() {
    load();
    log();
    return "orders/one";
  }
}
"""
SPRING = {
    "src/main/java/Orders.java": CONTROLLER,
    "src/main/resources/templates/orders/one.html": '<a th:href="@{__${order.id}__/edit}">Edit</a>\n',
    "src/main/resources/templates/orders/form.html": '<form method="post">\n  <input name="x">\n</form>\n',
}
PAGES = "html::src/main/resources/templates/orders/"
HANDLERS = "java::src/main/java/Orders.java#Orders."


def edges_of_type(root: Path, edge_type: str) -> dict[tuple[str, str], float]:
    edges = (item for item in TreeSource(root).read() if isinstance(item, SourceEdge))
    return {(edge.from_key, edge.to_key): edge.confidence for edge in edges if edge.edge_type == edge_type}


def test_pages_and_their_controllers(make_tree: TreeMaker) -> None:
    root = make_tree(SPRING)
    assert edges_of_type(root, "Requests") == {
        (PAGES + "one.html", HANDLERS + "form"): 0.9,
        (PAGES + "form.html", HANDLERS + "save"): 0.9,
        (HANDLERS + "save", HANDLERS + "one"): 0.9,
    }
    assert edges_of_type(root, "References") == {
        (HANDLERS + "one", PAGES + "one.html"): 0.9,
        (HANDLERS + "form", PAGES + "form.html"): 0.9,
        (HANDLERS + "save", PAGES + "form.html"): 0.9,
    }


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("web/a.ts", "export function show(res) {\n  return res.render('orders/one')\n}\n"),
        ("web/A.cs", 'class A {\n  object Show() {\n    return View("orders/one");\n  }\n}\n'),
        ("web/A.java", 'class A {\n  Object show() {\n    return new ModelAndView("orders/one");\n  }\n}\n'),
        ("web/a.php", "<?php\nfunction show() {\n  return view('orders/one');\n}\n"),
    ],
)
def test_calls_that_render_a_template_by_its_name(make_tree: TreeMaker, path: str, text: str) -> None:
    root = make_tree({"web/templates/orders/one.html": "<p>\n  One\n</p>\n", path: text})
    assert [(end, sure) for (_, end), sure in edges_of_type(root, "References").items()] == [
        ("html::web/templates/orders/one.html", 0.9)
    ]


def test_a_base_that_is_no_page_is_matched_by_the_rest(make_tree: TreeMaker) -> None:
    page = '<a href="{{ base }}/orders/new">New</a>\n<a href="{{ base }}/elsewhere">Else</a>\n'
    routes = "@app.get('/v2/orders/new')\ndef new():\n    return render_template('page.html')\n"
    assert edges_of_type(make_tree({"app.py": routes, "templates/page.html": page}), "Requests") == {
        ("html::templates/page.html", "py::app.py#new"): 0.8
    }
