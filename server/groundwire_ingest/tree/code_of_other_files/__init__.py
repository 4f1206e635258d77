"""Files that are no code, as name resolution sees them: what they declare to code and what of code they name."""
