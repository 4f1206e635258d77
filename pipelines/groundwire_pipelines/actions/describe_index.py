"""`describe_index`: what the index has, for the prompt of a router."""

from groundwire_client import GetIndexResponse, IndexScope
from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.actions.scope import pin, scopes_of, sending
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


async def run(settings: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Keeps the kinds and languages of the index, and the modes that it has no data for.

    Of several indexes, none says alone what there is: then nothing is kept.
    """
    scope = scopes_of(state)
    if not isinstance(scope, IndexScope):
        return Outcome(detail={"kinds": 0, "languages": 0})
    with sending():
        told = await runtime.retrieval.get_index(scope, access=state.retrieval_access)
    pin(state, told.index.version)
    state.index_kinds, state.index_languages = list(told.kinds), list(told.languages)
    state.modes_without_data = _modes_without_data(told)
    return Outcome(detail={"kinds": len(told.kinds), "languages": len(told.languages)})


def _modes_without_data(told: GetIndexResponse) -> list[str]:
    by_meaning = () if told.index.dimension else ("semantic", "semantic_rerank")
    by_words = () if told.index.lexical else ("bm25", "hybrid")
    return [*by_meaning, *by_words]


ACTION = Action(
    name="describe_index",
    summary="Asks what kinds, languages and search modes the index has, for the prompt of a router.",
    settings=StepSettings,
    run=run,
    data_of=lambda _: DataFlow(writes=("index_kinds", "index_languages", "modes_without_data")),
)
