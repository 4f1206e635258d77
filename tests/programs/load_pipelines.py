"""Prints a pipeline of the library, and the errors of a file: `load_pipelines FILE`."""

import sys

from groundwire_pipelines.errors import DefinitionError
from groundwire_pipelines.loading import load_pipeline

print(load_pipeline("evidence"))
try:
    load_pipeline(sys.argv[1])
except DefinitionError as error:
    print(error)
