"""The index that Milvus searches dense vectors with; an operator chooses it when a version is built.

FLAT compares every visible vector: it is exact, and hidden nodes change nothing. The others look at some vectors only,
and are made of those of all nodes, so hidden ones shape which visible ones are found.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

FLAT: Final = "FLAT"
HNSW: Final = "HNSW"
IVF_FLAT: Final = "IVF_FLAT"


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter by its name in Milvus: what it is unless given, and its bounds; of a search or of the build."""

    name: str
    default: int
    least: int
    most: int
    searches: bool = False


_PARAMETERS: Mapping[str, tuple[_Parameter, ...]] = MappingProxyType(
    {
        FLAT: (),
        HNSW: (
            _Parameter("M", 32, 2, 2_048),
            _Parameter("efConstruction", 360, 1, 32_768),
            _Parameter("ef", 400, 1, 32_768, searches=True),
        ),
        IVF_FLAT: (_Parameter("nlist", 1_024, 1, 65_536), _Parameter("nprobe", 64, 1, 65_536, searches=True)),
    }
)


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """The type of the index, as Milvus names it, and its parameters by name."""

    type: str = FLAT
    parameters: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def is_exact(self) -> bool:
        """True if no nearer vector is missed."""
        return self.type == FLAT

    @property
    def of_build(self) -> dict[str, int]:
        """The parameters that build the index."""
        return {
            parameter.name: self.parameters[parameter.name]
            for parameter in _PARAMETERS[self.type]
            if not parameter.searches
        }

    def of_search(self, limit: int) -> dict[str, int]:
        """The parameters of a search for this number of rows."""
        search_parameters = {
            parameter.name: self.parameters[parameter.name]
            for parameter in _PARAMETERS[self.type]
            if parameter.searches
        }
        # Milvus refuses an HNSW search that looks at fewer vectors than it gives.
        return (
            {**search_parameters, "ef": max(search_parameters["ef"], limit)} if self.type == HNSW else search_parameters
        )


EXACT: Final = DenseIndex()


def dense_index(text: str) -> DenseIndex:
    """An index by `TYPE` or `TYPE:NAME=NUMBER,...`, such as `HNSW:M=16,ef=200`. Raises ValueError with the rule."""
    kind, _, listed = text.partition(":")
    if kind not in _PARAMETERS:
        raise ValueError(f"{kind!r} must be one of {', '.join(_PARAMETERS)}")
    known = {parameter.name: parameter for parameter in _PARAMETERS[kind]}
    parameters = {name: parameter.default for name, parameter in known.items()}
    for assignment in listed.split(",") if listed else ():
        name, _, number = assignment.partition("=")
        if name not in known:
            allowed = f"has the parameters {', '.join(known)}" if known else "has no parameters"
            raise ValueError(f"{kind} {allowed}, not {name!r}")
        least, most = known[name].least, known[name].most
        if not (number.isascii() and number.isdecimal() and least <= int(number) <= most):
            raise ValueError(f"{name} of {kind} must be a whole number from {least} to {most:,}, not {number!r}")
        parameters[name] = int(number)
    return DenseIndex(kind, parameters)
