"""The parts of a SCIP symbol's name: https://github.com/sourcegraph/scip, message Symbol of its scip.proto."""

_METHOD_END, _TYPE_END, _TERM_END, _MACRO_END = ").", "#", ".", "!"
_MODULE_ENDS = ("/", "/__init__:")
_CONSTRUCTORS = ("`<constructor>`().", "__init__().", "`<init>`().", "`.ctor`().")

CONSTRUCTOR_NAMES = frozenset({"constructor", "__init__"})
"""The constructors that do not have the name of their type."""


def is_module(symbol: str) -> bool:
    """True if a symbol is a namespace, package or module, as opposed to something in one."""
    return symbol.endswith(_MODULE_ENDS)


def is_property(symbol: str) -> bool:
    """True if a symbol is a key of an object literal, which is also a name of its value."""
    return symbol.endswith(":") and not is_module(symbol)


def type_of_field(symbol: str) -> str:
    """The symbol of the type that a field belongs to; empty for what is no field."""
    name = plain_name(symbol)
    return symbol.removesuffix(f"{name}.") if name and symbol.endswith(f"#{name}.") else ""


def is_callable(symbol: str) -> bool:
    """True if a symbol is a function, a method, a macro or a type."""
    return symbol.endswith((_METHOD_END, _TYPE_END, _MACRO_END))


def is_type(symbol: str) -> bool:
    """True if a symbol is a class, an interface or another type."""
    return symbol.endswith(_TYPE_END)


def is_of_unnamed_package(symbol: str) -> bool:
    """True if a symbol belongs to a package without name and version, so that it is unique only in its own index."""
    return symbol.split(" ", 4)[2:4] == [".", "."]


def constructors(type_symbol: str) -> tuple[str, ...]:
    """The symbols that indexers give to the constructor of a type."""
    return tuple(type_symbol + name for name in _CONSTRUCTORS)


def plain_name(symbol: str) -> str:
    """The last name of a type, method, term or macro when it is an identifier; else empty."""
    if symbol.endswith(_METHOD_END):
        rest = symbol[: symbol.rfind("(")]
    elif symbol.endswith((_TYPE_END, _TERM_END, _MACRO_END)):
        rest = symbol[:-1]
    else:
        return ""
    if rest.endswith("`"):
        name = rest[rest.rfind("`", 0, -1) + 1 : -1]
        return name if name.isidentifier() else ""
    start = len(rest)
    while start and (rest[start - 1].isalnum() or rest[start - 1] in "_$+-"):
        start -= 1
    return rest[start:] if rest[start:].isidentifier() else ""
