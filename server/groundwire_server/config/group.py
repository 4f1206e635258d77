"""The common base of all groups of settings."""

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

# No setting may be called `host`, `port` or `service_*`: Kubernetes sets GROUNDWIRE_PORT, GROUNDWIRE_SERVICE_HOST
# and the like to values of its own in every pod near a service of the name `groundwire`.
_ENVIRONMENT_PREFIX = "GROUNDWIRE_"


class SettingsError(Exception):
    """Settings that cannot be used: one line for each, `setting: value: rule`."""


class SettingsGroup(BaseSettings):
    """Settings of one subject. Making some reads no environment and no file; `load_settings` does.

    A setting is an attribute: its name, type with bounds, default, and below it what it means. Rules over several
    settings are validators. Names of validators must differ between groups: `Settings` inherits from all of them.
    """

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=_ENVIRONMENT_PREFIX,
        env_ignore_empty=True,
        use_attribute_docstrings=True,
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what the constructor is given; `load_settings` puts the sources together."""
        return (init_settings,)
