"""Interfaces that Go's types satisfy, and commands that a Go program starts of itself."""

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
COMMANDS = """\
package cmd

var scanCmd = &cobra.Command{
	Use:   "scan [path]",
	Short: "Scans",
	Run: func(cmd *cobra.Command, args []string) {
		use(args)
	},
}

var syncCmd = &cobra.Command{Use: "sync", RunE: runSync}

func runSync(cmd *cobra.Command, args []string) error {
	n := args
	return use(n)
}

func startScan() error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	return exec.Command(executable, "scan", "--full").Run()
}

func startSync(ctx context.Context) error {
	n := ctx
	return exec.CommandContext(n, os.Args[0], "sync").Run()
}

func startOther(tool string) error {
	n := tool
	return exec.Command(n, "scan").Run()
}
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


def test_a_program_that_starts_itself_leads_to_the_command(edges_of: EdgesOf) -> None:
    assert edges_of("Sends", {"cmd/commands.go": COMMANDS}) == {
        ("cmd/commands.go#startScan", "cmd/commands.go#scanCmd"): 0.8,
        ("cmd/commands.go#startSync", "cmd/commands.go#runSync"): 0.8,
    }
