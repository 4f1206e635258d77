"""What the values of Go code lead to, across files."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[..., dict[tuple[str, str], float]]

MODULES = {"": "example.com/shop"}
STORE = """package store

type Order struct {
	Items []*Item
	Index map[string]*Item
}

type Item struct{}

func (i *Item) Ship() {}

type Finder interface {
	Find(id int) (*Order, error)
}

type Repo struct{}

func (r *Repo) Find(id int) (*Order, error) { return nil, nil }

func NewRepo() (*Repo, error) { return &Repo{}, nil }

func Make[T any](x T) T { return x }

var Default, _ = NewRepo()

const Limit = 3
"""


def from_main(edges_of: EdgesOf, edge_type: str, body: str) -> dict[str, float]:
    """The edges of a type from a function whose body is given, by the names that they lead to."""
    main = f'package main\n\nimport "example.com/shop/store"\n\nfunc main() {{\n{body}\n}}\n'
    edges = edges_of(edge_type, {"main.go": main, "store/store.go": STORE}, MODULES)
    return {end.partition("#")[2]: sure for (start, end), sure in edges.items() if start == "main.go#main"}


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("repo, err := store.NewRepo()\nrepo.Find(1)", {"NewRepo": 1.0, "Repo.Find": 0.8}),
        ("repo := &store.Repo{}\norder, err := repo.Find(1)\n", {"Repo": 1.0, "Repo.Find": 0.8}),
        ("var order *store.Order\nfor _, item := range order.Items { item.Ship() }", {"Item.Ship": 0.8}),
        ("var order store.Order\norder.Items[0].Ship()", {"Item.Ship": 0.8}),
        ("var order store.Order\nitem, ok := order.Index[key]\nitem.Ship()", {"Item.Ship": 0.8}),
        ("found := make(chan *store.Item)\nitem := <-found\nitem.Ship()", {"Item.Ship": 0.8}),
        ("item := new(store.Item)\nitem.Ship()", {"Item": 1.0, "Item.Ship": 0.8}),
        ("item, ok := x.(*store.Item)\nitem.Ship()", {"Item.Ship": 0.8}),
        ("switch item := x.(type) {\ncase *store.Item:\nitem.Ship()\n}", {"Item.Ship": 0.8}),
        ("go func(item *store.Item) { defer item.Ship() }(nil)", {"Item.Ship": 0.9}),
        ("store.Default.Find(1)", {"Repo.Find": 0.8}),
        ("items := append([]*store.Item{}, nil)\nitems = append(items, &store.Item{})", {"Item": 1.0}),
        ("ships := []store.Item{}\nships.Ship()", {}),
        ("item, err := store.Gone()\nitem.Ship()", {}),
    ],
)
def test_calls(edges_of: EdgesOf, body: str, called: Mapping[str, float]) -> None:
    assert from_main(edges_of, "Calls", body) == called


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("run(store.NewRepo)", {"NewRepo"}),
        ("x := Command{RunE: store.NewRepo}", {"NewRepo"}),
        ("var r store.Repo\nrun(r.Find)", {"Repo", "Repo.Find"}),
        ("var x []map[string]*store.Item", {"Item"}),
        ("x := y.(store.Finder)", {"Finder"}),
        ("if n > store.Limit { }", {"Limit"}),
        ("store := load()\nrun(store.NewRepo)", set[str]()),
        ("x := Command{NewRepo: 1}", set[str]()),
    ],
)
def test_references(edges_of: EdgesOf, body: str, named: set[str]) -> None:
    assert from_main(edges_of, "References", body).keys() == named


def test_a_variable_of_the_package_is_seen_in_all_its_files(edges_of: EdgesOf) -> None:
    files = {
        "a/vars.go": "package a\n\nvar repo = NewRepo()\n\nvar limits = Limits{\n\tA: 1,\n\tB: 2,\n}\n",
        "a/repo.go": "package a\n\ntype Repo struct{}\n\nfunc NewRepo() *Repo { return nil }\n\n"
        "func (r Repo) Run() {}\n",
        "a/use.go": "package a\n\nfunc use() {\n\trepo.Run()\n\tcheck(limits)\n}\n",
    }
    assert edges_of("Calls", files)["a/use.go#use", "a/repo.go#Repo.Run"] == 0.8
    assert edges_of("References", files)["a/use.go#use", "a/vars.go#limits"] == 1.0


SERVICE = """package shop

type Store interface {
	Save(order *Order) error
	Load(id int) (Order, error)
}

type Order struct{}

type Service struct{ store Store }

func NewService(store Store) *Service { return &Service{store: store} }

func (s *Service) Run() { s.store.Save(nil) }
"""
IMPLEMENTATION = """package {package}

import "example.com/shop"

type {name} struct{{}}

func (f *{name}) Save(order *shop.Order) error {{ return nil }}

func (f *{name}) Load(id int) (shop.Order, error) {{ return shop.Order{{}}, nil }}
"""


def files(*names: str) -> dict[str, str]:
    texts = {"shop.go": SERVICE}
    for name in names:
        texts[f"{name.lower()}/x.go"] = IMPLEMENTATION.format(package=name.lower(), name=name)
    return texts


def test_an_interface_is_satisfied_by_methods_whose_types_are_the_same_from_another_package(edges_of: EdgesOf) -> None:
    calls = edges_of("Calls", files("Disk"), MODULES)
    assert calls["shop.go#Service.Run", "disk/x.go#Disk.Save"] == 0.8
    implemented = edges_of("ImplementedBy", files("Disk"), MODULES)
    assert implemented["shop.go#Store", "disk/x.go#Disk"] == 0.9


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("order *shop.Order", "order *Order"), ("id int", "id string"), ("(shop.Order, error)", "(*Disk, error)")],
)
def test_methods_with_other_types_do_not_satisfy(edges_of: EdgesOf, right: str, wrong: str) -> None:
    tree = files("Disk")
    tree["disk/x.go"] = tree["disk/x.go"].replace(right, wrong) + "\ntype Order struct{}\n"
    assert edges_of("ImplementedBy", tree, MODULES) == {}


def test_of_several_implementations_the_one_that_is_handed_over_is_meant(edges_of: EdgesOf) -> None:
    tree = files("Disk", "Memory")
    run = ("shop.go#Service.Run", "disk/x.go#Disk.Save")
    assert edges_of("Calls", tree, MODULES)[run] == 0.5
    main = 'package main\n\nimport (\n\t"example.com/shop"\n\t"example.com/shop/disk"\n)\n\n'
    tree["cmd/main.go"] = f"{main}func main() {{\n\tshop.NewService(&disk.Disk{{}})\n}}\n"
    assert edges_of("Calls", tree, MODULES)[run] == 0.9
    assert edges_of("Calls", tree, MODULES)["shop.go#Service.Run", "memory/x.go#Memory.Save"] == 0.5
    assert edges_of("BoundTo", tree, MODULES) == {("shop.go#Store", "disk/x.go#Disk"): 0.9}


def test_what_embeds_an_interface_does_not_implement_it_by_itself(edges_of: EdgesOf) -> None:
    tree = {"a.go": "package a\n\ntype I interface {\n\tRun()\n}\n\ntype W struct {\n\tI\n}\n"}
    assert ("a.go#I.Run", "a.go#I.Run") not in edges_of("ImplementedBy", tree)
    assert edges_of("ImplementedBy", tree) == {("a.go#I", "a.go#W"): 0.9}
