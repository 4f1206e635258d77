"""Reading code with tree-sitter: one module a language, and the reader that they share."""
