"""Code that stands in pieces in another file, put together as a file of its own with every piece on its line."""


class VirtualText:
    """Collects pieces in the order of their lines, the first of which is 1."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._line = 1

    def put(self, line: int, text: str) -> None:
        """Adds a piece that starts on a line; behind what stands there already where earlier pieces reach so far."""
        self._pieces.append("\n" * (line - self._line) or " ")
        self._pieces.append(text)
        self._line = max(line, self._line) + text.count("\n")

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)
