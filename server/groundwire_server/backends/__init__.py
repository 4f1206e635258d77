"""The retrieval backends: one interface, and the implementations behind it."""
