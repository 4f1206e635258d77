"""YAML pipelines that drive a Groundwire server: load and validate them, run them, and add actions of your own.

`OpenAIModel` needs the extra `models`; it is imported on first use.
"""

from typing import TYPE_CHECKING

from groundwire.evidence.counter import Counter
from groundwire_pipelines.action_definition import Action, DataFlow, KeyGroup, Outcome, Retry, StepSettings
from groundwire_pipelines.errors import DefinitionError, PipelineError, Problem, RunCancelledError, StepError
from groundwire_pipelines.evidence_graph import EvidenceGraph
from groundwire_pipelines.evidence_nodes import EvidenceNode, ShownText
from groundwire_pipelines.history.sqlite import SqliteHistory
from groundwire_pipelines.models.endpoint import ModelEndpoint
from groundwire_pipelines.pipeline import Pipeline, PipelineResult, RunOptions
from groundwire_pipelines.runtime import History, Model, ModelAnswer, Runtime, StoredHistory, Turn
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import PipelineState
from groundwire_pipelines.trace.events import RunEnded, RunStarted, StepEnded, StepStarted, TraceEvent, TraceSink

if TYPE_CHECKING:
    from groundwire_pipelines.models.openai_model import OpenAIModel

__all__ = [
    "Action",
    "Counter",
    "DataFlow",
    "DefinitionError",
    "EvidenceGraph",
    "EvidenceNode",
    "History",
    "KeyGroup",
    "Model",
    "ModelAnswer",
    "ModelEndpoint",
    "OpenAIModel",
    "Outcome",
    "Pipeline",
    "PipelineError",
    "PipelineResult",
    "PipelineSettings",
    "PipelineState",
    "Problem",
    "Retry",
    "RunCancelledError",
    "RunEnded",
    "RunOptions",
    "RunStarted",
    "Runtime",
    "ShownText",
    "SqliteHistory",
    "StepEnded",
    "StepError",
    "StepSettings",
    "StepStarted",
    "StoredHistory",
    "TraceEvent",
    "TraceSink",
    "Turn",
]


def __getattr__(name: str) -> object:
    if name != "OpenAIModel":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from groundwire_pipelines.models.openai_model import OpenAIModel
    except ModuleNotFoundError as error:
        raise ImportError("OpenAIModel needs more to be installed: groundwire[models]", name=error.name) from error
    return OpenAIModel
