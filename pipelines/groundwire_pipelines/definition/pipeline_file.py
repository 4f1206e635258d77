"""The files of pipelines as values with their lines; their problems name file, line and key."""

from pathlib import Path

from groundwire_configuration import yaml_document
from groundwire_configuration.located_values import Located
from groundwire_configuration.yaml_document import DocumentError
from groundwire_pipelines.errors import DefinitionError, Problem


def read_text(path: Path) -> str:
    """The text of a pipeline file.

    Raises:
        DefinitionError: It cannot be read, is larger than 1 MB, or is not UTF-8.
    """
    try:
        return yaml_document.read_text(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    except DocumentError as error:
        raise _refused(path, error) from error


def read_document(path: Path) -> Located:
    """The one YAML document of a file.

    Raises:
        DefinitionError: The file cannot be read, is empty or not YAML, or holds something that is refused; names all
            places of the latter, but only the first place that is not YAML.
    """
    try:
        document = yaml_document.read_document(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    except DocumentError as error:
        raise _refused(path, error) from error
    if document is None:
        raise DefinitionError((Problem(str(path), 1, "yaml", "the file is empty"),))
    return document


def _unreadable(path: Path, error: OSError) -> DefinitionError:
    return DefinitionError((Problem(str(path), 1, "file", f"cannot be read: {error.strerror}"),))


def _refused(path: Path, error: DocumentError) -> DefinitionError:
    return DefinitionError(
        tuple(Problem(str(path), problem.line, key_path(problem.keys), problem.message) for problem in error.problems)
    )


def key_path(keys: tuple[str, ...]) -> str:
    """The path of keys within the pipeline, as checks of the merged pipeline name it too, if the place is in one."""
    within = keys[{"pipeline": 1, "pipelines": 2}.get(keys[0], 0) :] if keys else ()
    return ".".join(within or keys) or "yaml"
