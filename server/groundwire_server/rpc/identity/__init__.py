"""Who the caller is, what its identity grants, and how a request narrows that."""
