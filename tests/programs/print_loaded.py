"""Imports the modules of the first argument, and prints the names of the second that are loaded then."""

import sys
from importlib import import_module

for module in sys.argv[1].split():
    import_module(module)
packages = {name.partition(".")[0] for name in sys.modules}
print(*sorted(name for name in sys.argv[2].split() if name in packages or name in sys.modules))
