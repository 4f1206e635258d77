"""SQL files: objects with exact texts and lines, and the references between them."""
