"""`describe_index`: what the index has, for the prompt of a router."""

import asyncio
from collections.abc import Sequence

from groundwire_client import GetIndexResponse, IndexScope, is_of
from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.scope import pin, scopes_of, sending
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

_MOST_INDEXES = 20
"""Of more indexes nothing is kept: a prompt cannot name what so many have."""


async def run(settings: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Keeps the kinds, languages and folders of the indexes, and the modes that none of them has data for."""
    scopes = scopes_of(state)
    with sending():
        if isinstance(scopes, IndexScope):
            described = [await runtime.retrieval.get_index(scopes, access=state.retrieval_access)]
            pin(state, described[0].index.version)
        else:
            described = await _described(scopes, state, runtime)
    state.index_kinds = _all_of([list(index.kinds) for index in described])
    state.index_languages = _all_of([list(index.languages) for index in described])
    # They are offered as beginnings, and no list of all: an index without folders, or with too many, adds none.
    state.index_folders = sorted({folder for index in described for folder in index.folders})
    without_data = [set(_modes_without_data(index)) for index in described]
    state.modes_without_data = sorted(set.intersection(*without_data)) if without_data else []
    return Outcome(
        detail={
            "kinds": len(state.index_kinds),
            "languages": len(state.index_languages),
            "folders": len(state.index_folders),
        }
    )


async def _described(scopes: Sequence[IndexScope], state: PipelineState, runtime: Runtime) -> list[GetIndexResponse]:
    """The active indexes of several scopes; none if there are more than _MOST_INDEXES."""
    listed = await runtime.retrieval.list_indexes(access=state.retrieval_access)
    active = [
        scope
        for index in listed.indexes
        if index.active and is_of(scope := IndexScope(repository=index.repository, branch=index.branch), scopes)
    ]
    if len(active) > _MOST_INDEXES:
        return []
    return await asyncio.gather(
        *(runtime.retrieval.get_index(active_scope, access=state.retrieval_access) for active_scope in active)
    )


def _all_of(lists: Sequence[Sequence[str]]) -> list[str]:
    """The values of several lists; none if one list is empty, because its index has too many."""
    return sorted({value for values in lists for value in values}) if all(lists) else []


def _modes_without_data(described: GetIndexResponse) -> list[str]:
    by_meaning = () if described.index.dimension else ("semantic", "semantic_rerank")
    by_words = () if described.index.lexical else ("bm25", "hybrid")
    return [*by_meaning, *by_words]


ACTION = Action(
    name="describe_index",
    summary="Asks what kinds, languages, folders and search modes the indexes have, for the prompt of a router.",
    settings=StepSettings,
    run=run,
    data_of=lambda _: DataFlow(writes=("index_kinds", "index_languages", "index_folders", "modes_without_data")),
)
