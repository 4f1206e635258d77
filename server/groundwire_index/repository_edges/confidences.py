"""How sure an edge is that follows from names."""

EXACT = 1.0
"""The source says which definition is meant: it is in the same file or imported by name."""

WILDCARD = 0.9
"""The name comes from a wildcard import, the same namespace, a base type or a variable's stated type."""

INFERRED = 0.8
"""The receiver is a variable whose type is that of its initialiser."""

GUESSED = 0.5
"""Several overloads or implementations fit, or a method's name alone is unique among what the file imports."""

MAX_FAN_OUT = 3
"""What could refer to more definitions than this is taken to refer to none of them."""
