"""YAML pipelines that drive a Groundwire server: load, validate, run."""

from groundwire_pipelines.errors import DefinitionError, PipelineError, Problem, RunCancelledError, StepError
from groundwire_pipelines.pipeline import Pipeline, PipelineResult

__all__ = [
    "DefinitionError",
    "Pipeline",
    "PipelineError",
    "PipelineResult",
    "Problem",
    "RunCancelledError",
    "StepError",
]
