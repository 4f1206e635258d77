"""What every part of an index is made of: files that are mapped and durable, segments, and columns of strings."""
