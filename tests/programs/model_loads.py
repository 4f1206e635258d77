"""Prints whether the library of models is loaded, before and after it is asked for."""

import sys

import groundwire_pipelines

print("openai" in sys.modules)
_ = groundwire_pipelines.OpenAIModel
print("openai" in sys.modules)
