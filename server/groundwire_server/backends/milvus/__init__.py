"""The Milvus backend: indexes that lie in the collections of a Milvus server."""
