"""The texts for testing that an int8 encoder agrees with its model.

They are typical queries and texts of an index of code and its documents: questions, names, lines of code, errors,
prose. Their lengths are from a word to a long query. They are the same for every index. A choice that depended on the
texts of one index would let hidden nodes change the scores of visible ones.
"""

import json
from pathlib import Path

TEXTS: tuple[str, ...] = tuple(json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")))
