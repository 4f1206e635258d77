"""Commands whose options are declared in dataclasses that several commands share."""

import functools
import inspect
from collections.abc import Callable


def with_options(*groups: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a command of a function whose first parameters are dataclasses of options, by adding those to its own.

    typer reads options off a function's signature, so the command gets the signature that it would have if it listed
    all options itself.
    """
    shared = [inspect.signature(group).parameters for group in groups]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own_parameters = list(inspect.signature(command).parameters.values())[len(groups) :]

        @functools.wraps(command)
        def run(**values: object) -> None:
            made = [
                group(**{name: values.pop(name) for name in names}) for group, names in zip(groups, shared, strict=True)
            ]
            command(*made, **values)

        listed = (*own_parameters, *(parameter for names in shared for parameter in names.values()))
        merged = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in listed]
        vars(run)["__signature__"] = inspect.Signature(merged)
        return run

    return decorated
