"""Shows the help of a command of `groundwire`, and then which of the names after it are loaded."""

import atexit
import sys

from groundwire_cli.program import main

command, *names = sys.argv[1:]
atexit.register(lambda: print(*sorted(set(names) & set(sys.modules))))
sys.argv = ["groundwire", command, "--help"]
main()
