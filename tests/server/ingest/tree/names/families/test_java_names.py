from collections.abc import Callable, Mapping

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

SHOP = {
    "src/com/shop/Service.java": (
        "package com.shop;\n\n"
        "import com.shop.data.Repo;\n"
        "import com.shop.model.*;\n"
        "import static com.shop.util.Text.slug;\n"
        "import java.util.List;\n\n"
        "public class Service extends Base implements Closer {\n"
        "  private final Repo repo;\n"
        "  public Service(Repo repo) {\n    this.repo = repo;\n  }\n"
        "  void run(Invoice invoice) {\n"
        "    repo.save(invoice);\n"
        "    this.repo.load();\n"
        "    helper();\n"
        "    super.begin();\n"
        "    slug(1);\n"
        "    new Line(1).settle();\n"
        "    invoice.touch();\n"
        "    List.of();\n"
        "  }\n"
        "  class Inner {\n    void f() {\n      helper();\n    }\n  }\n"
        "}\n"
    ),
    "src/com/shop/Base.java": (
        "package com.shop;\n\nclass Base {\n  void begin() {\n  }\n  void helper() {\n  }\n}\n"
        "interface Closer {\n  void close();\n}\n"
    ),
    "src/com/shop/data/Repo.java": (
        "package com.shop.data;\n\npublic class Repo {\n"
        "  public void save(Object item) {\n  }\n  public void save(Object item, int times) {\n  }\n"
        "  public void load() {\n  }\n}\n"
    ),
    "src/com/shop/model/Invoice.java": (
        "package com.shop.model;\n\npublic class Invoice {\n  public void touch() {\n  }\n}\n"
        "class Line {\n  Line(int count) {\n  }\n  void settle() {\n  }\n}\n"
    ),
    "src/com/shop/model/Unused.java": "package com.shop.model;\n\npublic class Unused {\n}\n",
    "src/com/shop/util/Text.java": (
        "package com.shop.util;\n\npublic class Text {\n  public static void slug(Object value) {\n  }\n}\n"
    ),
}

RUN = "src/com/shop/Service.java#com.shop.Service.run"


def test_calls(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", SHOP) == {
        (RUN, "src/com/shop/data/Repo.java#com.shop.data.Repo.save"): 0.9,
        (RUN, "src/com/shop/data/Repo.java#com.shop.data.Repo.load"): 0.9,
        (RUN, "src/com/shop/Base.java#com.shop.Base.helper"): 0.9,
        (RUN, "src/com/shop/Base.java#com.shop.Base.begin"): 0.9,
        (RUN, "src/com/shop/util/Text.java#com.shop.util.Text.slug"): 1.0,
        (RUN, "src/com/shop/model/Invoice.java#com.shop.model.Line"): 0.9,
        (RUN, "src/com/shop/model/Invoice.java#com.shop.model.Line.settle"): 0.9,
        (RUN, "src/com/shop/model/Invoice.java#com.shop.model.Invoice.touch"): 0.9,
        ("src/com/shop/Service.java#com.shop.Service.Inner.f", "src/com/shop/Base.java#com.shop.Base.helper"): 0.9,
    }


def test_imports_and_bases(edges_of: EdgesOf) -> None:
    service = "src/com/shop/Service.java#com.shop.Service"
    assert edges_of("Imports", SHOP) == {
        (service, "src/com/shop/data/Repo.java#com.shop.data.Repo"): 1.0,
        (service, "src/com/shop/util/Text.java#com.shop.util.Text"): 1.0,
        (service, "src/com/shop/model/Invoice.java#com.shop.model.Invoice"): 0.9,
    }
    assert edges_of("Inherits", SHOP) == {
        (service, "src/com/shop/Base.java#com.shop.Base"): 0.9,
        (service, "src/com/shop/Base.java#com.shop.Closer"): 0.9,
    }


def test_an_import_from_outside_is_not_taken_for_a_type_of_the_package(edges_of: EdgesOf) -> None:
    files = {
        "a/A.java": "package a;\n\nimport other.B;\n\nclass A {\n  void f(B b) {\n    b.go();\n  }\n}\n",
        "a/B.java": "package a;\n\nclass B {\n  void go() {\n  }\n}\n",
    }
    assert edges_of("Calls", files) == {}
