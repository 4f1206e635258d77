"""The rows behind the ids of one question, each looked up once however many stages ask for it."""

from collections.abc import Iterable

from groundwire_server.backends.embedded.sight import Sight


class KnownRows:
    """Rows by id for one snapshot. Not to be kept beyond it: ids are remembered, whether they exist or not."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._rows: dict[str, int | None] = {}

    def note(self, ids: Iterable[str], rows: Iterable[int]) -> None:
        """Remembers rows that the question is known to be about."""
        self._rows.update(zip(ids, rows, strict=True))

    def of(self, ids: Iterable[str]) -> dict[str, int]:
        """The rows of those ids that the question is about, in the order of the ids."""
        distinct = dict.fromkeys(ids)
        unknown = [id_ for id_ in distinct if id_ not in self._rows]
        found = self._sight.rows_of(unknown)
        self._rows.update((id_, found.get(id_)) for id_ in unknown)
        return {id_: row for id_ in distinct if (row := self._rows[id_]) is not None}
