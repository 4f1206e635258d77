"""Publishes a built index in Milvus."""
