"""Indexes in Milvus: what building and serving share. Only `connection` knows pymilvus, and loads it on first use."""
