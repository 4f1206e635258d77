"""The actions: validate, open a snapshot, compose. Knows no transport and no storage."""
