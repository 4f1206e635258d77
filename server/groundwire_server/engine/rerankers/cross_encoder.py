"""The cross-encoder that a server may rerank by; apart from the other rerankers because its libraries load slowly."""

from collections.abc import Sequence
from threading import Lock

from sentence_transformers import CrossEncoder
from torch.nn import Sigmoid

from groundwire_server.engine.rerankers.rerank import RerankCandidate
from groundwire_server.execution.call import Checkpoint


class CrossEncoderReranker:
    """A sentence-transformers cross-encoder that reads query and text together; scores lie in [0, 1]."""

    def __init__(self, model: str, widen_factor: int) -> None:
        """Loads a model by name or path. Raises OSError or ValueError when there is none that gives one score."""
        self.widen_factor = widen_factor
        # Models differ in whether they end in a sigmoid; stages that blend scores need them in [0, 1] from every model.
        self._model = CrossEncoder(model, device="cpu", activation_fn=Sigmoid())
        if self._model.num_labels != 1:
            raise ValueError(f"gives {self._model.num_labels} scores a pair; a reranker gives one")
        # A Hugging Face tokeniser must not be used by two threads at a time.
        self._lock = Lock()

    def scores(self, query: str, candidates: Sequence[RerankCandidate], checkpoint: Checkpoint) -> list[float]:
        """Stops between two candidates."""
        scores: list[float] = []
        with self._lock:
            for candidate in candidates:
                checkpoint()
                # One pair at a time: padding to the longest of a batch would change a score's last bits.
                scores.append(float(self._model.predict([(query, candidate.text)], show_progress_bar=False)[0]))
        return scores
