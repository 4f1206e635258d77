"""The operator's mapping file of the access mode `jwt`: it maps the claims of a verified token to grants."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Self, cast

from pydantic import AfterValidator, Field, model_validator

from groundwire_configuration.yaml_model import StrictModel
from groundwire_index.limits import MAX_ACCESS_VALUE_LENGTH
from groundwire_server.domain.access.access import BOUNDS, Bounds
from groundwire_server.domain.access.grants import MAX_CLEARANCE_LEVEL, Grant, Scopes, split_scope
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.domain.errors import UnauthenticatedError
from groundwire_server.domain.limits import MAX_ACCESS_VALUES
from groundwire_server.rpc.identity.authenticator import refused

Claims = Mapping[str, object]


def _check_scope(pattern: str) -> str:
    split_scope(pattern)
    return pattern


Name = Annotated[str, Field(min_length=1, max_length=MAX_ACCESS_VALUE_LENGTH)]
ScopePattern = Annotated[str, AfterValidator(_check_scope)]
Level = Annotated[int, Field(ge=0, le=MAX_CLEARANCE_LEVEL)]
_ClaimPath = Annotated[list[Name], Field(min_length=1)]


class _Claim(StrictModel):
    """Where a claim is: its name, or the names of the objects around it and its own."""

    claim: Name | _ClaimPath

    def value(self, claims: Claims) -> object:
        """The claim's value; None when there is none."""
        value: object = claims
        for name in [self.claim] if isinstance(self.claim, str) else self.claim:
            if not isinstance(value, dict):
                return None
            value = cast("Claims", value).get(name)
        return value

    def wrong(self, wanted: str) -> UnauthenticatedError:
        """The error for a value of another type."""
        path = self.claim if isinstance(self.claim, str) else ".".join(self.claim)
        return refused("claims", f"the token's claim {path} must be {wanted}")


class _ListedClaim(_Claim):
    """A claim that is a string or a list of strings."""

    separator: Annotated[str, Field(min_length=1)] | None = None

    def texts(self, claims: Claims) -> list[str]:
        """The strings; none when there is no such claim. Raises UnauthenticatedError for anything else."""
        value = self.value(claims)
        if value is None:
            return []
        if isinstance(value, str):
            value = value.split(self.separator) if self.separator else [value]
        values = cast("list[object]", value) if isinstance(value, list) else None
        if values is None or len(values) > MAX_ACCESS_VALUES:
            raise self.wrong(f"a string or a list of at most {MAX_ACCESS_VALUES} strings")
        texts = [text for text in values if isinstance(text, str) and len(text) <= MAX_ACCESS_VALUE_LENGTH]
        if len(texts) < len(values):
            raise self.wrong(f"made of strings of at most {MAX_ACCESS_VALUE_LENGTH} characters")
        return [text for text in texts if text]


class _NamesFromClaim(_ListedClaim):
    values: dict[str, list[Name]] | None = None

    def granted(self, claims: Claims) -> Names:
        texts = self.texts(claims)
        if self.values is None:
            return Names(frozenset(texts))  # taken literally: a `*` in a token grants nothing
        return Names.parse(_chosen(self.values, texts))


class _ScopesFromClaim(_ListedClaim):
    values: dict[str, list[ScopePattern]] | None = None

    def granted(self, claims: Claims) -> Scopes:
        texts = self.texts(claims)
        if self.values is not None:
            return Scopes.parse(_chosen(self.values, texts))
        try:
            return Scopes(frozenset(map(split_scope, texts)))
        except ValueError:
            raise self.wrong("made of <repository>::<branch>") from None


class _LevelFromClaim(_Claim):
    values: dict[str, Level] | None = None

    def granted(self, claims: Claims) -> int:
        value = self.value(claims)
        if value is None:
            return 0
        if self.values is not None:
            if not isinstance(value, str):
                raise self.wrong("a string")
            return self.values.get(value, 0)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_CLEARANCE_LEVEL:
            raise self.wrong("a whole number of 0 or more")
        return value


class NamesRule(StrictModel):
    """Names that every token grants, and claims that grant more."""

    always: list[Name] = Field(default_factory=list)
    claims: list[_NamesFromClaim] = Field(default_factory=list)

    def granted(self, claims: Claims) -> Names:
        """The names. Raises UnauthenticatedError."""
        names = Names.parse(self.always)
        for rule in self.claims:
            names = names.united(rule.granted(claims))
        return names


class ScopesRule(StrictModel):
    """Scopes that every token grants, and claims that grant more."""

    always: list[ScopePattern] = Field(default_factory=list)
    claims: list[_ScopesFromClaim] = Field(default_factory=list)

    def granted(self, claims: Claims) -> Scopes:
        """The scopes. Raises UnauthenticatedError."""
        scopes = Scopes.parse(self.always)
        for rule in self.claims:
            scopes = scopes.united(rule.granted(claims))
        return scopes

    @model_validator(mode="after")
    def _check_any(self) -> Self:
        if not (self.always or self.claims):
            raise ValueError("must have `always` or `claims`; otherwise no caller may ask anything")
        return self


class LevelRule(StrictModel):
    """A level that every token grants, and a claim that may grant a higher one."""

    always: Level = 0
    claims: list[_LevelFromClaim] = Field(default_factory=list)

    def granted(self, claims: Claims) -> int:
        """The highest level. Raises UnauthenticatedError."""
        return max([self.always, *(rule.granted(claims) for rule in self.claims)])


class ClaimMapping(StrictModel):
    """The file. A claim that a token lacks grants nothing; a token with a claim of another type is refused.

    A rule for a bound, such as `collections`, binds if it is present, whatever it grants.
    """

    tenants: NamesRule = NamesRule()
    acl_tags: NamesRule = NamesRule()
    classification_labels: NamesRule = NamesRule()
    clearance_level: LevelRule = LevelRule()
    collections: NamesRule = NamesRule()
    cases: NamesRule = NamesRule()
    documents: NamesRule = NamesRule()
    workflows: NamesRule = NamesRule()
    document_versions: NamesRule = NamesRule()
    scopes: ScopesRule
    administration: ScopesRule | None = None

    def grant(self, claims: Claims) -> Grant:
        """The grant for a token with these claims. Raises UnauthenticatedError."""
        return Grant(
            tenants=self.tenants.granted(claims),
            acl_tags=self.acl_tags.granted(claims),
            classification_labels=self.classification_labels.granted(claims),
            clearance_level=self.clearance_level.granted(claims),
            scopes=self.scopes.granted(claims),
            administration=self.administration.granted(claims) if self.administration else Scopes(),
            bounds=Bounds(
                **{name: getattr(self, name).granted(claims) for name in BOUNDS if name in self.model_fields_set}
            ),
        )


def _chosen(values: Mapping[str, list[str]], texts: Iterable[str]) -> list[str]:
    return [name for text in texts for name in values.get(text, ())]
