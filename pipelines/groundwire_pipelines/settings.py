"""The settings of a pipeline, checked once when the pipeline is loaded."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from groundwire_client import Lifecycle, choices
from groundwire_pipelines.filter_keys import FilterKeys

RetrievalMode = Literal["semantic", "semantic_rerank", "bm25", "hybrid"]


class PipelineSettings(BaseModel):
    """The settings that have a meaning of their own, besides any others that a pipeline's steps refer to.

    Absent ones that a step's action needs are errors of the validator. Counts of tokens are in the unit of the shared
    token counter.
    """

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, use_attribute_docstrings=True)

    entry_step_id: Annotated[str, Field(min_length=1)]
    """The step that a run starts at."""
    repository: str = ""
    """The repository to ask; a run may name another."""
    branch: str = ""
    """The branch to ask; a run may name another."""
    active_index: str = ""
    """The index version to ask; empty for the active one, which is then pinned for the whole run."""
    filter: FilterKeys | None = None
    """Narrows every search, walk and fetch, besides what the run and its steps narrow."""
    lifecycle: Literal["active", "all", "deleted"] = "active"
    """Which nodes every search, walk and fetch is about; deleted ones need the server's leave."""
    top_k: Annotated[int | None, Field(ge=1)] = None
    """How many nodes a search returns, for steps that do not say."""
    retrieval_modes: tuple[RetrievalMode, ...] = ("semantic", "semantic_rerank", "bm25", "hybrid")
    """The modes that the server supports; a step of another mode fails."""
    max_context_tokens: int | None = None
    """The most tokens of evidence in an answer's prompt."""
    max_history_tokens: Annotated[int | None, Field(ge=1)] = None
    """The most tokens of conversation history in a prompt."""
    max_turn_loops: Annotated[int | None, Field(ge=0)] = None
    """The most follow-up retrievals for one question."""
    graph_max_depth: Annotated[int | None, Field(ge=0)] = None
    """How many edges an expansion may walk away from a seed."""
    graph_max_nodes: Annotated[int | None, Field(ge=1)] = None
    """The most nodes of an expansion, seeds included."""
    graph_edge_allowlist: tuple[str, ...] | None = None
    """The edge types an expansion follows; exactly `["*"]` follows all."""
    graph_min_confidence: Annotated[float | None, Field(ge=0, le=1)] = None
    """The least confidence of an edge that an expansion follows."""
    path_from: str = ""
    """Where paths begin, in words; empty where the question says it."""
    path_to: str = ""
    """Where paths end, in words; empty where the question says it."""
    max_hops: Annotated[int | None, Field(ge=1)] = None
    """The most edges on a path."""
    max_paths: Annotated[int | None, Field(ge=1)] = None
    """The most paths between the two ends of a question."""
    node_text_fetch_top_n: Annotated[int | None, Field(ge=1)] = None
    """The most nodes to choose, and the most texts to fetch, seeds as well as graph nodes; a fetch takes the first ones
    in the order of its `prioritization_mode`. Absent for no limit but the budget."""
    history_summarization_policy: Literal["incremental_resummarize"] = "incremental_resummarize"
    """How a history over its budget is shortened."""
    max_steps: Annotated[int, Field(ge=1, le=10_000)] = 200
    """The most steps of one run; more is taken for a loop without end."""
    deadline_seconds: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    """How long a whole run may take."""

    @property
    def wire_lifecycle(self) -> Lifecycle.ValueType:
        """`lifecycle` as the contract has it."""
        return choices(Lifecycle)[self.lifecycle]

    @property
    def values(self) -> dict[str, JsonValue]:
        """All settings by name, those of the pipeline's own included, as plain values; None for absent ones."""
        return self.model_dump(mode="json")
