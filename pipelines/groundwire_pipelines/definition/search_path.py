"""Finds pipelines: by name in folders, by path, and by `extends`.

A pipeline is named in one of three ways: `name`, `file.yaml`, or `file.yaml#name` for one of several in a file. Folders
are searched in order, without their subfolders; the library that ships with the package is always the last.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from groundwire_configuration.located_values import Origin
from groundwire_pipelines.definition.pipeline_file import read_text
from groundwire_pipelines.definition.sources import FILE_SUFFIXES, PipelineSource, read_pipelines
from groundwire_pipelines.errors import DefinitionError, Problem
from groundwire_pipelines.wording import did_you_mean, listed

LIBRARY = Path(__file__).parent.parent / "library"
RUN = Origin("<run>", 1)
"""The origin of settings that the caller gave at run time."""

# Folders may hold other YAML, which need not be valid: only a file with such a line is read.
_ROOT_LINE = re.compile(r"""^["']?pipelines?["']?\s*:""", re.MULTILINE)


class PipelineSearch:
    """Finds pipelines on a search path; reads each file once."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """`folders` are searched in order, before the library.

        Raises:
            DefinitionError: One of them is no folder.
        """
        missing = [str(folder) for folder in folders if not folder.is_dir()]
        if missing:
            raise _refused(RUN, "path", f"there is no folder {listed(missing)}")
        self._folders = (*folders, LIBRARY)
        self._read: dict[Path, tuple[PipelineSource, ...]] = {}

    def find(self, reference: str) -> PipelineSource:
        """The pipeline that a caller names; paths are relative to the working directory.

        Raises:
            DefinitionError: There is none, there are several, or a file is wrong.
        """
        return self._resolve(reference, RUN, "pipeline", Path())

    def parent(self, child: PipelineSource, reference: str, place: Origin) -> PipelineSource:
        """The pipeline that `extends` names at `place`: of the same file, of the search path, or a path from that file.

        Raises:
            DefinitionError: There is none, there are several, or a file is wrong.
        """
        for sibling in self._pipelines(child.path):
            if sibling.name == reference:
                return sibling
        return self._resolve(reference, place, "extends", child.path.parent)

    def all(self) -> tuple[PipelineSource, ...]:
        """All pipelines of the folders and the library, in search order; of several with one name, the first.

        Raises:
            DefinitionError: A file is wrong.
        """
        pipeline_of_name: dict[str, PipelineSource] = {}
        for pipeline in (pipeline for folder in self._folders for pipeline in self._in_folder(folder)):
            pipeline_of_name.setdefault(pipeline.name, pipeline)
        return tuple(pipeline_of_name.values())

    def _resolve(self, reference: str, place: Origin, key: str, base: Path) -> PipelineSource:
        file, _, name = reference.partition("#")
        if file.endswith(FILE_SUFFIXES):
            return self._in_file(base / file, name, place, key)
        for folder in self._folders:
            candidates = [pipeline for pipeline in self._in_folder(folder) if pipeline.name == reference]
            if len(candidates) > 1:
                first, second = candidates[0].origin, candidates[1].origin
                message = f"the pipeline {reference!r} is defined twice in {folder}; first at {first}"
                raise _refused(second, "name", message)
            if candidates:
                return candidates[0]
        known = [pipeline.name for folder in self._folders for pipeline in self._in_folder(folder)]
        searched = ", ".join(map(str, self._folders))
        hint = did_you_mean(reference, known) or f"; known are {listed(dict.fromkeys(known))}"
        message = f"no pipeline {reference!r} in {searched}{hint}"
        raise _refused(place, key, message)

    def _in_file(self, path: Path, name: str, place: Origin, key: str) -> PipelineSource:
        if not path.is_file():
            raise _refused(place, key, f"there is no file {str(path)!r}")
        pipelines = self._pipelines(path)
        names = [pipeline.name for pipeline in pipelines]
        if name in names:
            return pipelines[names.index(name)]
        if name:
            raise _refused(place, key, f"no pipeline {name!r} in {path}{did_you_mean(name, names)}")
        if len(pipelines) == 1:
            return pipelines[0]
        raise _refused(place, key, f"{path} holds {listed(names)}; name one, such as {path.name}#{names[0]}")

    def _in_folder(self, folder: Path) -> tuple[PipelineSource, ...]:
        files = sorted(path for path in folder.iterdir() if path.name.endswith(FILE_SUFFIXES) and path.is_file())
        return tuple(
            pipeline for path in files if _ROOT_LINE.search(read_text(path)) for pipeline in self._pipelines(path)
        )

    def _pipelines(self, path: Path) -> tuple[PipelineSource, ...]:
        if path not in self._read:
            self._read[path] = read_pipelines(path)
        return self._read[path]


def _refused(place: Origin, key: str, message: str) -> DefinitionError:
    return DefinitionError((Problem(place.file, place.line, key, message),))
