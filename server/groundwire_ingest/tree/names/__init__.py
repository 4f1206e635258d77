"""What a name in one file of a tree refers to in another: the rules that each language has for it."""
