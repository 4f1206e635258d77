from collections.abc import Callable, Mapping

EdgesOf = Callable[..., dict[tuple[str, str], float]]

SHOP: Mapping[str, str] = {
    "cmd/main.go": (
        'package main\n\nimport (\n\t"fmt"\n\tst "example.com/shop/store"\n\t"example.com/shop/audit"\n)\n\n'
        "func main() {\n\ts := st.New()\n\tst.Open()\n\tt := &st.Store{}\n\tt.Run()\n\tfmt.Open()\n\ts.Settle()\n}\n"
    ),
    "store/store.go": (
        "package store\n\ntype Store struct {\n\tBase\n\trepo *Repo\n}\n\n"
        "func New() *Store { return &Store{} }\n\n"
        "func (s *Store) Run() {\n\ts.repo.Find()\n\ts.help()\n\ts.begin()\n\tOpen()\n}\n"
    ),
    "store/more.go": (
        "package store\n\ntype Repo struct{}\n\nfunc (r *Repo) Find() {}\n\nfunc (s *Store) help() {}\n\n"
        "type Base struct{}\n\nfunc (b Base) begin() {}\n\nfunc Open() {}\n\nfunc (s *Store) Settle() {}\n"
    ),
    "audit/audit.go": "package audit\n\nfunc Write() {}\n",
}
MODULES = {"": "example.com/shop"}


def test_calls(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", SHOP, MODULES) == {
        ("cmd/main.go#main", "store/store.go#New"): 1.0,
        ("cmd/main.go#main", "store/more.go#Open"): 1.0,
        ("cmd/main.go#main", "store/store.go#Store"): 1.0,
        ("cmd/main.go#main", "store/store.go#Store.Run"): 0.8,
        ("cmd/main.go#main", "store/more.go#Store.Settle"): 0.8,
        ("store/store.go#New", "store/store.go#Store"): 1.0,
        ("store/store.go#Store.Run", "store/more.go#Repo.Find"): 0.9,
        ("store/store.go#Store.Run", "store/more.go#Store.help"): 0.9,
        ("store/store.go#Store.Run", "store/more.go#Base.begin"): 0.9,
        ("store/store.go#Store.Run", "store/more.go#Open"): 1.0,
    }


def test_embedding_and_methods_of_other_files(edges_of: EdgesOf) -> None:
    assert edges_of("Inherits", SHOP, MODULES) == {("store/store.go#Store", "store/more.go#Base"): 1.0}
    assert edges_of("Contains", SHOP, MODULES) == {
        ("store/store.go#Store", "store/more.go#Store.help"): 1.0,
        ("store/store.go#Store", "store/more.go#Store.Settle"): 1.0,
    }


def test_an_import_leads_to_the_files_of_its_package_that_are_used(edges_of: EdgesOf) -> None:
    assert edges_of("Imports", SHOP, MODULES) == {
        ("cmd/main.go", "store/store.go"): 0.9,
        ("cmd/main.go", "store/more.go"): 0.9,
    }


def test_the_innermost_module_decides_what_a_path_means(edges_of: EdgesOf) -> None:
    files = {
        "main.go": 'package main\n\nimport "example.com/shop/tool/a"\n\nfunc main() { a.F() }\n',
        "tool/a/a.go": "package a\n\nfunc F() {}\n",
        "nested/a/a.go": "package a\n\nfunc F() {}\n",
    }
    calls = edges_of("Calls", files, {"": "example.com/shop", "nested": "example.com/shop/tool"})
    assert calls == {("main.go#main", "nested/a/a.go#F"): 1.0}


def test_without_a_module_no_import_path_is_the_trees(edges_of: EdgesOf) -> None:
    calls = edges_of("Calls", SHOP, {})
    assert {start for start, _ in calls} == {"store/store.go#Store.Run", "store/store.go#New"}
