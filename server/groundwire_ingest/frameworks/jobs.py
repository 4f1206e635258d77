"""Jobs that run later, by their class: `SyncJob.perform_later(id)` in Ruby, `SendMail::dispatch($id)` in PHP."""

from collections.abc import Iterator

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Topic
from groundwire_ingest.tree.languages.nodes import Nodes, line_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_PERFORMS = frozenset(
    "perform_later perform_async perform_in perform_at perform_bulk perform_all_later perform_now perform_sync".split()
)
_DISPATCHES = frozenset("dispatch dispatchSync dispatchNow dispatchAfterResponse dispatchIf dispatchUnless".split())
_SENDING = {"ruby": _PERFORMS, "php": _DISPATCHES}
_HANDLING = {"ruby": "perform", "php": "handle"}
_OPTIONS = frozenset({"set()", "delay()"})


def jobs(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Topic]:
    """The jobs that code starts, and the methods that do them."""
    handling = _HANDLING[syntax.language]
    for index, definition in enumerate(places.definitions):
        owner = places.definitions[definition.parent] if definition.parent >= 0 else None
        if definition.name == handling and owner is not None and owner.construct == "type":
            # A job is known by the name of its class, alone and with the modules around it.
            for name in dict.fromkeys((owner.name, owner.symbol)):
                yield Topic(definition.key, index, "", f"{name}.{handling}", True, "", definition.line)
    for node, form, (receiver, name) in syntax.called(nodes):
        if not form.constructs and name in _SENDING[syntax.language]:
            path = [segment for segment in receiver.split(".") if segment not in _OPTIONS]
            written = ".".join(path)
            if written and written[0].isupper() and "()" not in written:
                path_of_job = f"{written}.{handling}"
                yield Topic(places.key(node), places.scope(node), "", path_of_job, False, "", line_of(node))


JOBS = Framework(languages="ruby php", finders=(jobs,))
