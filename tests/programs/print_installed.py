"""Prints which of some modules are installed: `print_installed NAME...`."""

import importlib.util
import sys

print([name for name in sys.argv[1:] if importlib.util.find_spec(name)])
