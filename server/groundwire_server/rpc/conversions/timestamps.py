"""Points in time between protobuf and the standard library."""

from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from groundwire_server.domain.errors import Reason
from groundwire_server.domain.validation import Violations

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The range of google/protobuf/timestamp.proto: the years 1 to 9999, as in `datetime`.
_FIRST_SECOND = -62_135_596_800
_LAST_SECOND = 253_402_300_799
_LAST_NANO = 999_999_999


def decode_timestamp(timestamp: Timestamp, field: str, violations: Violations) -> datetime:
    """The time in UTC, cut to microseconds; one that breaks the rules of its message is noted in `violations`."""
    if not _FIRST_SECOND <= timestamp.seconds <= _LAST_SECOND:
        violations.add(
            field, Reason.VALUE_MALFORMED, f"has {timestamp.seconds} seconds; give {_FIRST_SECOND} to {_LAST_SECOND}"
        )
        return _EPOCH
    if not 0 <= timestamp.nanos <= _LAST_NANO:
        violations.add(field, Reason.VALUE_MALFORMED, f"has {timestamp.nanos} nanos; give 0 to {_LAST_NANO}")
        return _EPOCH
    return _EPOCH + timedelta(seconds=timestamp.seconds, microseconds=timestamp.nanos // 1000)


def encode_timestamp(moment: datetime) -> Timestamp:
    """The time as a message; one without a zone counts as UTC."""
    timestamp = Timestamp()
    timestamp.FromDatetime(moment)
    return timestamp
