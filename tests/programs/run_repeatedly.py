"""Runs a command of pipelines several times, and prints a line after each: `run_repeatedly TIMES ARGUMENT...`."""

import sys

import typer

from groundwire_pipelines.cli import register

app = typer.Typer()
register(app)
for _ in range(int(sys.argv[1])):
    app(sys.argv[2:], standalone_mode=False)
    print("=====", flush=True)
