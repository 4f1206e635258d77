"""The filter of a pipeline file: the setting `filter`, and the key `filter` of steps that call the server."""

from collections.abc import Mapping
from typing import Annotated, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from groundwire_client import NodeFilter, metadata_of, node_filter

_Texts: TypeAlias = tuple[Annotated[str, Field(min_length=1)], ...]
_Scalar: TypeAlias = str | int | float | bool | None


class FilterKeys(BaseModel):
    """A filter: values of one field are alternatives, all fields must hold, and an absent field restricts nothing."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    kinds: Annotated[_Texts, Field(description="Node kinds, such as cs.")] = ()
    data_types: Annotated[_Texts, Field(description="Data types, such as db_code.")] = ()
    corpus_types: Annotated[_Texts, Field(description="Corpus types, such as DOC_README.")] = ()
    languages: Annotated[_Texts, Field(description="Languages, such as csharp.")] = ()
    path_prefixes: Annotated[_Texts, Field(description="Prefixes of the path, such as src/Billing/.")] = ()
    collection_ids: Annotated[_Texts, Field(description="Collections.")] = ()
    document_ids: Annotated[_Texts, Field(description="Documents.")] = ()
    service_names: Annotated[_Texts, Field(description="Services, such as auth-service.")] = ()
    repo_names: Annotated[_Texts, Field(description="Repositories that nodes come from.")] = ()
    tenant_ids: Annotated[_Texts, Field(description="Tenants that nodes belong to.")] = ()
    case_ids: Annotated[_Texts, Field(description="Cases.")] = ()
    document_version_ids: Annotated[_Texts, Field(description="Versions of documents.")] = ()
    is_latest: Annotated[bool | None, Field(description="Only the latest versions of documents, or only others.")] = (
        None
    )
    is_test: Annotated[bool | None, Field(description="Only tests, or only other nodes.")] = None
    is_generated: Annotated[bool | None, Field(description="Only generated code, or only other nodes.")] = None
    metadata: Annotated[
        dict[str, _Scalar | tuple[_Scalar, ...]],
        Field(description="Values that the metadata of nodes must have: for each key one value, or alternatives."),
    ] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _by_field(cls, given: object) -> object:
        """Takes the names that `node_filter` takes: singular or plural, and any other name is one of the metadata."""
        if not isinstance(given, Mapping):
            return given
        try:
            meant = node_filter(cast("Mapping[str, object]", given))
        except TypeError as error:
            raise ValueError(str(error)) from error
        return {field.name: _value_of(meant, field.name) for field, _ in meant.ListFields()}

    def as_filter(self) -> NodeFilter:
        """The filter of a request."""
        return node_filter(self.model_dump())


def _value_of(narrowing: NodeFilter, name: str) -> object:
    """The value of a field as the strict model takes it."""
    if name == "metadata":
        return metadata_of(narrowing)
    value = getattr(narrowing, name)
    return value if isinstance(value, bool) else tuple(value)


FilterKey: TypeAlias = Annotated[
    FilterKeys | None,
    Field(description="Narrows the calls of this step, in addition to the filters of the pipeline and of the run."),
]
"""The key of a step; None for a step without it."""
