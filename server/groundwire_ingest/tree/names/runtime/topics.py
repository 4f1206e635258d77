"""Messages that are told by a name: who sends them and who handles them."""

from collections import defaultdict
from collections.abc import Iterator

from groundwire_ingest.tree.facts import Topic
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.rules import INFERRED
from groundwire_ingest.tree.names.table import Found
from groundwire_ingest.tree.names.uses import Uses

MAX_HANDLERS = 8
"""A message with more handlers than this leads to none of them in particular."""

Subject = tuple[int, str]
"""A message: the constant that tells it, -1 for none, and the rest of its name."""


class Topics:
    """The handlers of each name in one language family."""

    def __init__(self, lookup: Lookup, uses: Uses) -> None:
        self._uses = uses
        self._handlers: defaultdict[Subject, dict[int, None]] = defaultdict(dict)
        table = lookup.table
        for file, facts in enumerate(table.files):
            for topic in facts.topics if not facts.is_test else ():
                scope = table.module_of(file) + topic.scope
                subject = self._subject(scope, topic) if topic.handles else None
                if subject is not None:
                    self._handlers[subject].update(dict.fromkeys(handlers_of(uses, scope, topic)))

    def handlers(self, scope: int, topic: Topic) -> Iterator[tuple[int, float]]:
        """What handles a message that is sent in definition `scope`, with the confidence of each."""
        subject = self._subject(scope, topic) if not topic.handles else None
        found = self._handlers.get(subject, {}) if subject is not None else {}
        for number in found if len(found) <= MAX_HANDLERS else ():
            yield number, INFERRED

    def _subject(self, scope: int, topic: Topic) -> Subject | None:
        if topic.name:
            return -1, topic.name
        first, _, rest = topic.path.partition(".")
        found = self._uses.value(scope, first) if rest else None
        return (found.numbers[0], rest) if found is not None and len(found.numbers) == 1 else None


def handlers_of(uses: Uses, scope: int, topic: Topic) -> tuple[int, ...]:
    """The definitions that handle what a topic waits for."""
    found = uses.value(scope, topic.handler) if topic.handler else Found((scope,), 1.0)
    return found.numbers if found is not None else ()
