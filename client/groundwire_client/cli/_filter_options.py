"""The options that say which nodes a call is about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from groundwire.v1.scope_pb2 import Lifecycle, NodeFilter
from groundwire_client._filters import FLAG_FIELDS, TEXT_FIELDS, check_unlike_fields, node_filter
from groundwire_client._helpers import choices
from groundwire_client.cli._choices import in_panel, names_of
from groundwire_client.cli._text import json_or_text

_narrowing = in_panel("Filter")


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """The options of a filter, and `--lifecycle`, as typer parses them."""

    kind: Annotated[list[str] | None, _narrowing(help="A node kind, such as cs; repeatable.")] = None
    data_type: Annotated[list[str] | None, _narrowing(help="A data type, such as db_code; repeatable.")] = None
    corpus_type: Annotated[
        list[str] | None, _narrowing("--corpus-type", "--corpus", help="A corpus type, such as DOC_README; repeatable.")
    ] = None
    language: Annotated[list[str] | None, _narrowing(help="A language, such as csharp; repeatable.")] = None
    path: Annotated[list[str] | None, _narrowing(help="A prefix of the path, such as src/; repeatable.")] = None
    service: Annotated[list[str] | None, _narrowing(help="A service, such as auth-service; repeatable.")] = None
    repo: Annotated[list[str] | None, _narrowing(help="A repository that nodes come from; repeatable.")] = None
    collection: Annotated[list[str] | None, _narrowing(help="A collection; repeatable.")] = None
    document: Annotated[list[str] | None, _narrowing(help="A document; repeatable.")] = None
    tests: Annotated[bool | None, _narrowing("--tests/--no-tests", help="Tests alone, or none.")] = None
    generated: Annotated[
        bool | None, _narrowing("--generated/--no-generated", help="Only generated code, or none.")
    ] = None
    pairs: Annotated[
        list[str] | None,
        _narrowing(
            "--filter",
            metavar="KEY=VALUE",
            help="case_id, is_latest, document_version_id, ... or any key of the nodes' metadata, whose value is JSON "
            'or plain text; repeatable. A key that resembles a field: metadata={"lang": "de"}.',
        ),
    ] = None
    given_lifecycle: Annotated[
        str | None,
        _narrowing(
            "--lifecycle",
            **names_of(Lifecycle),
            show_default="active",
            help="Deleted nodes as well, or alone, where the server lets you.",
        ),
    ] = None

    @property
    def lifecycle(self) -> Lifecycle.ValueType:
        """Which nodes a call is about."""
        return choices(Lifecycle)[self.given_lifecycle] if self.given_lifecycle else Lifecycle.LIFECYCLE_UNSPECIFIED

    @property
    def filter(self) -> NodeFilter:
        """The filter. Raises typer.BadParameter for a `--filter` that is none."""
        named = {
            "kinds": self.kind,
            "data_types": self.data_type,
            "corpus_types": self.corpus_type,
            "languages": self.language,
            "path_prefixes": [path.removeprefix("./") for path in self.path or ()],
            "service_names": self.service,
            "repo_names": self.repo,
            "collection_ids": self.collection,
            "document_ids": self.document,
        }
        flags = {"is_test": self.tests, "is_generated": self.generated}
        try:
            return _filter(
                {field: texts for field, texts in named.items() if texts},
                {field: flag for field, flag in flags.items() if flag is not None},
                self.pairs or (),
            )
        except (TypeError, ValueError) as error:
            raise typer.BadParameter(str(error), param_hint="--filter") from error


def _filter(named: Mapping[str, Sequence[str]], flags: Mapping[str, bool], pairs: Iterable[str]) -> NodeFilter:
    """All values of one field or key are alternatives, whichever options they came by."""
    fields: dict[str, list[str]] = {field: list(texts) for field, texts in named.items()}
    others: dict[str, list[object]] = {field: [flag] for field, flag in flags.items()}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise ValueError(f"{pair!r} is no KEY=VALUE")
        if name in TEXT_FIELDS:
            fields.setdefault(TEXT_FIELDS[name], []).append(value)
        else:
            parsed = json_or_text(value)
            others.setdefault(name, []).extend(parsed if isinstance(parsed, list) else [parsed])
    single = {name: values[0] if len(values) == 1 else values for name, values in others.items()}
    stated = {name: single.pop(name, None) for name in (*FLAG_FIELDS, "metadata")}
    for key, given in single.items():
        check_unlike_fields(key, given)
    return node_filter({**fields, **stated}, metadata=single)
