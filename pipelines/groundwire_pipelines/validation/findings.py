"""What the checks of a pipeline found, each at its place."""

from groundwire_pipelines.definition.merging import PipelineDraft
from groundwire_pipelines.errors import Problem


class Findings:
    """The problems and warnings about one pipeline, in the order of the checks."""

    def __init__(self, draft: PipelineDraft) -> None:
        self._draft = draft
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def problem(self, key: str, message: str, at: str | None = None) -> None:
        """Something wrong under `key`; at the line of `at`, where that is another key."""
        self.problems.append(self._located(key, message, at or key))

    def warning(self, key: str, message: str) -> None:
        """Something odd that runs all the same."""
        self.warnings.append(self._located(key, message, key))

    def _located(self, key: str, message: str, at: str) -> Problem:
        """A key that no file has stands at the line of what should hold it."""
        while at and at not in self._draft.origins:
            at = at.rpartition(".")[0]
        place = self._draft.origins.get(at, self._draft.origin)
        return Problem(place.file, place.line, key, message)
