"""How options are made: with the short names of an enum of the contract as values, in a panel of the help."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import typer

from groundwire_client._helpers import choices

if TYPE_CHECKING:  # generic to type checkers alone
    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper as EnumTypeWrapper  # pyright: ignore[reportPrivateUsage]

_Value = TypeVar("_Value", bound=int)


class Named(TypedDict):
    """The arguments of `typer.Option` that keep an option to some names."""

    parser: Callable[[str], str]
    metavar: str


def names_of(enum: "EnumTypeWrapper[_Value]") -> Named:
    """Keeps an option to the short names of an enum, in any case."""
    names = list(choices(enum))

    def name(given: str) -> str:
        if given.lower() not in names:
            raise typer.BadParameter(f"{given!r} is not one of {', '.join(names)}")
        return given.lower()

    return Named(parser=name, metavar=f"[{'|'.join(names)}]")


def in_panel(title: str, *, show_default: bool | str = True) -> Callable[..., Any]:
    """`typer.Option` for the options of one panel of the help, which shows such a default for each."""
    return functools.partial(typer.Option, rich_help_panel=title, show_default=show_default)
