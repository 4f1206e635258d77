"""The calls that a mock of the indexes got because of what callers asked."""

from unittest.mock import Mock, call


def calls_of_callers(indexes: Mock) -> list[object]:
    """All calls but those by which the server looks, every few seconds, whether it can read its indexes."""
    return [made for made in indexes.mock_calls if made != call.check_readable()]
