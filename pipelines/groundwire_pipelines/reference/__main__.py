"""Prints the reference of pipelines."""

import sys

from groundwire_pipelines.reference.page import page

sys.stdout.write(page())
