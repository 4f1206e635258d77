"""An embedding service on loopback with a model of words, in both protocols, for `support.rerank_service`."""

import hashlib
import math
import re

from support.rerank_service import Asked, Reply, as_json

DIMENSION = 64


def vector_of(text: str, salt: str = "", dimension: int = DIMENSION) -> list[float]:
    """The counts of a text's words, each at a place that follows from the word and from the model's `salt`."""
    vector = [0.0] * dimension
    for word in re.findall(r"[a-z]+", text.lower()) or ["none"]:
        vector[int.from_bytes(hashlib.sha256(f"{salt}{word}".encode()).digest()[:4]) % dimension] += 1.0
    return [component / math.hypot(*vector) for component in vector]


def embeds(asked: Asked, salt: str = "") -> Reply:
    """The vectors of the texts; OpenAI's protocol gives them in reverse order, with their places."""
    dimension = asked.body.get("dimensions", DIMENSION)
    if asked.path.endswith("/embed"):
        return as_json([vector_of(text, salt, dimension) for text in asked.body["inputs"]])
    numbered = [
        {"index": index, "embedding": vector_of(text, salt, dimension)}
        for index, text in enumerate(asked.body["input"])
    ]
    return as_json({"object": "list", "data": numbered[::-1], "model": asked.body["model"]})
