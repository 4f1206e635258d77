"""Interfaces that Go's types satisfy."""

from collections.abc import Callable, Mapping

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

STORE = """\
package shop

import "io"

type Store interface {
	Get(id string) (string, error)
	Put(id string) error
}

type FileStore struct{ path string }

func (f *FileStore) Get(id string) (string, error) {
	p := f.path
	return p, nil
}

func (f *FileStore) Put(id string) error {
	p := f.path
	return use(p)
}

type Remote struct{ io.Closer }

type Pipe struct{ Store }
"""


def test_a_type_leads_to_the_interfaces_that_it_satisfies(edges_of: EdgesOf) -> None:
    implements = edges_of("Implements", {"shop/store.go": STORE})
    assert implements["shop/store.go#FileStore", "shop/store.go#Store"] == 0.9
    assert ("shop/store.go#Remote", "shop/store.go#Store") not in implements


def test_a_type_that_the_code_says_to_satisfy_an_interface_does(edges_of: EdgesOf) -> None:
    stated = "\nvar _ Store = (*FileStore)(nil)\n\nvar (\n\t_ Store = &Remote{}\n\t_ Store = new(Pipe)\n)\n"
    files = {"shop/store.go": STORE + stated}
    implements, implemented_by = edges_of("Implements", files), edges_of("ImplementedBy", files)
    for name in ("FileStore", "Remote", "Pipe"):
        assert implements[f"shop/store.go#{name}", "shop/store.go#Store"] == 1.0
        assert implemented_by["shop/store.go#Store", f"shop/store.go#{name}"] == 1.0
    # A conversion calls nothing.
    assert ("shop/store.go", "shop/store.go#FileStore") not in edges_of("Calls", files)
