"""The settings of a pipeline, checked once when the pipeline is loaded."""

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue
from pydantic_core import PydanticCustomError

from groundwire_client import Lifecycle, choices
from groundwire_pipelines.filter_keys import FilterKeys


def all_or_named(edge_types: tuple[str, ...]) -> tuple[str, ...]:
    """The edge types of a walk as given. Raises a validation error for `*`, which means all, beside others."""
    if "*" in edge_types and len(edge_types) > 1:
        raise PydanticCustomError("edge-types-contradict", "has '*', which means all, beside others: keep one of them")
    return edge_types


def _lower_case(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


_IN_ANY_CASE = BeforeValidator(_lower_case)
RetrievalMode: TypeAlias = Annotated[Literal["semantic", "semantic_rerank", "bm25", "hybrid"], _IN_ANY_CASE]


class PipelineSettings(BaseModel):
    """The settings with a predefined meaning; a pipeline may have any others for its steps to refer to.

    The validator reports absent ones that a step's action needs. Counts of tokens are in the unit of the shared token
    counter.
    """

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, use_attribute_docstrings=True)

    entry_step_id: Annotated[str, Field(min_length=1)]
    """The step that a run starts at."""
    repository: str = ""
    """The repository to search, or a pattern such as `team-*`; a run may name others."""
    branch: str = ""
    """The branch to search, or a pattern; a run may name others."""
    active_index: str = ""
    """The index version to search; empty for the active one, which is then pinned for the whole run."""
    filter: FilterKeys | None = None
    """Narrows every search, walk and fetch, in addition to the filters of the run and of its steps."""
    lifecycle: Annotated[Literal["active", "all", "deleted"], _IN_ANY_CASE] = "active"
    """The lifecycle of the nodes that searches, walks and fetches see; deleted ones need the server's permission."""
    top_k: Annotated[int | None, Field(ge=1)] = None
    """How many nodes a search returns, for steps that do not say."""
    retrieval_modes: tuple[RetrievalMode, ...] = ("semantic", "semantic_rerank", "bm25", "hybrid")
    """The modes that the server supports; a step of another mode fails."""
    max_context_tokens: int | None = None
    """The most tokens of evidence in an answer's prompt."""
    phrasings: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """The question of a run in the words of code: technical terms, and names that the code is likely to use."""
    graph_share: Annotated[float | None, Field(ge=0, le=1)] = None
    """The share of gathered evidence that is open to nodes which edges join to the best matches."""
    max_history_tokens: Annotated[int | None, Field(ge=1)] = None
    """The most tokens of conversation history in a prompt."""
    max_turn_loops: Annotated[int | None, Field(ge=0)] = None
    """The most follow-up retrievals for one question."""
    graph_max_depth: Annotated[int | None, Field(ge=0)] = None
    """The most edges between a seed and a node of a walk."""
    graph_max_nodes: Annotated[int | None, Field(ge=1)] = None
    """The most nodes of a walk, seeds included."""
    graph_edge_allowlist: Annotated[tuple[str, ...], AfterValidator(all_or_named)] | None = None
    """The edge types that a walk follows; exactly `["*"]` follows all."""
    graph_min_confidence: Annotated[float | None, Field(ge=0, le=1)] = None
    """The least confidence of an edge that a walk follows."""
    path_from: str = ""
    """Where paths begin, in words; empty if the question says it."""
    path_to: str = ""
    """Where paths end, in words; empty if the question says it."""
    max_hops: Annotated[int | None, Field(ge=1)] = None
    """The most edges on a path."""
    max_paths: Annotated[int | None, Field(ge=1)] = None
    """The most paths between the two ends of a question."""
    node_text_fetch_top_n: Annotated[int | None, Field(ge=1)] = None
    """The most texts to fetch, seeds and graph nodes together, the first ones in the order of the step's
    `prioritization_mode`. If absent, only the budget limits them."""
    history_summarization_policy: Literal["incremental_resummarize"] = "incremental_resummarize"
    """How a history over its budget is shortened."""
    max_steps: Annotated[int, Field(ge=1, le=10_000)] = 200
    """The most steps of one run; more are considered an endless loop."""
    deadline_seconds: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    """How long a whole run may take."""

    @property
    def wire_lifecycle(self) -> Lifecycle.ValueType:
        """`lifecycle` as an enum value of the contract."""
        return choices(Lifecycle)[self.lifecycle]

    @property
    def values(self) -> dict[str, JsonValue]:
        """All settings by name, also those without a predefined meaning, as plain values; None for absent ones."""
        return self.model_dump(mode="json")
