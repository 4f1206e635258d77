"""A Slack message's text as people read it: Slack writes mentions, channels and links as `<...>`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_MARKUP = re.compile(r"<([^<>|][^<>]*)>|&(amp|lt|gt);")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_SCHEME = re.compile(r"(?:mailto|tel):")


@dataclass(frozen=True, slots=True)
class SlackNames:
    """Names by Slack's ids. Only conversations that are known to be public have one; no text calls others by name."""

    users: Mapping[str, str]
    channels: Mapping[str, str]


def readable(text: str, names: SlackNames) -> str:
    """`text` with names for ids, `label (url)` for links and plain `<`, `>` and `&`.

    An id without a name stays, after its `@` or `#`.
    """

    def plain(match: re.Match[str]) -> str:
        markup, entity = match.groups()
        return _ENTITIES[entity] if entity else _resolved(markup, names)

    return _MARKUP.sub(plain, text)


def _resolved(markup: str, names: SlackNames) -> str:
    target, _, label = markup.partition("|")
    label = _unescaped(label)
    what, id_ = target[0], target[1:]
    if what == "@":
        return f"@{names.users.get(id_) or label or id_}"
    if what == "#":
        return f"#{names.channels.get(id_, id_)}"
    if what == "!":
        # <!here>, <!subteam^S012|@admins>, <!date^1392734382^{date}|Feb 18, 2014>
        return label or f"@{id_.removeprefix('subteam^')}"
    address = _SCHEME.sub("", _unescaped(target), count=1)
    return address if label in address else f"{label} ({address})"


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda match: _ENTITIES[match.group(1)], text)
