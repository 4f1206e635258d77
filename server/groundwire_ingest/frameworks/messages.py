"""Messages: sent and handled under a name, `emit("user.created")`, and the base types of what handles them."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Topic
from groundwire_ingest.tree.languages.nodes import Nodes, given_in
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.names.conventions import NameConventions

_SENDS = re.compile(
    r"(?:emit|publish|send|dispatch|broadcast|trigger|produce|enqueue|fire|raise|notify|invoke)\w*", re.IGNORECASE
)
_HANDLES = re.compile(
    r"on|once|add_?listener|add_?event_?listener|subscribe\w*|consume\w*|listen\w*|handle\w*|process\w*"
    r"|on_?\w*event|\w*pattern|\w*message|\w*subscribe|\w*listener|\w*consumer|\w*handler",
    re.IGNORECASE,
)
# A specific name: of several words, however they are joined.
_TELLING = re.compile(r"(?!/)(?=.*(?:[.:_/-]|[a-z][A-Z]))[\w.:/{}-]{4,100}", re.ASCII)
# Placeholders in names, and calls that return the values under a name one after the other.
_HOLE = re.compile(r"\$?\{[^{}]*\}")
_ITERATES = re.compile(r"async_?(?:iterable_?)?iterator", re.IGNORECASE)
_DECORATOR = "decorator"


def topics(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Topic]:
    """The messages that calls send and handle, named by the string or constant that is their first argument.

    A decorator's handler is the definition it decorates. A call's handler is its last argument, or the definition
    around the call if that argument is a function written out.
    """
    for node, form, callee in syntax.called(nodes):
        if not form.arguments or form.constructs:
            continue
        is_decorator = node.parent is not None and node.parent.type == _DECORATOR
        handles = _HANDLES.fullmatch(callee[1]) is not None or _ITERATES.fullmatch(callee[1]) is not None
        if not handles and (is_decorator or not callee[0] or not _SENDS.fullmatch(callee[1])):
            continue
        listed = node.child_by_field_name(form.arguments)
        given = given_in(listed)
        if given:
            yield from _topic(syntax, node, callee[1], given, handles, is_decorator, places)


def _topic(
    syntax: Syntax, node: Node, called: str, given: list[Node], handles: bool, is_decorator: bool, places: Places
) -> Iterator[Topic]:
    is_string = given[0].type in syntax.strings
    name = _HOLE.sub("{}", string_value(syntax, given[0])) if is_string else ""
    path = "" if is_string else syntax.argument(given[0])
    if not (_TELLING.fullmatch(name) if is_string else "." in path or (is_decorator and path)):
        return
    is_handed = handles and not is_decorator and len(given) > 1
    if handles and not is_decorator and not is_handed and not _ITERATES.fullmatch(called):
        return
    handler = syntax.argument(given[-1]).strip('"') if is_handed else ""
    scope = places.scope(node)
    if is_handed and not handler:
        scope = places.scope(given[-1].child_by_field_name("body") or given[-1])
    yield Topic(places.key(node), scope, name, path, handles, handler, node.start_point.row + 1)


MESSAGES = Framework(
    finders=(topics,),
    # Of MediatR, MassTransit, NServiceBus, Rebus, Wolverine, Brighter, Darker, EasyNetQ and Spring, and the names that
    # code gives its own.
    names=NameConventions(
        handlers="""RequestHandler RequestHandlerAsync NotificationHandler StreamRequestHandler StreamQueryHandler
        StreamCommandHandler RequestExceptionHandler RequestPreProcessor RequestPostProcessor Consumer JobConsumer
        MessageConsumer ConsumeMessage Consume ConsumeAsync HandleMessages AmStartedByMessages HandleTimeouts
        HandleSagaNotFound InitiatedBy Orchestrates Observes MessageHandler CommandHandler CommandHandlerAsync
        QueryHandler QueryHandlerAsync EventHandler EventHandlerAsync DomainEventHandler IntegrationEventHandler
        DomainEventNotificationHandler DomainNotificationHandler Handle HandleEvent HandleCommand HandleQuery
        DistributedEventHandler LocalEventHandler ApplicationListener TransactionalApplicationListener"""
    ),
)
