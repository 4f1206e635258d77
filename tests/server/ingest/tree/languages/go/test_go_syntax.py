from collections.abc import Callable

from groundwire_ingest.tree.code_facts import Binding, CodeAnalysis, Import
from groundwire_ingest.tree.languages.go.go_modules import GoModule, go_module

Analyser = Callable[[str, str], CodeAnalysis]

STORE = """\
package store

import (
	"fmt"
	al "example.com/shop/audit"
	. "example.com/shop/dot"
	_ "example.com/shop/side"
	"example.com/shop/money/v2"
)

// Store keeps.
type Store struct {
	Base
	*audit.Log
	repo *Repo
}

type (
	Reader interface {
		Read(p []byte) (int, error)
		io.Closer
	}
	ID = string
)

func New(a int, b, c string) *Store { return &Store{} }

// Run runs.
func (s *Store) Run(ctx context.Context) error {
	made := Made{}
	other := &al.Other{}
	var r *Repo
	s.repo.Find(`select 1`, "a\\n")
	al.Write(r)
	return nil
}

func (l List[T]) Len() int { return 0 }
"""


def test_chunks(analyse: Analyser) -> None:
    nodes = analyse("store/store.go", STORE).file.nodes
    assert [(node.symbol, node.start_line, node.end_line, node.signature) for node in nodes] == [
        ("", 1, 38, ""),
        ("Store", 11, 16, "type Store struct"),
        ("Reader", 18, 22, "Reader interface"),
        ("Reader.Read", 20, 20, "Read(p []byte) (int, error)"),
        ("ID", 23, 23, "ID = string"),
        ("New", 26, 26, "func New(a int, b, c string) *Store"),
        ("Store.Run", 28, 36, "func (s *Store) Run(ctx context.Context) error"),
        ("List.Len", 38, 38, "func (l List[T]) Len() int"),
    ]
    assert {(node.kind, node.language) for node in nodes} == {("go", "go")}
    assert nodes[1].text.endswith("repo *Repo\n}\nfunc (s *Store) Run(ctx context.Context) error { ... }")


def test_a_method_is_contained_in_its_type_when_the_file_has_it(analyse: Analyser) -> None:
    edges = {(edge.from_key, edge.to_key) for edge in analyse("s.go", STORE).file.edges}
    assert ("go::s.go#Store", "go::s.go#Store.Run") in edges
    assert ("go::s.go", "go::s.go#List.Len") in edges


def test_imports_embedding_calls_and_variables(analyse: Analyser) -> None:
    facts = analyse("s.go", STORE).facts
    assert facts is not None
    assert facts.imports == (
        Import("fmt", "", "fmt", 4),
        Import("example.com/shop/audit", "", "al", 5),
        Import("example.com/shop/dot", "*", "", 6),
        Import("example.com/shop/side", "", "", 7),
        Import("example.com/shop/money/v2", "", "money", 8),
    )
    index = {definition.symbol: number for number, definition in enumerate(facts.definitions)}
    assert facts.definitions[index["Store"]].bases == ("Base", "audit.Log")
    assert facts.definitions[index["Reader"]].bases == ("io.Closer",)
    assert facts.definitions[index["List.Len"]].owner == "List"
    run = index["Store.Run"]
    assert {(call.receiver, call.name, call.constructs) for call in facts.calls if call.scope == run} == {
        ("s.repo", "Find", False),
        ("al", "Write", False),
        ("", "Made", True),
        ("al", "Other", True),
    }
    assert {
        Binding(index["Store"], "repo", "Repo", True),
        Binding(index["Store"], "Log", "audit.Log", True),
        Binding(run, "s", "Store", True),
        Binding(run, "made", "Made", False),
        Binding(run, "other", "al.Other", False),
        Binding(run, "r", "Repo", True),
    } <= set(facts.bindings)


def test_literals(analyse: Analyser) -> None:
    texts = [literal.text for literal in analyse("s.go", STORE).literals]
    assert texts[-2:] == ["select 1", "a\n"]


def test_module_path_of_go_mod() -> None:
    assert go_module("a/go.mod", "// a comment\nmodule example.com/shop\n\ngo 1.22\n") == GoModule("example.com/shop")
    assert go_module("go.mod", 'module "example.com/shop" // ours\n') == GoModule("example.com/shop")
    assert go_module("go.mod", "go 1.22\n") is None
    assert go_module("go.mod", "module\n") is None
