"""Templates of Angular: the components, directives and pipes that they use, and the members that they name."""

from collections.abc import Callable, Mapping
from typing import Protocol


class ReadTree(Protocol):
    def of(self, edge_type: str) -> dict[tuple[str, str], float]: ...


Reader = Callable[[Mapping[str, str]], ReadTree]

CARD = """\
import { Component } from "@angular/core";
@Component({ selector: "app-card", templateUrl: "./card.component.html" })
export class CardComponent extends Base {
  title = "";
  save(): void {
    const card = this.title;
    this.store(card);
  }
}
"""
BASE = """\
export class Base {
  close(): void {
    const closed = true;
    this.closed = closed;
  }
}
"""
CARD_TEMPLATE = (
    '<div class="card">\n  <button (click)="save()" [disabled]="!title">x</button>\n  {{ close() }}\n</div>\n'
)
OTHERS = """\
import { Component, Directive, Pipe } from "@angular/core";
@Component({ selector: "app-list", template: `<app-card appBold></app-card>` })
export class ListComponent {}
@Directive({ selector: "p[appBold], [appStrong]" })
export class BoldDirective {
  constructor(element: ElementRef) {
    element.nativeElement.style.fontWeight = "bold";
  }
}
@Pipe({ name: "money" })
export class MoneyPipe {
  transform(amount: number): string {
    const rounded = amount;
    return `${rounded}`;
  }
}
"""
PAGE = '<main>\n  <app-card *ngIf="cards"></app-card>\n  <p [appBold]="on">{{ price | money }}</p>\n</main>\n'
FILES = {
    "app/base.ts": BASE,
    "app/card.component.ts": f'import {{ Base }} from "./base";\n{CARD}',
    "app/card.component.html": CARD_TEMPLATE,
    "app/others.ts": OTHERS,
    "app/page.html": PAGE,
}


def test_templates_lead_to_what_they_use(tree: Reader) -> None:
    references = tree(FILES).of("References")
    page = {end: confidence for (start, end), confidence in references.items() if start == "app/page.html"}
    assert page == {
        "app/card.component.ts#CardComponent": 0.9,
        "app/others.ts#BoldDirective": 0.9,
        "app/others.ts#MoneyPipe": 0.9,
    }
    assert references["app/others.ts#ListComponent", "app/card.component.ts#CardComponent"] == 0.9
    assert references["app/others.ts#ListComponent", "app/others.ts#BoldDirective"] == 0.9


def test_a_template_leads_to_members_of_its_component(tree: Reader) -> None:
    references = tree(FILES).of("References")
    card = {end: confidence for (start, end), confidence in references.items() if start == "app/card.component.html"}
    assert card == {"app/card.component.ts#CardComponent.save": 1.0, "app/base.ts#Base.close": 0.9}


def test_the_nearest_component_of_a_selector_is_meant(tree: Reader) -> None:
    files = {"a/card.component.ts": CARD, "a/page.html": PAGE, "b/card.component.ts": CARD, "c/page.html": PAGE}
    references = tree(files).of("References")
    assert references["a/page.html", "a/card.component.ts#CardComponent"] == 0.9
    assert ("a/page.html", "b/card.component.ts#CardComponent") not in references
    assert references["c/page.html", "a/card.component.ts#CardComponent"] == 0.5
    assert references["c/page.html", "b/card.component.ts#CardComponent"] == 0.5


def test_routes_load_components(tree: Reader) -> None:
    routes = (
        "export const routes: Routes = [\n"
        '  { path: "card", loadComponent: () => import("./card.component").then((m) => m.CardComponent) },\n'
        "];\n"
    )
    read = tree({**FILES, "app/routes.ts": routes})
    assert read.of("Routes") == {("app/routes.ts#routes", "app/card.component.ts#CardComponent"): 0.9}
