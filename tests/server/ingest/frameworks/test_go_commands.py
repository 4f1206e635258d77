"""Commands that a Go program starts of itself."""

from collections.abc import Callable, Mapping

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

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


def test_a_program_that_starts_itself_leads_to_the_command(edges_of: EdgesOf) -> None:
    assert edges_of("Sends", {"cmd/commands.go": COMMANDS}) == {
        ("cmd/commands.go#startScan", "cmd/commands.go#scanCmd"): 0.8,
        ("cmd/commands.go#startSync", "cmd/commands.go#runSync"): 0.8,
    }
