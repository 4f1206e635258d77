"""The converted models of a data folder: `<data>/.encoders/<fingerprint>/`, shared by all its indexes."""

import logging
import shutil
from collections.abc import Mapping
from pathlib import Path

from groundwire_index.embedding.int8.record import RECORD_FILE, EncoderDamagedError, EncoderRecord, read_record
from groundwire_index.files.durable_files import locked, make_durable

_LOG = logging.getLogger(__name__)
ENCODERS_FOLDER = ".encoders"
_LOCK_FILE = ".lock"
_WRITING, _REPLACED = ".writing", ".replaced"


class EncoderStore:
    """Converted models by fingerprint.

    A model is written to a temporary folder and moved to its place; it never changes after.
    """

    def __init__(self, data: Path) -> None:
        self._folder = data / ENCODERS_FOLDER

    def directory(self, fingerprint: str) -> Path:
        """Where a converted model lies, if it is there."""
        return self._folder / fingerprint

    def records(self) -> list[EncoderRecord]:
        """The models of the store, sorted by fingerprint.

        A model that cannot be read is left out, and the log names it.
        """
        if not self._folder.is_dir():
            return []
        records: list[EncoderRecord] = []
        for directory in sorted(path for path in self._folder.iterdir() if not path.name.startswith(".")):
            try:
                records.append(read_record(directory))
            except EncoderDamagedError as error:
                _LOG.error("a converted model cannot be read: %s", error)
        return records

    def put(self, record: EncoderRecord, files: Mapping[str, bytes]) -> None:
        """Keeps a converted model, on disk when this returns; it takes the place of a damaged copy of itself."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with locked(self._folder / _LOCK_FILE):
            building, replaced = self._folder / _WRITING, self._folder / _REPLACED
            for leftover in (building, replaced):
                shutil.rmtree(leftover, ignore_errors=True)
            building.mkdir()
            for name, content in {**files, RECORD_FILE: record.as_json()}.items():
                (building / name).write_bytes(content)
                make_durable(building / name)
            make_durable(building)
            target = self.directory(record.fingerprint)
            if target.is_dir():
                target.rename(replaced)
            building.rename(target)
            make_durable(self._folder)
            shutil.rmtree(replaced, ignore_errors=True)
