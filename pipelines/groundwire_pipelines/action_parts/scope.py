"""Shared by the retrieval actions: the scopes of their calls, and the index versions that they stay on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from groundwire_client import IndexScope, NodeFilter, Scopes
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.filter_keys import FilterKeys
from groundwire_pipelines.parsing.filters import merged
from groundwire_pipelines.state import PipelineState


def scopes_of(state: PipelineState) -> Scopes:
    """The run's scope, or several, with their pinned index versions once there are any.

    Raises:
        StepError: `repository-required`, `branch-required`.
    """
    if not state.repository:
        raise StepError("repository-required", "there is no repository: give the run or the pipeline's settings one")
    if not state.branch:
        raise StepError("branch-required", "there is no branch: give the run or the pipeline's settings one")
    if state.scopes:
        return state.scopes
    return IndexScope(repository=state.repository, branch=state.branch, active_index=state.active_index)


def pin(state: PipelineState, index: str, scopes: Sequence[IndexScope] = ()) -> None:
    """Pins the run to what answered its first call; see `PipelineState.pin`."""
    state.pin(index, scopes)


def narrowed(state: PipelineState, step: FilterKeys | None) -> NodeFilter:
    """The filter of a call: the run's and the step's. If they exclude each other, no node passes it."""
    return merged(state.retrieval_filter, step.as_filter() if step else NodeFilter())


@contextmanager
def sending() -> Iterator[None]:
    """A context around a call of the client.

    Raises:
        StepError: `request-unsendable`, if protobuf cannot encode an argument: half of a surrogate pair, or a number
            beyond 32 bits.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        raise StepError("request-unsendable", f"the request cannot be sent: {error}") from error
