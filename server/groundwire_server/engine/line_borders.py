"""Where lines begin and end in a text that is too large to be copied."""

from groundwire_server.engine.linear_pattern import Span

LINE_FEED = b"\n"
_WINDOW_BYTES = 1 << 8
"""The size of the first copy in which a line feed is looked for; each next copy has twice the size."""


def line_start(content: memoryview, position: int, within: Span) -> int:
    """The beginning of the line around a position. A line feed belongs to the line that it ends."""
    end, size = position, _WINDOW_BYTES
    while end > within.start:
        start = max(within.start, end - size)
        place = bytes(content[start:end]).rfind(LINE_FEED)
        if place >= 0:
            return start + place + 1
        end, size = start, 2 * size
    return within.start


def line_end(content: memoryview, position: int, within: Span) -> int:
    """The place of the line feed that ends the line around a position."""
    start, size = position, _WINDOW_BYTES
    while start < within.end:
        end = min(within.end, start + size)
        place = bytes(content[start:end]).find(LINE_FEED)
        if place >= 0:
            return start + place
        start, size = end, 2 * size
    return within.end


def line_around(content: memoryview, position: int, within: Span) -> Span:
    """The line that a position is in, without its line feed."""
    return Span(line_start(content, position, within), line_end(content, position, within))
