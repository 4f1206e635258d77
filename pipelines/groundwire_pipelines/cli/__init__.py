"""The pipelines' commands of `groundwire`: `run`, `pipeline` and `history`."""

import typer

from groundwire_pipelines.cli.history import history_app
from groundwire_pipelines.cli.pipeline import pipeline_app
from groundwire_pipelines.cli.run import run

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    app.command()(run)
    app.add_typer(pipeline_app, name="pipeline")
    app.add_typer(history_app, name="history")
