"""Resolution of names between the files of a tree, by the rules of each language."""
