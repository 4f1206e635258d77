"""An embedding service on loopback with a model of words, in both protocols, for `support.rerank_service`."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from groundwire_index.embedding.model_names import NO_EMBEDDER
from groundwire_ingest.build.vectors import embedded_text
from support.program import write_jsonl
from support.rerank_service import Asked, Reply, RerankService, as_json
from support.storage import Storage

DIMENSION = 64


def vector_of(text: str, salt: str = "", dimension: int = DIMENSION) -> list[float]:
    """The counts of a text's words, each at a place that follows from the word and from the model's `salt`."""
    vector = [0.0] * dimension
    for word in re.findall(r"[a-z]+", text.lower()) or ["none"]:
        vector[int.from_bytes(hashlib.sha256(f"{salt}{word}".encode()).digest()[:4]) % dimension] += 1.0
    return [component / math.hypot(*vector) for component in vector]


def embeds(request: Asked, salt: str = "") -> Reply:
    """The vectors of the texts; OpenAI's protocol gives them in reverse order, with their places."""
    dimension = request.body.get("dimensions", DIMENSION)
    if request.path.endswith("/embed"):
        return as_json([vector_of(text, salt, dimension) for text in request.body["inputs"]])
    numbered = [
        {"index": index, "embedding": vector_of(text, salt, dimension)}
        for index, text in enumerate(request.body["input"])
    ]
    return as_json({"object": "list", "data": numbered[::-1], "model": request.body["model"]})


@dataclass(frozen=True)
class VectorsFromService(Storage):
    """A data folder whose indexes get the vectors of a source from a service instead of the source."""

    service: RerankService | None = None
    vectors: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def run_ok(self, command: str, *arguments: str | Path, environment: Mapping[str, str] | None = None) -> str:
        """As `Storage.run_ok`; an index of records with vectors asks the service for them."""
        if command != "index":
            return super().run_ok(command, *arguments, environment=environment)
        source = Path(arguments[0])
        records = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
        nodes = [record for record in records if record["type"] == "node"]
        if "vector" not in nodes[0]:
            return super().run_ok(command, *arguments, environment=environment)
        assert self.service is not None
        self.service.answer = self._answer
        url = f"{self.service.url}/v1/embeddings#model={len(nodes[0]['vector'])}"
        for record in nodes:
            text = embedded_text(record.get("symbol", ""), record.get("context_prefix", ""), record["text"])
            vector = record.pop("vector")
            assert self.vectors.setdefault(text, vector) == vector
        stripped = write_jsonl(source.with_suffix(".stripped.jsonl"), records)
        given = (url if argument == NO_EMBEDDER else argument for argument in arguments[1:])
        return super().run_ok(command, stripped, *given, environment=environment)

    def _answer(self, request: Asked) -> Reply:
        """The vectors of texts; of any other one a vector of the length that the model's name says."""
        other = [1.0] * int(request.body["model"])
        vectors = [self.vectors.get(text, other) for text in request.body["input"]]
        return as_json({"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]})
