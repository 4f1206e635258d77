"""YAML pipelines that drive a Groundwire server: load, validate, run."""

from groundwire_pipelines.errors import DefinitionError, PipelineError, Problem, RunCancelledError, StepError
from groundwire_pipelines.graph import EvidenceGraph
from groundwire_pipelines.pipeline import Pipeline, PipelineResult
from groundwire_pipelines.rendering.shown import EvidenceNode, ShownText

__all__ = [
    "DefinitionError",
    "EvidenceGraph",
    "EvidenceNode",
    "Pipeline",
    "PipelineError",
    "PipelineResult",
    "Problem",
    "RunCancelledError",
    "ShownText",
    "StepError",
]
